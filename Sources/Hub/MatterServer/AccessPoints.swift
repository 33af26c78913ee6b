internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import WebClient

/// The access points of the Wi-Fi stations, and their connections.
struct AccessPoints {
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
    let address = node[WiFiNetworkDiagnostics.bssid]?.text.flatMap { Base64.decode($0) } ?? []
    guard !address.isEmpty else { return members }
    let bssid = address.map { $0.hexadecimal(2) }.joined(separator: ":")
    members.append(.init("bssid", .string(bssid)))
    let point = "ap_" + address.hexadecimal
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
