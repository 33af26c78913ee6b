import Testing

/// A test vector: named byte strings.
struct Record: CustomTestStringConvertible {
  /// Index in its table, from 0, for the test log.
  let number: Int
  var fields: [String: [UInt8]] = [:]

  var testDescription: String { "#\(number)" }

  /// Returns the value of a field.
  func get(_ name: String) throws -> [UInt8] {
    guard let value = fields[name] else { throw MissingField(name: name) }
    return value
  }
}

/// Parses `name = hex` lines; indented lines continue the value, an empty line ends the record.
func records(_ text: String) -> [Record] {
  var records = [Record(number: 0)]
  var name = ""
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
    if parts.isEmpty {
      records.append(Record(number: records.count))
    } else if line.contains("="), let first = parts.first {
      name = first
      records[records.count - 1].fields[name] = parts.count > 1 ? hex(parts[1]) : []
    } else {
      records[records.count - 1].fields[name, default: []] += hex(parts[0])
    }
  }
  return records
}

/// Returns the bytes of hexadecimal digits, ignoring whitespace.
func hex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

struct MissingField: Error {
  let name: String
}

extension [UInt8] {
  /// Returns a copy with one bit inverted.
  func flippingBit(_ bit: Int) -> [UInt8] {
    var copy = self
    copy[bit / 8] ^= 1 << (bit % 8)
    return copy
  }
}
