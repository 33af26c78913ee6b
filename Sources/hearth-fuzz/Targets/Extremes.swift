import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// Generates values of a schema from an input: numbers at the limits of their types, lists of any length, missing
/// members.
struct Extremes {
  private let input: [UInt8]
  private var position = 0

  init(_ input: [UInt8]) { self.input = input }

  var isAtEnd: Bool { position >= input.count }

  /// Returns the next byte of the input, or 0 past its end.
  mutating func byte() -> UInt8 {
    guard position < input.count else { return 0 }
    defer { position += 1 }
    return input[position]
  }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(byte()) % elements.count]
  }

  /// Numbers that overflow sums and conversions.
  private static let numbers: [UInt64] = {
    let powers = [7, 8, 15, 16, 24, 31, 32, 48, 53, 62, 63].map { UInt64(1) << UInt64($0) }
    return [0, 1, 2, 3, 254, 1000, 0xFFFF_FFEF_FFFF_FFFF, .max, .max - 1]
      + powers.flatMap { [$0 - 1, $0, $0 + 1] }
  }()

  /// Returns an extreme number, or in one of four cases a number below 256.
  mutating func number() -> UInt64 {
    let choice = byte()
    return choice >= 192 ? UInt64(byte()) : Self.numbers[Int(choice) % Self.numbers.count]
  }

  mutating func number<Number: FixedWidthInteger>(as _: Number.Type) -> Number { Number(truncatingIfNeeded: number()) }

  /// Returns an encoded value of the schema.
  mutating func value(_ schema: Schema, depth: Int = 0) -> [UInt8] {
    var writer = TLVWriter()
    write(schema, .anonymous, to: &writer, depth)
    return writer.finish()
  }

  private mutating func write(_ schema: Schema, _ tag: TLVTag, to writer: inout TLVWriter, _ depth: Int) {
    switch schema {
    case .boolean: writer.write(flag(), tag)
    case .unsigned(let bits), .enumeration(let bits, _), .bitmap(let bits, _, _):
      writer.write(number() & UInt64.max >> UInt64(max(0, 64 - bits)), tag)
    case .signed(let bits):
      let number = Int64(bitPattern: number())
      writer.write(number >> Int64(max(0, 64 - bits)), tag)
    case .float: writer.write(Float(bitPattern: number(as: UInt32.self)), tag)
    case .double: writer.write(Double(bitPattern: number()), tag)
    case .string: writer.write(String(repeating: "x", count: Int(byte())), tag)
    case .octets: writer.write(octets: [UInt8](repeating: 1, count: Int(byte())), tag)
    case .list(let element):
      writer.array(tag) { writer in
        guard depth < 4 else { return }
        for _ in 0..<Int(byte() % 40) { write(element, .anonymous, to: &writer, depth + 1) }
      }
    case .structure(let members):
      writer.structure(tag) { writer in
        guard depth < 6 else { return }
        for member in members {
          // Some peers send null instead of leaving a member out.
          switch member.isOptional ? byte() % 4 : 0 {
          case 0, 1: write(member.schema, .context(member.id), to: &writer, depth + 1)
          case 2: writer.writeNull(.context(member.id))
          default: break
          }
        }
      }
    case .nullable(let schema):
      if flag() { writer.writeNull(tag) } else { write(schema, tag, to: &writer, depth) }
    case .any: writer.write(number(), tag)
    }
  }
}
