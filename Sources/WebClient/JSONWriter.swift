package import NIOCore

/// Appends JSON text to a buffer, without blanks.
struct JSONWriter {
  private(set) var buffer = ByteBuffer()

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: buffer.writeStaticString("null")
    case .bool(let value): buffer.writeStaticString(value ? "true" : "false")
    case .integer(let value):
      if let small = Int64(exactly: value) { buffer.writeString(String(small)) } else { buffer.writeString("\(value)") }
    // JSON has no infinity and no NaN.
    case .number(let value): buffer.writeString(value.isFinite ? "\(value)" : "null")
    case .string(let text): write(text)
    case .array(let values):
      buffer.writeInteger(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
        write(value)
      }
      buffer.writeInteger(UInt8(ascii: "]"))
    case .object(let members):
      buffer.writeInteger(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
        write(member.name)
        buffer.writeInteger(UInt8(ascii: ":"))
        write(member.value)
      }
      buffer.writeInteger(UInt8(ascii: "}"))
    }
  }

  private mutating func write(_ text: String) {
    buffer.writeInteger(UInt8(ascii: "\""))
    if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
      for byte in text.utf8 { writeEscaped(byte) }
    } else {
      buffer.writeString(text)
    }
    buffer.writeInteger(UInt8(ascii: "\""))
  }

  private mutating func writeEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      buffer.writeInteger(UInt8(ascii: "\\"))
      buffer.writeInteger(byte)
    case UInt8(ascii: "\n"): buffer.writeStaticString("\\n")
    case UInt8(ascii: "\r"): buffer.writeStaticString("\\r")
    case UInt8(ascii: "\t"): buffer.writeStaticString("\\t")
    case 0..<0x20:
      let digits = String(byte, radix: 16)
      buffer.writeString("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    default: buffer.writeInteger(byte)
    }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The JSON text in UTF-8.
  package var bytes: ByteBuffer {
    var writer = JSONWriter()
    writer.write(self)
    return writer.buffer
  }

  package var description: String { String(buffer: bytes) }
}
