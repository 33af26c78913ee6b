import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing
import WebClient

@testable import Hub

/// The graph of `get_network_topology`.
@Suite("The network topology") struct NetworkTopologyTests {
  private func source(
    _ id: UInt64, isAvailable: Bool = true, isBridge: Bool = false, _ attributes: [String: JSONValue]
  ) -> NetworkTopology.Source {
    .init(id: id, isAvailable: isAvailable, isBridge: isBridge) { attributes[AttributeKey.text($0)] }
  }

  /// An entry of NeighborTable.
  private func neighbor(
    _ address: UInt64, rloc: UInt16 = 0, lqi: Int, rssi: JSONValue = .null, last: JSONValue = .null,
    isAwake: Bool = false
  ) -> JSONValue {
    [
      "0": .int(address), "1": 0, "2": .int(rloc), "5": .int(lqi), "6": rssi, "7": last, "10": .bool(isAwake),
    ]
  }

  /// An entry of RouteTable.
  private func route(
    _ address: UInt64, cost: Int, lqi: (Int, Int), isAllocated: Bool = true, isEstablished: Bool = true
  ) -> JSONValue {
    [
      "0": .int(address), "1": 0, "4": .int(cost), "5": .int(lqi.0), "6": .int(lqi.1), "8": .bool(isAllocated),
      "9": .bool(isEstablished),
    ]
  }

  private func thread(
    _ address: JSONValue, rloc: Int, role: Int, network: Int = 1, neighbors: [JSONValue] = [], routes: [JSONValue] = []
  ) -> [String: JSONValue] {
    [
      "0/49/65532": 2, "0/51/0": [["1": true, "4": address, "7": 4]], "0/53/1": .int(role), "0/53/2": "Home",
      "0/53/4": .int(network), "0/53/7": .array(neighbors), "0/53/8": .array(routes), "0/53/64": .int(rloc),
    ]
  }

  /// The base64 of an extended address with this last octet.
  private func octets(_ last: UInt8) -> JSONValue { .string(Base64.encode([0, 0, 0, 0, 0, 0, 0, last])) }

