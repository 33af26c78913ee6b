internal import Foundation
internal import HomeModel

/// Writes the compact encoding of database columns: variable-length numbers with seven bits per byte, texts and bytes
/// with a length prefix.
struct BlobWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func write(_ number: some UnsignedInteger) { write(UInt64(number)) }

  mutating func write(_ octets: [UInt8]) {
    write(UInt64(octets.count))
    bytes += octets
  }

  mutating func write(_ text: String) { write(Array(text.utf8)) }

  /// Distinguishes nil from an empty text.
  mutating func write(_ text: String?) {
    write(UInt64(text == nil ? 0 : 1))
    if let text { write(text) }
  }

  mutating func write<Item>(_ items: [Item], _ body: (inout Self, Item) -> Void) {
    write(UInt64(items.count))
    for item in items { body(&self, item) }
  }

  /// The encoded bytes, as SQLite expects them.
  var data: Data { Data(bytes) }
}

/// A stored value can't be decoded: the file is damaged, or was written by another program.
package struct DamagedBlob: Error {
  package init() {}
}

/// Reads the encoding of ``BlobWriter``.
struct BlobReader {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func number() throws(DamagedBlob) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      guard offset < bytes.count, shift < 64 else { throw DamagedBlob() }
      let byte = bytes[offset]
      offset += 1
      // The tenth byte contributes a single bit.
      if shift == 63, byte > 1 { throw DamagedBlob() }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
  }

  mutating func number<Number: FixedWidthInteger>(as _: Number.Type) throws(DamagedBlob) -> Number {
    guard let number = Number(exactly: try number()) else { throw DamagedBlob() }
    return number
  }

  mutating func octets() throws(DamagedBlob) -> [UInt8] {
    let count = try number(as: Int.self)
    guard count <= bytes.count - offset else { throw DamagedBlob() }
    defer { offset += count }
    return [UInt8](bytes[offset..<offset + count])
  }

  mutating func text() throws(DamagedBlob) -> String {
    let count = try number(as: Int.self)
    guard count <= bytes.count - offset,
      let text = String(validating: bytes[offset..<offset + count], as: UTF8.self)
    else { throw DamagedBlob() }
    offset += count
    return text
  }

  mutating func optionalText() throws(DamagedBlob) -> String? {
    switch try number() {
    case 0: nil
    case 1: try text()
    default: throw DamagedBlob()
    }
  }

  mutating func array<Item>(_ body: (inout Self) throws(DamagedBlob) -> Item) throws(DamagedBlob) -> [Item] {
    let count = try number(as: Int.self)
    // An item has at least one byte and may be larger in memory, so a damaged count must not reserve memory.
    guard count <= bytes.count - offset else { throw DamagedBlob() }
    var items: [Item] = []
    items.reserveCapacity(min(count, 4096))
    for _ in 0..<count { items.append(try body(&self)) }
    return items
  }
}

extension DeviceEndpoint {
  func write(to writer: inout BlobWriter) {
    writer.write(id.rawValue)
    writer.write(deviceTypes) { $0.write($1.rawValue) }
    writer.write(servers) { $0.write($1.rawValue) }
    writer.write(clients) { $0.write($1.rawValue) }
    writer.write(parts) { $0.write($1.rawValue) }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    let id = EndpointID(try reader.number(as: UInt16.self))
    let types = try reader.array { (item) throws(DamagedBlob) in DeviceTypeID(try item.number(as: UInt32.self)) }
    let servers = try reader.array { (item) throws(DamagedBlob) in ClusterID(try item.number(as: UInt32.self)) }
    let clients = try reader.array { (item) throws(DamagedBlob) in ClusterID(try item.number(as: UInt32.self)) }
    let parts = try reader.array { (item) throws(DamagedBlob) in EndpointID(try item.number(as: UInt16.self)) }
    self.init(id: id, deviceTypes: types, servers: servers, clients: clients, parts: parts)
  }
}

extension DeviceIdentity {
  func write(to writer: inout BlobWriter) {
    writer.write(vendorID.map { String($0.rawValue) })
    writer.write(productID.map { String($0) })
    for text in [vendorName, productName, productLabel, nodeLabel, serialNumber, uniqueID, softwareVersion] {
      writer.write(text)
    }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    self.init()
    vendorID = try reader.optionalText().flatMap { UInt16($0) }.map { VendorID($0) }
    productID = try reader.optionalText().flatMap { UInt16($0) }
    vendorName = try reader.optionalText()
    productName = try reader.optionalText()
    productLabel = try reader.optionalText()
    nodeLabel = try reader.optionalText()
    serialNumber = try reader.optionalText()
    uniqueID = try reader.optionalText()
    softwareVersion = try reader.optionalText()
  }
}

extension SourceStatus {
  func write(to writer: inout BlobWriter) {
    writer.write(connectivity.connectivityState.rawValue)
    writer.write(connectivity.dataSourceLocality.rawValue)
    writer.write(reason?.rawValue)
    if let lastContact { writer.write(UInt64(bitPattern: lastContact)) }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    guard let state = ConnectivityState(rawValue: try reader.text()),
      let locality = DataSourceLocality(rawValue: try reader.text())
    else { throw DamagedBlob() }
    // Ignores a reason that a later version has added.
    self.init(
      SourceConnectivity(state, locality), reason: try reader.optionalText().flatMap { OfflineReason(rawValue: $0) })
    if !reader.isAtEnd { lastContact = Int64(bitPattern: try reader.number()) }
  }
}

extension ClusterValues {
  func write(to writer: inout BlobWriter) {
    for entry in entries {
      writer.write(entry.attribute.rawValue)
      writer.write(entry.value)
    }
  }

  init(from reader: inout BlobReader) throws(DamagedBlob) {
    self.init()
    while !reader.isAtEnd {
      let attribute = AttributeID(try reader.number(as: UInt32.self))
      self[attribute] = try reader.octets()
    }
  }
}
