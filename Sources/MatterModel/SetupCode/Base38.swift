/// Base 38, an encoding of bytes that is compact in QR codes. Matter Core § 5.1.3.1.
///
/// Three bytes become five characters; remaining two bytes become four, a remaining byte becomes two. Each group is a
/// little-endian number.
enum Base38 {
  static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.")
  private static let bytesOfCharacters = [2: 1, 4: 2, 5: 3]
  private static let charactersOfBytes = [1: 2, 2: 4, 3: 5]

  static func encode(_ bytes: [UInt8]) -> String {
    var text = ""
    var start = 0
    while start < bytes.count {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = group.reversed().reduce(0) { $0 << 8 | Int($1) }
      for _ in 0..<(charactersOfBytes[group.count] ?? 0) {
        text.append(alphabet[value % 38])
        value /= 38
      }
      start += 3
    }
    return text
  }

  /// Decodes text. Positions in errors count from the start of the collection that `text` is a slice of.
  static func decode(_ text: ArraySlice<Character>) throws(SetupCodeError) -> [UInt8] {
    var bytes: [UInt8] = []
    var start = text.startIndex
    while start < text.endIndex {
      let group = text[start..<min(start + 5, text.endIndex)]
      var value = 0
      for index in group.indices.reversed() {
        guard let digit = alphabet.firstIndex(of: group[index]) else {
          throw firstBadCharacter(of: text) ?? .empty
        }
        value = value * 38 + digit
      }
      guard let count = bytesOfCharacters[group.count] else {
        throw .wrongLength(found: text.count, expected: "a multiple of 5, or 2 or 4 more")
      }
      guard value < 1 << (8 * count) else { throw .groupTooLarge(String(group), position: start + 1) }
      for shift in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
      start += 5
    }
    return bytes
  }

  private static func firstBadCharacter(of text: ArraySlice<Character>) -> SetupCodeError? {
    guard let index = text.firstIndex(where: { !alphabet.contains($0) }) else { return nil }
    return .badCharacter(text[index], position: index + 1, expected: "a digit, a capital letter, “-” or “.”")
  }
}
