internal import Foundation
internal import HomeModel
internal import MatterProtocol

/// A change as columns of the log. Each change is restored from its row unmodified; a removal also stores the name of
/// the removed object. Attributes, the most frequent changes, are stored as their TLV; all others as JSON.
struct ChangeRow: Hashable {
  /// The codes in the file; they must not be reused.
  enum Kind: Int, CaseIterable {
    case structureAdded = 1
    case structureRenamed = 2
    case structureRemoved = 3
    case roomAdded = 4
    case roomRenamed = 5
    case roomRemoved = 6
    case deviceAdded = 7
    case deviceRemoved = 8
    case deviceRenamed = 9
    case deviceMoved = 10
    case sourceAdded = 11
    case sourceRemoved = 12
    case topology = 13
    case connectivity = 14
    case attribute = 15
    case event = 16
    case primaryStructure = 17

    /// The table of the removed object; nil for other changes.
    var removedFrom: String? {
      switch self {
      case .structureRemoved: "structure"
      case .roomRemoved: "room"
      case .deviceRemoved: "device"
      default: nil
      }
    }
  }

  var kind: Kind
  /// The id of the affected device, structure or room.
  var subject: String?
  var node: NodeID?
  var endpoint: EndpointID?
  var cluster: ClusterID?
  /// The id of the attribute or event.
  var element: UInt32?
  var value: [UInt8]?
  /// The last name of the removed object.
  var name: String?

  init(_ kind: Kind, subject: String?) { (self.kind, self.subject) = (kind, subject) }

  /// - Parameter device: the device that a change of a source or node belongs to, if the change does not name it.
  init(_ change: HomeChange, device: String?) throws {
    switch change {
    case .structureAdded(let structure): self.init(.structureAdded, subject: structure.id)
    case .structureRenamed(let id, _): self.init(.structureRenamed, subject: id)
    case .structureRemoved(let id): self.init(.structureRemoved, subject: id)
    case .primaryStructureChosen(let id): self.init(.primaryStructure, subject: id)
    case .roomAdded(let room): self.init(.roomAdded, subject: room.id)
    case .roomRenamed(let id, _): self.init(.roomRenamed, subject: id)
    case .roomRemoved(let id): self.init(.roomRemoved, subject: id)
    case .deviceAdded(let id, _, _, _): self.init(.deviceAdded, subject: id)
    case .deviceRemoved(let id): self.init(.deviceRemoved, subject: id)
    case .deviceRenamed(let id, _): self.init(.deviceRenamed, subject: id)
    case .deviceMoved(let id, _): self.init(.deviceMoved, subject: id)
    case .sourceAdded(_, let device): self.init(.sourceAdded, subject: device)
    case .sourceRemoved: self.init(.sourceRemoved, subject: device)
    case .topology: self.init(.topology, subject: device)
    case .connectivity: self.init(.connectivity, subject: device)
    case .attribute(_, let path, let value):
      self.init(.attribute, subject: device)
      (cluster, element) = (path.cluster, path.attribute.rawValue)
      self.value = value
    case .event(_, let data):
      self.init(.event, subject: device)
      (cluster, element) = (data.path.cluster, data.path.event.rawValue)
    }
    (node, endpoint) = (change.source?.node, change.source?.endpoint)
    if kind != .attribute { value = [UInt8](try Self.encoder.encode(change)) }
  }

  private static let encoder = JSONEncoder()
  private static let decoder = JSONDecoder()

  func change() throws -> HomeChange {
    guard kind == .attribute else { return try Self.decoder.decode(HomeChange.self, from: Data(value ?? [])) }
    guard let node, let endpoint, let cluster, let element else { throw DamagedBlob() }
    return .attribute(node, .init(endpoint, cluster, AttributeID(element)), value: value)
  }
}
