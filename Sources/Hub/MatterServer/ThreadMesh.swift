internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import WebClient

/// The Thread nodes of the home, and what their neighbor and route tables say about their connections.
struct ThreadMesh {
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
      "ext_address": address.map { .string($0.hexadecimal(16)) }, "rloc16": rloc.map { .int($0) },
      "ext_pan_id": network.map { .string($0.hexadecimal(16)) },
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
        "role": other.isRouter ? "router" : nil, "ext_address": .string(address.hexadecimal(16)),
        "ext_pan_id": other.network.map { .string($0.hexadecimal(16)) },
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

  private static func id(other address: UInt64) -> String { "unknown_" + address.hexadecimal(16) }

  /// The mean LQI of both directions, or that of the known one.
  private static func lqi(ofRoute route: JSONValue) -> UInt8 {
    let known = [route["5"], route["6"]].compactMap { $0?.integer(as: UInt8.self) }.filter { $0 > 0 }
    guard let least = known.min(), let greatest = known.max() else { return 0 }
    // Rounded up, as in the published server.
    return least + (greatest - least + 1) / 2
  }
}
