internal import HomeModel
internal import MatterTLV

/// A stored value can't be decoded: the file is damaged, or was written by another program.
package struct DamagedBlob: Error {
  package init() {}
}

// The values of database columns, as TLV.

extension DeviceEndpoint {
  /// The id, the device types, the servers, the clients and the parts.
  var stored: [[UInt32]] {
    [
      [UInt32(id.rawValue)], deviceTypes.map(\.rawValue), servers.map(\.rawValue), clients.map(\.rawValue),
      parts.map { UInt32($0.rawValue) },
    ]
  }

  init(stored lists: [[UInt32]]) throws(DamagedBlob) {
    func endpoints(_ numbers: [UInt32]) throws(DamagedBlob) -> [EndpointID] {
      let endpoints = numbers.compactMap { UInt16(exactly: $0).map { EndpointID($0) } }
      guard endpoints.count == numbers.count else { throw DamagedBlob() }
      return endpoints
    }
    guard lists.count == 5, let id = try endpoints(lists[0]).first else { throw DamagedBlob() }
    self.init(
      id: id, deviceTypes: lists[1].map { DeviceTypeID($0) }, servers: lists[2].map { ClusterID($0) },
      clients: lists[3].map { ClusterID($0) }, parts: try endpoints(lists[4]))
  }
}

extension DeviceIdentity {
  var stored: [Nullable<String>] {
    [
      vendorID.map { String($0.rawValue) }, productID.map { String($0) }, vendorName, productName, productLabel,
      nodeLabel, serialNumber, uniqueID, softwareVersion,
    ].map { Nullable($0) }
  }

  init(stored texts: [Nullable<String>]) throws(DamagedBlob) {
    guard texts.count == 9 else { throw DamagedBlob() }
    self.init()
    vendorID = texts[0].wrapped.flatMap { UInt16($0) }.map { VendorID($0) }
    productID = texts[1].wrapped.flatMap { UInt16($0) }
    vendorName = texts[2].wrapped
    productName = texts[3].wrapped
    productLabel = texts[4].wrapped
    nodeLabel = texts[5].wrapped
    serialNumber = texts[6].wrapped
    uniqueID = texts[7].wrapped
    softwareVersion = texts[8].wrapped
  }
}

extension SourceStatus {
  /// The connectivity, the locality, the reason and the time of the last contact.
  var stored: [Nullable<String>] {
    [
      connectivity.connectivityState.rawValue, connectivity.dataSourceLocality.rawValue, reason?.rawValue,
      lastContact.map { String($0) },
    ].map { Nullable($0) }
  }

  init(stored texts: [Nullable<String>]) throws(DamagedBlob) {
    guard texts.count == 4, let state = texts[0].wrapped.flatMap({ ConnectivityState(rawValue: $0) }),
      let locality = texts[1].wrapped.flatMap({ DataSourceLocality(rawValue: $0) })
    else { throw DamagedBlob() }
    // Ignores a reason that a later version has added.
    self.init(
      SourceConnectivity(state, locality), reason: texts[2].wrapped.flatMap { OfflineReason(rawValue: $0) },
      lastContact: texts[3].wrapped.flatMap { Int64($0) })
  }
}

extension ClusterValues {
  /// The ids and values of the attributes, in turn.
  var stored: [UInt8] {
    var writer = TLVWriter()
    for entry in entries {
      writer.write(UInt64(entry.attribute.rawValue))
      writer.write(octets: entry.value)
    }
    return writer.finish()
  }

  init(stored bytes: [UInt8]) throws(TLVError) {
    self.init()
    let span = bytes.span.bytes
    var reader = TLVReader()
    while try reader.next(span) {
      let attribute = try AttributeID(from: &reader, span)
      guard try reader.next(span) else { throw .truncated }
      self[attribute] = try reader.octets(span)
    }
  }
}
