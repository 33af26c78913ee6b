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

    fileprivate subscript<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> JSONValue? {
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

private enum NetworkKind: String {
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
private enum Strength: String {
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

// MARK: Wi-Fi

private struct AccessPoints {
  private var known: [(id: String, bssid: String, ssid: String?)] = []
  private(set) var connections: [JSONValue] = []

  /// An access point for each BSSID. A station may not know the SSID.
  var nodes: [JSONValue] {
    known.map { point in
      .present([
        "id": .string(point.id), "kind": "wifi_ap", "network_type": "wifi", "role": "ap",
        "network_name": .string(point.bssid), "ssid": point.ssid.map { .string($0) }, "bssid": .string(point.bssid),
      ])
    }
  }

  /// Adds a station.
  /// - Returns: the further members of its node.
  mutating func add(_ id: String, _ node: NetworkTopology.Source) -> [JSONValue.Member] {
    var members = [JSONValue.Member("role", "station")]
    let ssid = Self.ssid(node)
    if let ssid { members.append(.init("ssid", .string(ssid))) }
    guard let octets = Hexadecimal.octets(node[WiFiNetworkDiagnostics.bssid]), !octets.isEmpty else { return members }
    let bssid = octets.joined(separator: ":")
    members.append(.init("bssid", .string(bssid)))
    let point = "ap_" + octets.joined()
    if let index = known.firstIndex(where: { $0.id == point }) {
      known[index].ssid = known[index].ssid ?? ssid
    } else {
      known.append((point, bssid, ssid))
    }
    let rssi: Int8? = node[WiFiNetworkDiagnostics.rssi]?.integer()
    let strength = JSONValue.string(Strength(rssi: rssi).rawValue)
    connections.append(
      .present([
        "source": .string(id), "target": .string(point), "network": "wifi", "strength": strength,
        "source_to_target": rssi.map { ["strength": strength, "rssi": .int($0)] },
      ]))
    return members
  }

  /// The name of the connected network, if it is printable.
  private static func ssid(_ node: NetworkTopology.Source) -> String? {
    let network = node[NetworkCommissioning.networks]?.array?.first { $0["1"] == true }
    guard let bytes = (network?["0"]?.text).flatMap({ Base64.decode($0) }), (1...32).contains(bytes.count),
      let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { return nil }
    return text
  }
}

private enum Hexadecimal {
  static func digits(_ value: some FixedWidthInteger, _ count: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// The octets of a base64 text.
  static func octets(_ value: JSONValue?) -> [String]? {
    (value?.text).flatMap { Base64.decode($0) }?.map { digits($0, 2) }
  }
}

// MARK: Thread

/// The Thread nodes of the home, and what their neighbor and route tables say about their connections.
private struct ThreadMesh {
  private struct Node {
    var id: String
    var network: UInt64?
    var neighbors: [JSONValue]
    var routes: [JSONValue]
  }

  /// A short address, which is unique within its network.
  private struct ShortAddress: Hashable {
    var network: UInt64?
    var rloc: UInt16
  }

  /// A direction of a connection, reported by its source.
  private struct Link {
    var strength: Strength
    var lqi: UInt8
    var rssi: Int8?
    var pathCost: UInt8?
    var isFromRoute = false

    var json: JSONValue {
      .present(["strength": .string(strength.rawValue), "lqi": .int(lqi), "rssi": rssi.map { .int($0) }])
    }
  }

  private struct Direction: Hashable {
    var source: String
    var target: String
  }

  private var nodes: [Node] = []
  private var addresses: [UInt64: String] = [:]
  private var shortAddresses: [ShortAddress: String] = [:]

  /// Adds a node.
  /// - Returns: the further members of its graph node.
  mutating func add(_ id: String, _ node: NetworkTopology.Source) -> [JSONValue.Member] {
    let network: UInt64? = node[ThreadNetworkDiagnostics.extendedPanId]?.integer()
    let rloc: UInt16? = node[ThreadNetworkDiagnostics.rloc16]?.integer()
    let address = Self.address(of: node)
    nodes.append(
      Node(
        id: id, network: network, neighbors: node[ThreadNetworkDiagnostics.neighborTable]?.array ?? [],
        routes: node[ThreadNetworkDiagnostics.routeTable]?.array ?? []))
    if let address { addresses[address] = id }
    if let rloc { shortAddresses[ShortAddress(network: network, rloc: rloc)] = id }
    let role: UInt8? = node[ThreadNetworkDiagnostics.routingRole]?.integer()
    let name = node[ThreadNetworkDiagnostics.networkName]?.text
    let members: JSONValue = .present([
      "role": role.flatMap { Self.roles[$0] }.map { .string($0) },
      "ext_address": address.map { .string(Hexadecimal.digits($0, 16)) }, "rloc16": rloc.map { .int($0) },
      "ext_pan_id": network.map { .string(Hexadecimal.digits($0, 16)) },
      "network_name": name.flatMap { $0.isEmpty ? nil : .string($0) },
    ])
    return members.members ?? []
  }

  private static let roles: [UInt8: String] = [
    1: "unassigned", 2: "sleepy_end_device", 3: "end_device", 4: "reed", 5: "router", 6: "leader",
  ]

  /// The extended address: the hardware address of the Thread interface, or of the only one.
  private static func address(of node: NetworkTopology.Source) -> UInt64? {
    if let address = address(node[ThreadNetworkDiagnostics.extAddress]) { return address }
    let interfaces = node[GeneralDiagnostics.networkInterfaces]?.array ?? []
    let interface = interfaces.first { $0["7"] == 4 } ?? interfaces.first
    return address(interface?["4"])
  }

  /// An address, a number in the tables and octets in interfaces; zero is none.
  private static func address(_ value: JSONValue?) -> UInt64? {
    var number: UInt64 = value?.integer() ?? 0
    if let octets = (value?.text).flatMap({ Base64.decode($0) }) {
      for octet in octets.suffix(8) { number = number << 8 | UInt64(octet) }
    }
    return number == 0 ? nil : number
  }

  /// Returns the neighbors that are not nodes of the fabric, and the connections, in a defined order.
  func links() -> (others: [JSONValue], connections: [JSONValue]) {
    var others: [UInt64: (isRouter: Bool, network: UInt64?)] = [:]
    for node in nodes {
      for neighbor in node.neighbors where id(neighbor["0"], neighbor["2"], node.network) == nil {
        guard let address = Self.address(neighbor["0"]) else { continue }
        let known = others[address]
        others[address] = (known?.isRouter == true || neighbor["10"] == true, known?.network ?? node.network)
      }
    }
    func find(_ address: JSONValue?, _ rloc: JSONValue?, _ node: Node) -> String? {
      let found =
        id(address, rloc, node.network)
        ?? Self.address(address).flatMap { others[$0] == nil ? nil : Self.id(other: $0) }
      return found == node.id ? nil : found
    }
    var links: [Direction: Link] = [:]
    for node in nodes {
      let routes = node.routes.filter { $0["9"] == true }
      for neighbor in node.neighbors {
        guard let target = find(neighbor["0"], neighbor["2"], node) else { continue }
        let direction = Direction(source: node.id, target: target)
        guard links[direction] == nil else { continue }
        let lqi = neighbor["5"]?.integer(as: UInt8.self) ?? 0
        let address = Self.address(neighbor["0"])
        let route = address == nil ? nil : routes.first { Self.address($0["0"]) == address }
        links[direction] = Link(
          strength: Strength(lqi: lqi), lqi: lqi, rssi: neighbor["6"]?.integer() ?? neighbor["7"]?.integer(),
          pathCost: route?["4"]?.integer())
      }
      for route in routes where route["8"] == true {
        guard let target = find(route["0"], route["1"], node) else { continue }
        let direction = Direction(source: node.id, target: target)
        guard links[direction] == nil else { continue }
        let lqi = Self.lqi(ofRoute: route)
        links[direction] = Link(
          strength: Strength(lqi: lqi), lqi: lqi, pathCost: route["4"]?.integer(), isFromRoute: true)
      }
    }
    return Self.graph(others, links)
  }

  private static func graph(
    _ others: [UInt64: (isRouter: Bool, network: UInt64?)], _ links: [Direction: Link]
  ) -> (others: [JSONValue], connections: [JSONValue]) {
    let pairs = Set(links.keys.map { Direction(source: min($0.source, $0.target), target: max($0.source, $0.target)) })
    var connections: [JSONValue] = []
    var linked: Set<String> = []
    for pair in pairs.sorted(by: { ($0.source, $0.target) < ($1.source, $1.target) }) {
      let (forth, back) = (links[pair], links[Direction(source: pair.target, target: pair.source)])
      // A connection without a live direction is a stale entry.
      guard let best = [forth, back].compactMap({ $0?.strength }).max(by: { $0.rank < $1.rank }), best != .none else {
        continue
      }
      linked.formUnion([pair.source, pair.target])
      connections.append(
        .present([
          "source": .string(pair.source), "target": .string(pair.target), "network": "thread",
          "strength": .string(best.rawValue), "source_to_target": forth?.json, "target_to_source": back?.json,
          "via_route_table": forth?.isFromRoute == true || back?.isFromRoute == true ? true : nil,
          "path_cost": (forth?.pathCost ?? back?.pathCost).map { .int($0) },
        ]))
    }
    let nodes = others.sorted { $0.key < $1.key }.filter { linked.contains(id(other: $0.key)) }.map { address, other in
      JSONValue.present([
        "id": .string(id(other: address)), "kind": "thread_unknown", "network_type": "thread",
        "role": other.isRouter ? "router" : nil, "ext_address": .string(Hexadecimal.digits(address, 16)),
        "ext_pan_id": other.network.map { .string(Hexadecimal.digits($0, 16)) },
      ])
    }
    return (nodes, connections)
  }

  /// The node of the fabric with an extended or else a short address.
  private func id(_ address: JSONValue?, _ rloc: JSONValue?, _ network: UInt64?) -> String? {
    if let found = Self.address(address).flatMap({ addresses[$0] }) { return found }
    guard let rloc = rloc?.integer(as: UInt16.self), rloc != 0 else { return nil }
    return shortAddresses[ShortAddress(network: network, rloc: rloc)]
  }

  private static func id(other address: UInt64) -> String { "unknown_" + Hexadecimal.digits(address, 16) }

  /// The mean LQI of both directions, or that of the known one.
  private static func lqi(ofRoute route: JSONValue) -> UInt8 {
    let known = [route["5"], route["6"]].compactMap { $0?.integer(as: UInt8.self) }.filter { $0 > 0 }
    guard let least = known.min(), let greatest = known.max() else { return 0 }
    // Rounded up, as in the published server.
    return least + (greatest - least + 1) / 2
  }
}
