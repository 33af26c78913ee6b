internal import HomeModel
internal import MatterModel

// The encoding of the log, for changes that are sent to other processes.
extension HomeChange {
  package func write(to writer: inout BlobWriter) {
    let row = ChangeRow(self, device: nil)
    writer.write(UInt64(row.kind.rawValue))
    writer.write(row.subject)
    writer.write(row.node.map { [$0.rawValue] } ?? []) { $0.write($1) }
    writer.write(row.endpoint.map { [$0.rawValue] } ?? []) { $0.write($1) }
    writer.write(row.cluster.map { [$0.rawValue] } ?? []) { $0.write($1) }
    writer.write(row.element.map { [$0] } ?? []) { $0.write($1) }
    writer.write(row.value.map { [$0] } ?? []) { $0.write($1) }
  }

  package init(from reader: inout BlobReader) throws(DamagedBlob) {
    guard let kind = ChangeRow.Kind(rawValue: try reader.number(as: Int.self)) else { throw DamagedBlob() }
    var row = ChangeRow(kind, subject: try reader.optionalText())
    row.node = try reader.array { (item) throws(DamagedBlob) in NodeID(try item.number()) }.first
    row.endpoint = try reader.array { (item) throws(DamagedBlob) in
      EndpointID(try item.number(as: UInt16.self))
    }.first
    row.cluster = try reader.array { (item) throws(DamagedBlob) in ClusterID(try item.number(as: UInt32.self)) }.first
    row.element = try reader.array { (item) throws(DamagedBlob) in try item.number(as: UInt32.self) }.first
    row.value = try reader.array { (item) throws(DamagedBlob) in try item.octets() }.first
    self = try row.change()
  }
}
