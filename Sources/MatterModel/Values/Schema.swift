/// The type of a value, for tools that parse and print attributes and commands without their Swift types.
public indirect enum Schema: Hashable, Sendable {
  case boolean
  /// An integer with this width.
  case unsigned(bits: Int), signed(bits: Int)
  case float, double, string, octets
  /// A number with named values.
  case enumeration(bits: Int, names: [UInt64: String])
  /// A number with named bits, by bit position. Adjacent bits with the same name are a field with a number. In an
  /// inverted bitmap, a set bit means "not".
  case bitmap(bits: Int, names: [Int: String], isInverted: Bool = false)
  /// A list of values of one type.
  case list(Schema)
  /// A structure with members in the order of their ids.
  case structure([Member])
  /// A value of this type, or null.
  case nullable(Schema)
  /// A value of any type.
  case any

  /// A member of a structure.
  public struct Member: Hashable, Sendable {
    /// The context tag on the wire.
    public var id: UInt8
    /// The name in the standard: `TransitionTime`.
    public var name: String
    public var schema: Schema
    /// Whether it may be omitted.
    public var isOptional: Bool

    public init(id: UInt8, name: String, schema: Schema, isOptional: Bool) {
      (self.id, self.name, self.schema, self.isOptional) = (id, name, schema, isOptional)
    }

    /// The value of a command's field that the caller omits, as text: null for a nullable field, 0 for a bitmap or a transition
    /// time. Nil if the caller must give one.
    package var omittedValue: String? {
      switch schema {
      case _ where isOptional: nil
      case .nullable: "null"
      case .bitmap: "0"
      case .unsigned where name == "TransitionTime": "0"
      default: nil
      }
    }

    /// Whether the text form of a structure names the member, by its name or its id.
    package func isNamed(_ text: String) -> Bool { NormalizedName(text) == NormalizedName(name) || text == "\(id)" }
  }

  /// A bit of a bitmap, or a field of several bits.
  package struct BitField: Hashable, Sendable {
    package var name: String
    package var bits: ClosedRange<Int>

    /// The bits of the field in a value.
    package var mask: UInt64 { (UInt64.max >> UInt64(64 - bits.count)) << UInt64(bits.lowerBound) }
  }

  /// The features of any cluster, as bits without names.
  package static let features = Schema.bitmap(bits: 32, names: [:])

  /// Returns the bits and fields of a bitmap, sorted by position.
  package static func fields(_ names: [Int: String]) -> [BitField] {
    var fields: [BitField] = []
    for (bit, name) in names.sorted(by: { $0.key < $1.key }) {
      if let last = fields.last, last.name == name, last.bits.upperBound == bit - 1 {
        fields[fields.count - 1].bits = last.bits.lowerBound...bit
      } else {
        fields.append(BitField(name: name, bits: bit...bit))
      }
    }
    return fields
  }
}
