/// Text of any value that is the same in each process: sets and dictionaries, whose own order is not, are sorted.
enum StableDescription {
  static func of(_ value: Any) -> String {
    if let bytes = value as? [UInt8] { return hexadecimal(bytes) }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .dictionary, .set:
      return "{" + mirror.children.map { of($0.value) }.sorted().joined(separator: ", ") + "}"
    case .collection: return "[" + mirror.children.map { of($0.value) }.joined(separator: ", ") + "]"
    case .optional: return mirror.children.first.map { of($0.value) } ?? "nil"
    case .enum:
      guard let child = mirror.children.first else { return "\(value)" }
      return "\(child.label ?? "")(\(of(child.value)))"
    case .struct, .tuple:
      // Ids, paths and addresses know how to say what they are.
      if mirror.children.isEmpty || value is any CustomStringConvertible { return "\(value)" }
      let parts = mirror.children.map { child in
        guard let label = child.label, !label.hasPrefix(".") else { return of(child.value) }
        return "\(label): \(of(child.value))"
      }
      return "(" + parts.joined(separator: ", ") + ")"
    // A reference has no value of its own.
    case .class, .foreignReference: return "\(mirror.subjectType)"
    default: return "\(value)"
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
