internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Yams

// The key `battery`.
extension DefinitionReader {
  private static let batteryKeys = ["charge", "type", "cells", "lasts", "perUse", "chargesIn"]

  /// Reads a charge (`80%`), or a mapping with the properties of the battery.
  mutating func readBattery(_ node: Node) -> Battery? {
    if node.scalar != nil {
      return readPercentage(node, expected: "a charge such as 80%, or a mapping such as { charge: 80%, lasts: 2y }")
        .map { Battery(.cr2032, charge: $0) }
    }
    let before = problems.count
    guard let fields = fields(of: node, known: Self.batteryKeys, what: "a battery") else { return nil }
    let charge = fields["charge"].map { readPercentage($0, expected: "a charge from 0% to 100%") } ?? 100
    let cell = fields["type"].map { choice($0, Battery.Cell.all.map { ($0.name, $0) }) } ?? .cr2032
    let cells = number(fields["cells"], in: 1...16, expected: "a number of cells from 1 to 16")
    let lasts = fields["lasts"].flatMap { readPeriod($0) }
    let perUse = fields["perUse"].map { readPercentage($0, expected: "a charge from 0% to 100%") } ?? 0
    let chargesIn = fields["chargesIn"].flatMap { readPeriod($0) }
    if let node = fields["chargesIn"], let cell, !cell.isRechargeable {
      report(
        at: document.mark(of: node), found: "“chargesIn”",
        expected: "this key only beside “type: \(Battery.Cell.lithiumIon.name)”")
    }
    guard problems.count == before, let charge, let cell, let perUse else { return nil }
    return Battery(
      cell, quantity: UInt8(clamping: cells?.value ?? 1), charge: charge, lifetime: lasts, drainPerUse: perUse,
      chargingTime: chargesIn ?? .seconds(10_800))
  }

  mutating func readPercentage(_ node: Node, expected: String) -> Double? {
    let text = node.scalar?.string ?? ""
    guard text.hasSuffix("%"), let number = ScalarReading.real(String(text.dropLast())), (0...100).contains(number)
    else {
      report(node, expected: expected)
      return nil
    }
    return number
  }

  private mutating func readPeriod(_ node: Node) -> Duration? {
    let text = node.scalar?.string ?? ""
    let years = text.hasSuffix("y") ? ScalarReading.real(String(text.dropLast())) : nil
    // A year is the limit of a time, but not of a battery.
    let period =
      years.flatMap { (0.01...30).contains($0) ? .milliseconds(Int64(($0 * 365 * 86_400_000).rounded())) : nil }
      ?? TimeText.duration(text)
    guard let period, period >= .seconds(60) else {
      report(node, expected: "a time from 1m to 30y, such as 18h, 90d or 2y")
      return nil
    }
    return period
  }
}
