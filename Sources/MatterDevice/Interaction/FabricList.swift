internal import MatterModel

/// Operations on encoded fabric-scoped lists. Matter Core § 7.13.6.
enum FabricList {
  /// Returns the entries of a list, each as an anonymous element, with their fabric.
  static func entries(of list: [UInt8]) throws(TLVError) -> [(fabric: FabricIndex, bytes: [UInt8])] {
    let span = list.span.bytes
    var result: [(fabric: FabricIndex, bytes: [UInt8])] = []
    var reader = TLVReader()
    guard try reader.next(span) else { throw .truncated }
    guard reader.type == .array else { throw .unexpectedType(found: reader.type, expected: "array") }
    try reader.enter(span)
    while try reader.next(span) {
      var copy = reader
      result.append((try fabric(of: &copy, span), try reader.anonymousElement(span)))
    }
    return result
  }

  private static func fabric(of reader: inout TLVReader, _ span: RawSpan) throws(TLVError) -> FabricIndex {
    guard reader.type == .structure else { return .none }
    try reader.enter(span)
    while try reader.next(span) {
      if reader.tag == .context(GlobalAttribute.fabricIndexField), !reader.isNull {
        return FabricIndex(try reader.unsigned(as: UInt8.self))
      }
    }
    return .none
  }

  static func encode(_ entries: some Sequence<[UInt8]>) -> [UInt8] {
    var writer = TLVWriter()
    writer.array { for entry in entries { $0.write(encoded: entry) } }
    return writer.bytes
  }

  /// Returns the list without the entries of a fabric; nil if it has none.
  static func removing(_ fabric: FabricIndex, from list: [UInt8]) -> [UInt8]? {
    guard let entries = try? entries(of: list), entries.contains(where: { $0.fabric == fabric }) else { return nil }
    return encode(entries.lazy.filter { $0.fabric != fabric }.map(\.bytes))
  }

  /// Returns the part of a list that a fabric may read.
  /// - Parameters:
  ///   - isFiltered: Whether to omit the entries of other fabrics.
  ///   - isSensitive: Whether to reduce the entries of other fabrics to the fabric index.
  static func view(_ list: [UInt8], by fabric: FabricIndex, isFiltered: Bool, isSensitive: Bool) -> [UInt8] {
    guard isFiltered || isSensitive, let entries = try? entries(of: list) else { return list }
    return encode(
      entries.lazy.filter { !isFiltered || $0.fabric == fabric }.map { entry in
        if entry.fabric == fabric || !isSensitive { return entry.bytes }
        var writer = TLVWriter()
        writer.structure { $0.write(UInt64(entry.fabric.rawValue), .context(GlobalAttribute.fabricIndexField)) }
        return writer.bytes
      })
  }

  /// Returns the entry with its fabric index set to `fabric`.
  static func stamp(_ entry: [UInt8], _ fabric: FabricIndex) throws(TLVError) -> [UInt8] {
    let span = entry.span.bytes
    var reader = TLVReader()
    guard try reader.next(span) else { throw .truncated }
    guard reader.type == .structure else { throw .unexpectedType(found: reader.type, expected: "structure") }
    var writer = TLVWriter()
    writer.startStructure()
    try reader.enter(span)
    while try reader.next(span) {
      let tag = reader.tag
      let bytes = try reader.anonymousElement(span)
      if tag != .context(GlobalAttribute.fabricIndexField) { writer.write(encoded: bytes, tag) }
    }
    writer.write(UInt64(fabric.rawValue), .context(GlobalAttribute.fabricIndexField))
    writer.end()
    return writer.bytes
  }
}
