import CBench
import Foundation

/// One row of the table.
struct Row {
  /// The target of a figure.
  struct Target {
    var text: String
    var isMet: Bool
  }

  var name: String
  /// The median in nanoseconds; nil for a rate or an amount of memory.
  var median: Double?
  /// The 99th percentile in nanoseconds, if each repetition was timed separately.
  var p99: Double?
  /// A rate per second.
  var rate: Double?
  /// An amount of memory in bytes.
  var bytes: Double?
  /// The number of allocations per repetition.
  var allocations: Double?
  /// The ratio to the baseline that was measured in turns with it.
  var ratio: Double?
  var target: Target?
}

/// The results of all measurements.
struct Report {
  private(set) var rows: [Row] = []
  /// The failed measurements with their errors.
  var failures: [String] = []
  /// Explanations below the table.
  var notes: [String] = []

  mutating func add(_ row: Row) { rows.append(row) }

  mutating func add(
    _ name: String, _ measured: Measured, ratio: Double? = nil, target: Row.Target? = nil
  ) {
    add(
      Row(
        name: name, median: measured.median, p99: measured.p99, allocations: measured.allocations, ratio: ratio,
        target: target))
  }

  func table(_ sizes: DatagramSizes) -> String {
    let head = ["", "median", "p99", "allocations", "to the floor", "target"]
    let lines = rows.map(Self.cells)
    let widths = head.indices.map { column in ([head] + lines).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      let padded = cells.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 || column == cells.count - 1 ? cell + space : space + cell
      }
      let text = padded.joined(separator: "  ")
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
    var result = [
      "An on/off invoke is a datagram of \(sizes.request) bytes, its response one of \(sizes.response), "
        + "the acknowledgment one of \(sizes.acknowledgment).", "",
    ]
    result += [line(head), line(widths.map { String(repeating: "-", count: $0) })] + lines.map(line)
    result += notes.flatMap { ["", $0] }
    result += failures.map { "not measured: \($0)" }
    return result.joined(separator: "\n")
  }

  private static func cells(_ row: Row) -> [String] {
    let figure =
      row.rate.map { ($0 < 100 ? number($0) : Int($0.rounded()).formatted()) + "/s" } ?? row.bytes.map(size)
      ?? row.median.map(time)
    let ratio = row.ratio.map { number($0, 2) + " x" }
    let target = row.target.map { $0.text + ($0.isMet ? ": met" : ": MISSED") }
    let count = row.allocations.map { number($0) }
    return [row.name, figure ?? "", row.p99.map(time) ?? "", count ?? "", ratio ?? "", target ?? ""]
  }

  var json: String {
    let rows: [[String: Any]] = rows.map { row in
      var object: [String: Any] = ["name": row.name]
      object["medianNanoseconds"] = row.median
      object["p99Nanoseconds"] = row.p99
      object["perSecond"] = row.rate
      object["bytes"] = row.bytes
      object["allocations"] = row.allocations
      object["ratioToFloor"] = row.ratio
      if let target = row.target { object["target"] = ["text": target.text, "isMet": target.isMet] }
      return object
    }
    let object: [String: Any] = ["ok": true, "data": ["rows": rows, "notMeasured": failures]]
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? JSONSerialization.data(withJSONObject: object, options: options) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  private static func time(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<1_000: number(nanoseconds) + " ns"
    case ..<1_000_000: number(nanoseconds / 1_000, 2) + " µs"
    default: number(nanoseconds / 1_000_000, 2) + " ms"
    }
  }

  private static func size(_ bytes: Double) -> String {
    bytes < 1_048_576 ? number(bytes / 1024) + " KiB" : number(bytes / 1_048_576) + " MiB"
  }

  private static func number(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }
}
