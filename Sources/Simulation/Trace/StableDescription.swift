internal import MatterProtocol

/// Describes any value identically in every process: sets and dictionaries, which have no stable order, are sorted.
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
      // IDs, paths and addresses describe themselves.
      if mirror.children.isEmpty || value is any CustomStringConvertible { return "\(value)" }
      let parts = mirror.children.map { child in
        guard let label = child.label, !label.hasPrefix(".") else { return of(child.value) }
        return "\(label): \(of(child.value))"
      }
      return "(" + parts.joined(separator: ", ") + ")"
    // References have no stable description.
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

// Descriptions for service discovery without a mirror, which would take a hundred times as long. The output must equal
// that of the general form: digests of recorded runs depend on it.
extension StableDescription {
  static func of(_ service: MatterService) -> String {
    let addresses = service.addresses.map { address in
      switch address {
      case .v4(let value): "v4(\(value))"
      case .v6(let high, let low, let scope): "v6((high: \(high), low: \(low), scope: \(scope)))"
      }
    }
    let text = service.text.map { "(key: \($0.key), value: \($0.value))" }
    return "(kind: \(of(service.kind)), hostName: \(service.hostName), port: \(service.port), "
      + "addresses: \(list(addresses)), text: \(list(text)))"
  }

  /// An empty list has no brackets: the general form takes it for an empty list of bytes.
  private static func list(_ elements: [String]) -> String {
    elements.isEmpty ? "" : "[" + elements.joined(separator: ", ") + "]"
  }

  static func of(_ kind: MatterService.Kind) -> String {
    switch kind {
    case .operational(let fabric, let node): "operational((compressedFabricID: \(fabric), nodeID: \(node)))"
    case .commissionable(let instance): "commissionable((instance: \(instance)))"
    case .commissioner(let instance): "commissioner((instance: \(instance)))"
    }
  }

  static func of(_ query: DiscoveryQuery) -> String {
    guard case .operational(let fabric, let node) = query else { return of(query as Any) }
    return "operational((compressedFabricID: \(number(fabric)), nodeID: \(number(node))))"
  }

  private static func number(_ value: UInt64?) -> String { value.map { "\($0)" } ?? "nil" }
}
