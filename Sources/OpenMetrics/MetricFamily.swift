/// A family of samples in the text format of OpenMetrics 1.0.
public struct MetricFamily: Hashable, Sendable {
  /// The type of a family.
  public enum Kind: String, Hashable, Sendable {
    /// A number that only increases until the process restarts.
    case counter
    /// A number that increases and decreases.
    case gauge
  }

  /// A number with its labels.
  public struct Sample: Hashable, Sendable {
    /// The names and values of the labels, in the order of the text.
    public var labels: [Label]
    /// The number, in the unit of the family.
    public var value: Double

    public init(_ value: Double, _ labels: [Label] = []) { (self.value, self.labels) = (value, labels) }
  }

  /// A label of a sample.
  public struct Label: Hashable, Sendable {
    /// A name of letters, digits and underscores.
    public var name: String
    /// Any text; it is escaped when it is written.
    public var value: String

    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// The name without the suffix of counters: `hearth_dropped_messages`. It ends with the unit, if there is one.
  public var name: String
  public var kind: Kind
  /// The unit, such as `seconds`; nil for none.
  public var unit: String?
  /// The description.
  public var help: String
  public var samples: [Sample]

  public init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.unit, self.help, self.samples) = (name, kind, unit, help, samples)
  }

  /// Creates a family with one sample without labels.
  public init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ value: some BinaryInteger) {
    self.init(name, kind, unit: unit, help, [Sample(Double(value))])
  }

  /// Creates a family with a sample for each key, sorted by key.
  /// - Parameter label: the name of the label with the key.
  public init(
    _ name: String, _ kind: Kind, unit: String? = nil, _ help: String, by label: String, _ values: [String: Int]
  ) {
    let sorted = values.sorted { $0.key < $1.key }
    self.init(name, kind, unit: unit, help, sorted.map { Sample(Double($1), [Label(label, $0)]) })
  }
}

extension MetricFamily {
  /// The media type of ``text(_:)``.
  public static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

  /// Returns the families as text.
  public static func text(_ families: [MetricFamily]) -> String {
    families.map(\.text).joined() + "# EOF\n"
  }

  private var text: String {
    var text = "# TYPE \(name) \(kind.rawValue)\n"
    if let unit { text += "# UNIT \(name) \(unit)\n" }
    text += "# HELP \(name) \(Self.escaped(help))\n"
    let suffix = kind == .counter ? "_total" : ""
    for sample in samples {
      let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      text += name + suffix + (labels.isEmpty ? "" : "{\(labels)}") + " \(Self.number(sample.value))\n"
    }
    return text
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// Formats a number: without a fraction if it is whole.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }
}
