public import MatterTLV

/// An enumeration of the standard: a struct with constants, so that values of later revisions survive a round trip.
///
///     public struct StartUpOnOff: WireCode {
///       public var rawValue: UInt8
///       public init(rawValue: UInt8) { self.rawValue = rawValue }
///       public static let off = Self(0), on = Self(1), toggle = Self(2)
///       public static let names: [UInt64: String] = [0: "Off", 1: "On", 2: "Toggle"]
///     }
public protocol WireCode: RawRepresentable, ModelValue, CustomStringConvertible
where RawValue: UnsignedInteger & FixedWidthInteger & Sendable {
  init(rawValue: RawValue)
  /// The names of the defined values.
  static var names: [UInt64: String] { get }
}

extension WireCode {
  /// Creates a code with any number, defined or not.
  public init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }
  public static var schema: Schema { .enumeration(bits: RawValue.bitWidth, names: names) }
  /// A value that is not defined, for `mode ?? .unrecognized_` as in the Google Home APIs. Unknown values of a device keep
  /// their numbers, which ``isKnown`` detects.
  public static var unrecognized_: Self {
    var number = RawValue.max
    while names[UInt64(number)] != nil, number > 0 { number -= 1 }
    return Self(rawValue: number)
  }
  /// Whether the value is defined.
  public var isKnown: Bool { Self.names[UInt64(rawValue)] != nil }
  public var description: String { Self.names[UInt64(rawValue)] ?? "\(rawValue)" }
  /// The name in lowercase words, except for abbreviations: "fan only", "CO alarm"; the number of an undefined value.
  package var words: String {
    var words: [String] = []
    let letters = Array(description)
    for (index, letter) in letters.enumerated() {
      let isCapital = index > 0 && letter.isUppercase
      let follows = isCapital && !letters[index - 1].isUppercase
      let precedes = isCapital && index + 1 < letters.count && letters[index + 1].isLowercase
      if words.isEmpty || follows || precedes { words.append("") }
      words[words.count - 1].append(letter)
    }
    return words.map { $0.count > 1 && $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }.joined(separator: " ")
  }
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(rawValue: try reader.unsigned(as: RawValue.self))
  }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(UInt64(rawValue), tag) }
}

/// A bitmap of the standard. Unknown bits survive a round trip.
public protocol WireBitmap: OptionSet, ModelValue where RawValue: UnsignedInteger & FixedWidthInteger & Sendable {
  /// The names of the defined bits, by position.
  static var names: [Int: String] { get }
  /// Whether a set bit means "not supported". False by default.
  static var isInverted: Bool { get }
}

extension WireBitmap {
  public static var isInverted: Bool { false }
  public static var schema: Schema { .bitmap(bits: RawValue.bitWidth, names: names, isInverted: isInverted) }
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(rawValue: try reader.unsigned(as: RawValue.self))
  }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { writer.write(UInt64(rawValue), tag) }
}
