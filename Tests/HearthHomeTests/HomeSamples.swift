import HearthHome
import HomeModel
import MatterCrypto
import MatterModel
import MatterProtocol

enum HomeSamples {
  /// Changes that make a home with one lamp.
  static func lamp(_ node: UInt64, device: String? = nil) -> [HomeChange] {
    var identity = DeviceIdentity()
    identity.vendorID = 0xFFF1
    identity.productID = 0x8000
    identity.vendorName = "Hearth"
    identity.serialNumber = ""
    identity.uniqueID = "lamp-\(node)"
    let source = SourceID(NodeID(node))
    let id = device ?? source.description
    return [
      .structureAdded(Structure(id: "home", name: "Home")),
      .deviceAdded(id: id, name: "Lamp \(node)", roomID: nil, structureID: "home"), .sourceAdded(source, device: id),
      .topology(
        source,
        [
          DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28], parts: [1]),
          DeviceEndpoint(id: 1, deviceTypes: [0x101], servers: [3, 6, 8, 0x1D], clients: [0xFFF1_FC00]),
        ], identity),
      .connectivity(source, SourceStatus(SourceConnectivity(.online, .peer))),
    ]
  }
}

/// Generates random changes of all kinds to a few ids, so that they interact.
struct ChangeGenerator {
  mutating func next(_ random: inout SeededRandomSource) -> [HomeChange] {
    let count = Int.random(in: 1...6, using: &random)
    return (0..<count).map { _ in change(&random) }
  }

  private func change(_ random: inout SeededRandomSource) -> HomeChange {
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    let name = ["Küche", "Bad 🛁", "", "x", String(repeating: "n", count: 60)][number(5)]
    let room = "r\(number(4))"
    let structure = "s\(number(3))"
    let device = "d\(number(6))"
    // Sources of a node share no endpoints, because a shared endpoint would belong to the last source that reported it.
    let node: NodeID = [1, 2, 0xFFFF_FFEF_FFFF_FFFF][number(3)]
    let bridged = EndpointID(UInt16([0, 3, 4][number(3)]))
    let source = SourceID(node, bridged)
    switch number(25) {
    case 24: return .primaryStructureChosen(id: structure)
    case 0: return .structureAdded(Structure(id: structure, name: name))
    case 1: return .structureRenamed(id: structure, name: name)
    case 2:
      return number(3) > 0 ? .structureAdded(Structure(id: structure, name: name)) : .structureRemoved(id: structure)
    case 3, 4: return .roomAdded(Room(id: room, name: name, structureID: structure))
    case 5: return .roomRenamed(id: room, name: name)
    case 6: return .roomRemoved(id: room)
    case 7, 8: return .deviceAdded(id: device, name: name, roomID: number(2) == 0 ? nil : room, structureID: structure)
    case 9: return .deviceRemoved(id: device)
    case 10: return .deviceRenamed(id: device, name: name)
    case 11: return .deviceMoved(id: device, roomID: number(2) == 0 ? nil : room)
    case 12, 13: return .sourceAdded(source, device: device)
    case 14: return .sourceRemoved(source)
    case 15, 16:
      let own = bridged == .root ? [EndpointID.root, 1, 2] : [bridged, EndpointID(bridged.rawValue + 10)]
      var identity = DeviceIdentity()
      identity.vendorID = number(2) == 0 ? nil : 0xFFF1
      identity.productID = number(2) == 0 ? nil : 0
      identity.nodeLabel = number(2) == 0 ? nil : name
      identity.uniqueID = number(2) == 0 ? nil : "u"
      identity.softwareVersion = number(2) == 0 ? nil : ""
      return .topology(
        source,
        own.prefix(number(3)).map {
          DeviceEndpoint(
            id: $0, deviceTypes: [0x100], servers: [6, 0xFFF1_FC00], clients: number(2) == 0 ? [] : [8],
            parts: number(2) == 0 ? [] : [1, 65535])
        }, identity)
    case 17:
      return .connectivity(
        source,
        SourceStatus(
          SourceConnectivity(
            ConnectivityState.allCases[number(4)], DataSourceLocality.allCases[number(5)]),
          reason: number(2) == 0 ? nil : OfflineReason.allCases[number(6)]))
    case 18:
      let times: [EventTimestamp] = [.epoch(.max), .system(0), .deltaEpoch(5), .deltaSystem(128)]
      return .event(
        node,
        EventData(
          .init(EndpointID(UInt16(number(3))), 0x3B, EventID(UInt32(number(7)))), number: .max,
          priority: [.debug, .info, .critical][number(3)], timestamp: times[number(4)],
          payload: number(2) == 0 ? nil : [0x15, 0x18]))
    default:
      let path = ConcreteAttributePath(
        EndpointID(UInt16(number(3))), ClusterID([6, 8, 0xFFF1_FC00][number(3)]),
        AttributeID([0, 1, 0xFFFD][number(3)]))
      let length = [0, 1, 200][number(3)]
      return .attribute(
        node, path, value: number(4) == 0 ? nil : (0..<length).map { _ in UInt8(number(256)) })
    }
  }
}
