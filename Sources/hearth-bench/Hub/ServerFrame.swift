/// A WebSocket frame of a server, which is not masked.
struct ServerFrame {
  static let text: UInt8 = 1, close: UInt8 = 8

  let opcode: UInt8
  let payload: ArraySlice<UInt8>

  /// Parses the first frame; nil if it is incomplete.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2 else { return nil }
    let start = bytes.startIndex
    let short = Int(bytes[start + 1])
    let extra = short == 126 ? 2 : short == 127 ? 8 : 0
    guard bytes.count >= 2 + extra else { return nil }
    let length = extra == 0 ? short : bytes[(start + 2)..<(start + 2 + extra)].reduce(0) { $0 &<< 8 | Int($1) }
    let begin = start + 2 + extra
    guard length >= 0, bytes.endIndex - begin >= length else { return nil }
    opcode = bytes[start] & 0xF
    payload = bytes[begin..<(begin + length)]
  }

  /// Returns the bytes of a text frame.
  static func text(_ payload: [UInt8]) -> [UInt8] {
    let length =
      payload.count < 126
      ? [UInt8(payload.count)] : [126, UInt8(truncatingIfNeeded: payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [0x80 | text] + length + payload
  }

  /// Returns the bytes of a short text frame of a client, masked with zeros.
  static func masked(_ payload: [UInt8]) -> [UInt8] {
    [0x80 | text, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
  }
}
