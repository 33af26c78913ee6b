/// The block structure of one version at error correction level M. ISO/IEC 18004, tables 7 and 9.
struct QRLayout {
  let version: Int
  /// Number of data codewords per block.
  let blockLengths: [Int]
  /// Number of error correction codewords per block.
  let correctionCount: Int

  static let all = [
    QRLayout(version: 1, blockLengths: [16], correctionCount: 10),
    QRLayout(version: 2, blockLengths: [28], correctionCount: 16),
    QRLayout(version: 3, blockLengths: [44], correctionCount: 26),
    QRLayout(version: 4, blockLengths: [32, 32], correctionCount: 18),
    QRLayout(version: 5, blockLengths: [43, 43], correctionCount: 24),
    QRLayout(version: 6, blockLengths: [27, 27, 27, 27], correctionCount: 16),
  ]

  var size: Int { 17 + 4 * version }
  var dataByteCount: Int { blockLengths.reduce(0, +) }

  /// Returns all codewords in drawing order: interleaved across the blocks.
  func codewords(of segment: QRSegment) -> [UInt8] {
    let data = segment.padded(to: dataByteCount)
    var blocks: [[UInt8]] = []
    var start = 0
    for length in blockLengths {
      blocks.append(Array(data[start..<(start + length)]))
      start += length
    }
    let corrections = blocks.map { ReedSolomon.remainder(of: $0, count: correctionCount) }
    let longest = blockLengths.max() ?? 0
    return (0..<longest).flatMap { index in blocks.filter { index < $0.count }.map { $0[index] } }
      + (0..<correctionCount).flatMap { index in corrections.map { $0[index] } }
  }
}

/// A text encoded as bits: mode, length and characters.
struct QRSegment {
  private(set) var bits: [Bool] = []

  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")

  init(text: String, alphanumericOnly: Bool) throws(QRCodeError) {
    var values: [Int] = []
    var isAlphanumeric = true
    for (index, character) in text.enumerated() {
      if let value = Self.alphabet.firstIndex(of: character) {
        values.append(value)
      } else if alphanumericOnly {
        throw .badCharacter(character, position: index + 1)
      } else {
        isAlphanumeric = false
      }
    }
    let count = isAlphanumeric ? values.count : text.utf8.count
    // The length field has 9 or 8 bits; longer texts exceed version 6 in any case.
    guard count < 256 else { throw .tooLong(found: text.utf8.count) }
    if isAlphanumeric {
      append(0b0010, bits: 4)
      append(count, bits: 9)
      for start in stride(from: 0, to: count, by: 2) {
        if start + 1 < count {
          append(values[start] * 45 + values[start + 1], bits: 11)
        } else {
          append(values[start], bits: 6)
        }
      }
    } else {
      append(0b0100, bits: 4)
      append(count, bits: 8)
      for byte in text.utf8 { append(Int(byte), bits: 8) }
    }
  }

  /// Returns the bits as codewords, with terminator and padding.
  func padded(to count: Int) -> [UInt8] {
    var all = bits
    all += Array(repeating: false, count: max(0, min(4, count * 8 - all.count)))
    all += Array(repeating: false, count: (8 - all.count % 8) % 8)
    var bytes = stride(from: 0, to: all.count, by: 8).map { start in
      all[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
    var filler: UInt8 = 0xEC
    while bytes.count < count {
      bytes.append(filler)
      filler ^= 0xEC ^ 0x11
    }
    return bytes
  }

  private mutating func append(_ value: Int, bits count: Int) {
    for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
  }
}

/// Reed-Solomon codes over GF(256) with the polynomial 0x11D.
enum ReedSolomon {
  /// Returns the error correction codewords of `data`.
  static func remainder(of data: [UInt8], count: Int) -> [UInt8] {
    let divisor = generator(degree: count)
    var result = Array(repeating: UInt8(0), count: count)
    for byte in data {
      let factor = byte ^ result.removeFirst()
      result.append(0)
      for index in 0..<count { result[index] ^= multiply(divisor[index], factor) }
    }
    return result
  }

  /// Returns the product of (x - 2^i) for i below `degree`, highest power first, without the leading 1.
  static func generator(degree: Int) -> [UInt8] {
    var polynomial = Array(repeating: UInt8(0), count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for index in 0..<degree {
        polynomial[index] = multiply(polynomial[index], root)
        if index + 1 < degree { polynomial[index] ^= polynomial[index + 1] }
      }
      root = multiply(root, 2)
    }
    return polynomial
  }

  static func multiply(_ a: UInt8, _ b: UInt8) -> UInt8 {
    var product = 0
    for shift in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7) * 0x11D
      product ^= Int(b >> UInt8(shift) & 1) * Int(a)
    }
    return UInt8(truncatingIfNeeded: product)
  }
}
