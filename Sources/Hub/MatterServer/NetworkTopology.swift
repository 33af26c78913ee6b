internal import HomeModel
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import WebClient

/// The graph of `get_network_topology`: the Thread mesh, and the Wi-Fi stations with their access points, as the nodes report
/// them. Devices in a neighbor table that are not nodes of the fabric are part of it; Ethernet nodes have no connections.
struct NetworkTopology: Hashable {
  /// A node and its attributes in the form of the standard API.
  struct Source {
    var id: UInt64
    var isAvailable: Bool
    var isBridge: Bool
    /// Returns an attribute that the client may read.
    var attribute: (ConcreteAttributePath) -> JSONValue?

    subscript<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> JSONValue? {
      self.attribute(attribute.path(on: .root))
    }
  }

  /// The nodes: those of the fabric, then other Thread devices and access points.
  private(set) var nodes: [JSONValue] = []
  private(set) var connections: [JSONValue] = []

  func object(at time: Int64) -> JSONValue {
    ["collected_at": .int(time), "nodes": .array(nodes), "connections": .array(connections)]
  }

  init(_ sources: [Source]) {
    var (mesh, accessPoints) = (ThreadMesh(), AccessPoints())
    for source in sources {
      let id = String(source.id)
      let kind = NetworkKind(source)
      var details: [JSONValue.Member] = []
      switch kind {
      case .thread: details = mesh.add(id, source)
      case .wifi: details = accessPoints.add(id, source)
      case .ethernet, .unknown: break
      }
      var members: [JSONValue.Member] = [
        .init("id", .string(id)), .init("kind", "matter"), .init("network_type", .string(kind.rawValue)),
        .init("node_id", .int(source.id)), .init("available", .bool(source.isAvailable)),
      ]
      if source.isBridge { members.append(.init("is_bridge", true)) }
      nodes.append(.object(members + details))
    }
    let (others, links) = mesh.links()
    nodes += others + accessPoints.nodes
    connections = links + accessPoints.connections
  }

  /// The clusters whose attributes the graph is made of.
  static let clusters: Set = [
    NetworkCommissioning.id, GeneralDiagnostics.id, ThreadNetworkDiagnostics.id, WiFiNetworkDiagnostics.id,
  ]

  /// The attributes that `refresh` reads from a node: the changing ones; nil: none.
  static func refreshed(_ source: Source) -> [ConcreteAttributePath]? {
    switch NetworkKind(source) {
    case .thread:
      [
        ThreadNetworkDiagnostics.neighborTable.path(on: .root), ThreadNetworkDiagnostics.routeTable.path(on: .root),
        ThreadNetworkDiagnostics.rloc16.path(on: .root), ThreadNetworkDiagnostics.routingRole.path(on: .root),
        ThreadNetworkDiagnostics.networkName.path(on: .root), ThreadNetworkDiagnostics.extendedPanId.path(on: .root),
        GeneralDiagnostics.networkInterfaces.path(on: .root),
      ]
    case .wifi:
      [
        WiFiNetworkDiagnostics.bssid.path(on: .root), WiFiNetworkDiagnostics.rssi.path(on: .root),
        NetworkCommissioning.networks.path(on: .root),
      ]
    case .ethernet, .unknown: nil
    }
  }
}

enum NetworkKind: String {
  case thread, wifi, ethernet, unknown

  /// The first of these that the node supports. A node without Network Commissioning has the kind of its diagnostics, or
  /// of its first operational interface.
  init(_ node: NetworkTopology.Source) {
    func feature(_ path: ConcreteAttributePath) -> UInt32? { node.attribute(path)?.integer() }
    let features = feature(.init(.root, NetworkCommissioning.id, GlobalAttribute.featureMap)) ?? 0
    func has(_ cluster: ClusterID) -> Bool { feature(.init(.root, cluster, GlobalAttribute.featureMap)) != nil }
    let interfaces = node[GeneralDiagnostics.networkInterfaces]?.array ?? []
    switch interfaces.first(where: { $0["1"] == true })?["7"]?.integer(as: UInt8.self) {
    case _ where features & NetworkCommissioning.threadNetworkInterface.mask != 0: self = .thread
    case _ where features & NetworkCommissioning.wiFiNetworkInterface.mask != 0: self = .wifi
    case _ where features & NetworkCommissioning.ethernetNetworkInterface.mask != 0: self = .ethernet
    case _ where has(ThreadNetworkDiagnostics.id): self = .thread
    case _ where has(WiFiNetworkDiagnostics.id): self = .wifi
    case _ where has(EthernetNetworkDiagnostics.id): self = .ethernet
    case 1: self = .wifi
    case 2: self = .ethernet
    case 4: self = .thread
    default: self = .unknown
    }
  }
}

/// The quality of a connection, as the published server classifies it.
enum Strength: String {
  case unknown, none, weak, medium, strong

  private static let order: [Strength] = [.unknown, .none, .weak, .medium, .strong]
  var rank: Int { Self.order.firstIndex(of: self) ?? 0 }

  /// The strength for the LQI that OpenThread reports, 0 to 3.
  init(lqi: UInt8) {
    switch lqi {
    case 0: self = .none
    case 1: self = .weak
    case 2: self = .medium
    default: self = .strong
    }
  }

  init(rssi: Int8?) {
    switch rssi {
    case nil: self = .unknown
    case let rssi? where rssi > -70: self = .strong
    case let rssi? where rssi > -85: self = .medium
    default: self = .weak
    }
  }
}