  @Test func connectsThreadNodes() throws {
    let leader = thread(
      octets(0xA1), rloc: 0x4000, role: 6,
      neighbors: [neighbor(0xA2, lqi: 3, rssi: -50), neighbor(0, rloc: 0x4001, lqi: 1, last: -80)],
      routes: [route(0xA2, cost: 1, lqi: (3, 2)), route(0xA4, cost: 2, lqi: (1, 2))])
    let router = thread(
      octets(0xA2), rloc: 0x8000, role: 5, neighbors: [neighbor(0xA1, lqi: 2), neighbor(0xA1, lqi: 0)])
    let child = thread(octets(0xA3), rloc: 0x4001, role: 2)
    let far = thread(octets(0xA4), rloc: 0xC000, role: 5)
    let topology = NetworkTopology([
      source(1, leader), source(2, isBridge: true, router), source(3, isAvailable: false, child), source(4, far),
    ])
    #expect(
      topology.nodes.first == [
        "id": "1", "kind": "matter", "network_type": "thread", "node_id": 1, "available": true, "role": "leader",
        "ext_address": "00000000000000A1", "rloc16": 0x4000, "ext_pan_id": "0000000000000001", "network_name": "Home",
      ])
    #expect(topology.nodes.map { $0["role"] } == ["leader", "router", "sleepy_end_device", "router"])
    #expect(topology.nodes.map { $0["available"] } == [true, true, false, true])
    #expect(topology.nodes.map { $0["is_bridge"] } == [nil, true, nil, nil])
    #expect(
      topology.connections == [
        [
          "source": "1", "target": "2", "network": "thread", "strength": "strong",
          "source_to_target": ["strength": "strong", "lqi": 3, "rssi": -50],
          "target_to_source": ["strength": "medium", "lqi": 2], "path_cost": 1,
        ],
        [
          "source": "1", "target": "3", "network": "thread", "strength": "weak",
          "source_to_target": ["strength": "weak", "lqi": 1, "rssi": -80],
        ],
        [
          "source": "1", "target": "4", "network": "thread", "strength": "medium",
          "source_to_target": ["strength": "medium", "lqi": 2], "via_route_table": true, "path_cost": 2,
        ],
      ])
  }

  @Test func listsNeighborsOfOtherFabrics() {
    let node = thread(
      octets(0xA1), rloc: 0x4000, role: 5,
      neighbors: [
        neighbor(0xFFFF_FFFF_FFFF_FFFF, lqi: 3, isAwake: true), neighbor(0xB1, lqi: 1), neighbor(0xB2, lqi: 0),
        neighbor(0xA1, lqi: 3),
      ],
      routes: [route(0xB2, cost: 1, lqi: (0, 0)), route(0xB3, cost: 1, lqi: (3, 3))])
    let topology = NetworkTopology([source(7, node)])
    // A stale neighbor is left out, and so is the target of a route that is no neighbor of any node.
    #expect(
      Array(topology.nodes.dropFirst()) == [
        [
          "id": "unknown_00000000000000B1", "kind": "thread_unknown", "network_type": "thread",
          "ext_address": "00000000000000B1", "ext_pan_id": "0000000000000001",
        ],
        [
          "id": "unknown_FFFFFFFFFFFFFFFF", "kind": "thread_unknown", "network_type": "thread", "role": "router",
          "ext_address": "FFFFFFFFFFFFFFFF", "ext_pan_id": "0000000000000001",
        ],
      ])
    #expect(topology.connections.map { $0["target"] } == ["unknown_00000000000000B1", "unknown_FFFFFFFFFFFFFFFF"])
  }

  /// A short address is unique in its network only.
  @Test func distinguishesNetworks() {
    let neighbors = [neighbor(0, rloc: 0x8000, lqi: 3)]
    let here = thread(octets(0xA1), rloc: 0x4000, role: 5, network: 1, neighbors: neighbors)
    let there = thread(octets(0xA2), rloc: 0x8000, role: 5, network: 2)
    #expect(NetworkTopology([source(1, here), source(2, there)]).connections.isEmpty)
    let same = thread(octets(0xA2), rloc: 0x8000, role: 5, network: 1)
    #expect(NetworkTopology([source(1, here), source(2, same)]).connections.count == 1)
  }

  @Test func connectsStationsWithAccessPoints() {
    func station(_ bssid: [UInt8], rssi: JSONValue, ssid: [UInt8]? = nil) -> [String: JSONValue] {
      [
        "0/49/65532": 1, "0/54/0": .string(Base64.encode(bssid)), "0/54/4": rssi,
        "0/49/1": .array(
          ssid.map {
            [
              ["0": .string(Base64.encode(Array("Old".utf8))), "1": false],
              ["0": .string(Base64.encode($0)), "1": true],
            ]
          }
            ?? []),
      ]
    }
    let bssid: [UInt8] = [0x0A, 0, 0, 0, 0, 0xFE]
    let topology = NetworkTopology([
      source(1, station(bssid, rssi: -60)), source(2, station(bssid, rssi: -75, ssid: Array("Den".utf8))),
      source(3, station(bssid, rssi: .null, ssid: [1, 2])), source(4, station([], rssi: -90)),
      source(5, station([1, 2, 3, 4, 5, 6], rssi: -85)),
    ])
    #expect(topology.nodes.count == 7)
    #expect(
      topology.nodes[1] == [
        "id": "2", "kind": "matter", "network_type": "wifi", "node_id": 2, "available": true, "role": "station",
        "ssid": "Den", "bssid": "0A:00:00:00:00:FE",
      ])
    #expect(
      topology.nodes[5] == [
        "id": "ap_0A00000000FE", "kind": "wifi_ap", "network_type": "wifi", "role": "ap",
        "network_name": "0A:00:00:00:00:FE", "ssid": "Den", "bssid": "0A:00:00:00:00:FE",
      ])
    #expect(
      topology.connections == [
        [
          "source": "1", "target": "ap_0A00000000FE", "network": "wifi", "strength": "strong",
          "source_to_target": ["strength": "strong", "rssi": -60],
        ],
        [
          "source": "2", "target": "ap_0A00000000FE", "network": "wifi", "strength": "medium",
          "source_to_target": ["strength": "medium", "rssi": -75],
        ],
        ["source": "3", "target": "ap_0A00000000FE", "network": "wifi", "strength": "unknown"],
        [
          "source": "5", "target": "ap_010203040506", "network": "wifi", "strength": "weak",
          "source_to_target": ["strength": "weak", "rssi": -85],
        ],
      ])
  }

  @Test(
    arguments: [
      (["0/49/65532": 7], "thread"), (["0/49/65532": 5], "wifi"), (["0/49/65532": 4, "0/53/65532": 0], "ethernet"),
      (["0/53/65532": 0], "thread"), (["0/54/65532": 0], "wifi"), (["0/55/65532": 0], "ethernet"),
      (["0/51/0": [["1": false, "7": 4], ["1": true, "7": 2]]], "ethernet"),
      (["0/51/0": [["1": true, "7": 3]]], "unknown"),
      (["0/49/65532": "x", "0/51/0": 3], "unknown"), ([:], "unknown"),
    ] as [([String: JSONValue], JSONValue)])
  func determinesKindOfNetwork(_ attributes: [String: JSONValue], kind: JSONValue) {
    #expect(NetworkTopology([source(1, attributes)]).nodes.map { $0["network_type"] } == [kind])
  }

  /// Values of devices and of imported dumps may have any form.
  @Test func ignoresMalformedTables() {
    for value in [
      JSONValue.null, 3, "x", [3], [["0": "?", "2": -1, "5": 300]], [[:]], [["0": [], "9": true, "8": true]],
    ] {
      var node = thread(octets(0xA1), rloc: 0x4000, role: 5)
      (node["0/53/7"], node["0/53/8"], node["0/51/0"]) = (value, value, value)
      let topology = NetworkTopology([source(1, node)])
      #expect(topology.nodes.count == 1 && topology.connections.isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(10))) func sendsChangesToClientsThatAsked() async throws {
    let served = try await ServedHome { $0.loopback = .init(host: "127.0.0.1", port: 0) }
    let url = try #require(try await served.webSocketURL)
    let (client, other) = (try await RawWebSocket(url), try await RawWebSocket(url))
    _ = await other.result("start_listening")
    #expect(await client.result("get_network_topology")?["result"]?["connections"] == [])
    try await served.make([
      .attribute(5, .init(.root, NetworkCommissioning.id, GlobalAttribute.featureMap), value: [0x04, 1]),
      .attribute(5, WiFiNetworkDiagnostics.bssid.path(on: .root), value: [0x10, 6, 1, 2, 3, 4, 5, 6]),
      .attribute(5, WiFiNetworkDiagnostics.rssi.path(on: .root), value: [0x00, 0xC4]),
    ])
    let event = try #require(await client.event("network_topology_updated"))
    #expect(event["collected_at"]?.integer(as: Int64.self) != nil)
    #expect(
      event["connections"] == [
        [
          "source": "5", "target": "ap_010203040506", "network": "wifi", "strength": "strong",
          "source_to_target": ["strength": "strong", "rssi": -60],
        ]
      ])
    // The lamp does not answer; the graph is that of the known values.
    let again = await client.result("get_network_topology", #"{"refresh":true}"#)
    #expect(again?["result"]?["nodes"] == event["nodes"])
    #expect(await client.result("get_network_topology", #"{"refresh":3}"#)?["error_code"] == 8)
    #expect(!other.messages.contains { $0["event"] == "network_topology_updated" })
    await served.close()
  }

  @Test(.timeLimit(.minutes(10))) func includesImportedNodes() async throws {
    let served = try await ServedHome { $0.loopback = .init(host: "127.0.0.1", port: 0) }
    let client = try await RawWebSocket(try #require(try await served.webSocketURL))
    let dump =
      #"{\"data\":{\"node\":{\"attributes\":{\"0/49/65532\":1,\"0/54/0\":\"AQIDBAUG\",\"0/54/4\":-90},\"available\":false}}}"#
    _ = await client.result("import_test_node", #"{"dump":"\#(dump)"}"#)
    let result = await client.result("get_network_topology")?["result"]
    #expect(result?["nodes"]?.array?.map { $0["kind"] } == ["matter", "matter", "wifi_ap"])
    #expect(result?["nodes"]?.array?.map { $0["available"] } == [true, false, nil])
    #expect(result?["connections"]?.array?.map { $0["strength"] } == ["weak"])
    await served.close()
  }
}
