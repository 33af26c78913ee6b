internal import Foundation
internal import HearthHome
internal import MatterModel
internal import MatterProtocol
internal import Simulation
internal import VirtualDevices
internal import Yams

// Parses network faults, `net: {lamp: partition}` or `net: {lamp: {loss: 30%, rate: 2kB/s}}`, and clock drift,
// `drift: {lamp: 50ppm}`.
extension ScenarioReader {
  private static let faults: [String: NetworkFault] = [
    "partition": .partition, "mute": .mute, "deaf": .deaf, "heal": .heal, "no multicast": .multicast(false),
    "multicast": .multicast(true), "no ipv4": .family(.v4, isOn: false), "ipv4": .family(.v4, isOn: true),
    "no ipv6": .family(.v6, isOn: false), "ipv6": .family(.v6, isOn: true),
  ]

  mutating func fault(_ node: Node) -> NetworkFault? {
    if let word = node.scalar?.string {
      if let fault = Self.faults[word] { return fault }
      report(
        at: document.mark(of: node), found: node.summary,
        expected: "\(Self.faults.keys.sorted().joined(separator: ", ")), or {loss: 30%, latency: 80ms}",
        suggestions: NearestName.suggestions(for: word, in: Self.faults.keys.sorted()))
      return nil
    }
    guard
      let fields = fields(
        of: node, known: ["network", "loss", "latency", "jitter", "duplicate", "reorder", "hold", "rate", "mtu"],
        what: "a network fault")
    else { return nil }
    if node.mapping?.isEmpty == true {
      report(node, expected: "a mapping such as {loss: 30%, latency: 80ms}, or a word such as “partition”")
    }
    if let node = fields["network"] {
      if fields.count > 1 { report(node, expected: "“network” with nothing beside it") }
      guard let name = node.scalar?.string, !name.isEmpty else {
        report(node, expected: "the name of a network, such as “iot”")
        return nil
      }
      return .place(name)
    }
    var conditions = LinkConditions()
    if let node = fields["loss"] { conditions.loss = ratio(node) ?? .never }
    if let node = fields["duplicate"] { conditions.duplication = ratio(node) ?? .never }
    if let node = fields["reorder"] { conditions.reordering = ratio(node) ?? .never }
    if let node = fields["latency"] { conditions.latency = delay(node) ?? .zero }
    if let node = fields["jitter"] { conditions.jitter = delay(node) ?? .zero }
    if let node = fields["hold"] {
      if fields["reorder"] == nil { report(node, expected: "“hold” only beside “reorder”") }
      conditions.holding = delay(node) ?? .zero
    }
    if let node = fields["rate"] { conditions.bytesPerSecond = rate(node) ?? 0 }
    if let node = fields["mtu"] { conditions.maximumDatagramSize = maximumDatagramSize(node) ?? 0 }
    return .conditions(conditions)
  }

  /// Parses the delay of a datagram, which needs a unit: `80ms`.
  private mutating func delay(_ node: Node) -> Duration? {
    if let expected = TimeText.missingUnit(node.scalar?.string ?? "") {
      report(node, expected: expected)
      return nil
    }
    return duration(node)
  }

  /// Parses a percentage such as 30% or 0.5% without floating point.
  private mutating func ratio(_ node: Node) -> Ratio? {
    if let ratio = Ratio(percent: node.scalar?.string ?? "") { return ratio }
    report(node, expected: "a share from 0% to 100%")
    return nil
  }

  /// Parses bytes per second, such as 500B/s, 20kB/s or 1MB/s.
  private mutating func rate(_ node: Node) -> Int? {
    let text = node.scalar?.string ?? ""
    for (unit, bytes) in [("kB/s", 1000), ("MB/s", 1_000_000), ("B/s", 1)] where text.hasSuffix(unit) {
      guard let number = Int(text.dropLast(unit.count)), (1...1_000_000).contains(number) else { break }
      return number * bytes
    }
    report(node, expected: "a rate such as 500B/s, 20kB/s or 1MB/s")
    return nil
  }

  /// Returns the payload size of a UDP datagram in an IPv6 packet of the given size in bytes.
  private mutating func maximumDatagramSize(_ node: Node) -> Int? {
    let headers = 40 + 8
    guard let size = node.scalar.flatMap({ Int($0.string) }), (headers + 1...65_535).contains(size) else {
      report(node, expected: "the size of an IP packet in bytes, from \(headers + 1) to 65535; usually 1280")
      return nil
    }
    return size - headers
  }

  /// Parses the drift of a clock in parts per million; negative: slow.
  mutating func drift(_ node: Node) -> Int64? {
    let text = node.scalar?.string ?? ""
    guard text.hasSuffix("ppm"), let drift = Int64(text.dropLast(3)), (-500_000...500_000).contains(drift) else {
      report(node, expected: "how fast the clock is, such as 50ppm, or -200ppm for a slow one")
      return nil
    }
    return drift
  }
}
