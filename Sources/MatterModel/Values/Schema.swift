/// The shape of a value, so that tools can read and print any attribute or command without knowing its Swift type.
public indirect enum Schema: Hashable, Sendable {
  case boolean
  /// An integer of so many bits.
  case unsigned(bits: Int), signed(bits: Int)
  case float, double, string, octets
  /// A number with named values.
  case enumeration(bits: Int, names: [UInt64: String])
  /// A number with named bits, by bit position. In an inverted bitmap, a bit that is set means "not".
  case bitmap(bits: Int, names: [Int: String], isInverted: Bool = false)
  /// Any number of values of one shape.
  case list(Schema)
  /// Members, in the order of their numbers.
  case structure([Member])
  /// A value of this shape, or null.
  case nullable(Schema)
  /// Anything at all.
  case any

  /// One member of a structure.
  public struct Member: Hashable, Sendable {
    /// The context tag that it has on the wire.
    public var id: UInt8
    /// As the standard writes it: `TransitionTime`.
    public var name: String
    public var schema: Schema
    /// Whether it may be left out.
    public var isOptional: Bool

    public init(id: UInt8, name: String, schema: Schema, isOptional: Bool) {
      (self.id, self.name, self.schema, self.isOptional) = (id, name, schema, isOptional)
    }
  }
}
