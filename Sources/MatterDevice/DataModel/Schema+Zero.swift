internal import MatterModel

extension Schema {
  /// The encoded zero value of the type: the value of an attribute without a declared initial value.
  var zero: [UInt8] {
    var writer = TLVWriter()
    writeZero(to: &writer, .anonymous)
    return writer.bytes
  }

  private func writeZero(to writer: inout TLVWriter, _ tag: TLVTag) {
    switch self {
    case .boolean: writer.write(false, tag)
    case .unsigned, .enumeration, .bitmap: writer.write(UInt64(0), tag)
    case .signed: writer.write(Int64(0), tag)
    case .float: writer.write(Float(0), tag)
    case .double: writer.write(Double(0), tag)
    case .string: writer.write("", tag)
    case .octets: writer.write(octets: [], tag)
    case .list: writer.array(tag) { _ in }
    case .nullable, .any: writer.writeNull(tag)
    case .structure(let members):
      writer.structure(tag) { writer in
        for member in members where !member.isOptional { member.schema.writeZero(to: &writer, .context(member.id)) }
      }
    }
  }
}
