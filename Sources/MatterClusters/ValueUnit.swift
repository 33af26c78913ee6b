internal import Glibc
package import MatterModel

// The cases are those of `TypeReference.units` in the language of the catalogue.
extension ValueUnit {
  package struct Name: Hashable, Sendable {
    package var cluster: ClusterID
    package var name: NormalizedName
  }

  /// The units by name: in a cluster, all attributes, command fields and structure members of one name have the same.
  package static let table = Dictionary(
    declared.map { (Name(cluster: $0.cluster, name: NormalizedName($0.name)), $0.unit) },
    uniquingKeysWith: { first, _ in first })

  /// Returns the unit of an attribute, a command field or a structure member; nil if it has none.
  package init?(_ cluster: ClusterID, _ name: String) {
    guard let unit = Self.table[Name(cluster: cluster, name: NormalizedName(name))] else { return nil }
    self = unit
  }

  /// Returns the unit of an attribute; nil if it has none.
  package init?(_ cluster: ClusterID, _ attribute: AttributeID) {
    guard let name = ClusterCatalogue.cluster(cluster)?.attribute(attribute)?.name else { return nil }
    self.init(cluster, name)
  }
}

// Units of measure. Levels, colors and times have texts of their own.
extension ValueUnit {
  /// The symbols of a unit of measure, the preferred one first; empty for other units.
  package var symbols: [String] {
    switch self {
    case .hundredthsOfDegree, .tenthsOfDegree: ["°C", "°c", "C", "c"]
    case .hundredthsOfPercent, .halfPercent, .percent: ["%"]
    case .illuminance: ["lx", "lux"]
    case .hectopascals: ["hPa", "mbar"]
    case .tenthsOfCubicMeterPerHour: ["m³/h", "m3/h"]
    case .milliwatts: ["W", "kW"]
    case .millivolts: ["V"]
    case .milliamperes: ["A"]
    case .millihertz: ["Hz"]
    case .milliwattHours: ["kWh", "Wh"]
    case .level, .levelStep, .mireds, .seconds, .tenthsOfSecond, .milliseconds: []
    }
  }

  /// The encoded number of one unit of a linear scale.
  private var scale: Double {
    switch self {
    case .hundredthsOfDegree, .hundredthsOfPercent: 100
    case .tenthsOfDegree, .tenthsOfCubicMeterPerHour: 10
    case .halfPercent: 2
    case .milliwatts, .millivolts, .milliamperes, .millihertz: 1000
    case .milliwattHours: 1_000_000
    default: 1
    }
  }

  /// Returns the number of a text that ends in a symbol of the unit: 21.5 for `21.5 °C`; nil for another text.
  package func measure(_ text: String) -> Double? {
    guard let symbol = symbols.filter({ text.hasSuffix($0) }).max(by: { $0.count < $1.count }) else { return nil }
    // The limit excludes infinity, NaN and numbers that no attribute can have.
    guard let number = Double(text.dropLast(symbol.count).filter { !$0.isWhitespace }), abs(number) < 1e9 else {
      return nil
    }
    return symbol == "kW" ? number * 1000 : symbol == "Wh" ? number / 1000 : number
  }

  /// Encodes a measure: 2150 for 21.5 °C.
  package func encoded(_ measure: Double) -> Int64 {
    guard self == .illuminance else { return Self.rounded(measure * scale) }
    return measure < 1 ? 0 : Self.rounded(10_000 * log10(measure) + 1)
  }

  /// Decodes a measure: 21.5 for 2150.
  package func decoded(_ encoded: Int64) -> Double {
    guard self == .illuminance else { return Double(encoded) / scale }
    return encoded <= 0 ? 0 : pow(10, (Double(min(encoded, 65_535)) - 1) / 10_000)
  }

  private static func rounded(_ number: Double) -> Int64 {
    Int64(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
  }

  /// Returns the text of an encoded measure: `21.5 °C` for 2150; nil for units that are not of a measure.
  package func text(_ encoded: Int64) -> String? {
    guard let symbol = symbols.first else { return nil }
    let blank = symbol == "%" ? "" : " "
    if self == .illuminance {
      return encoded <= 0 ? "dark" : "\(Int(decoded(encoded).rounded())) \(symbol)"
    }
    return (scale == 1 ? "\(encoded)" : "\(decoded(encoded))") + blank + symbol
  }
}
