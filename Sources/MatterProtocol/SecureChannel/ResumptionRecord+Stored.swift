public import MatterModel

/// The stored form of a record. It omits the fabric, which is part of the store key.
extension ResumptionRecord {
  /// The record without its fabric, as TLV. It contains the shared secret.
  public var stored: [UInt8] { Entry(self).tlv }

  /// Decodes the encoding of ``stored``; nil if it is invalid.
  public init?(stored bytes: [UInt8], fabric: FabricIndex) {
    guard let entry = try? Entry(tlv: bytes), entry.resumptionID.bytes.count == 16, !entry.sharedSecret.bytes.isEmpty
    else { return nil }
    self.init(
      fabric: fabric, peer: entry.peer, resumptionID: entry.resumptionID.bytes,
      sharedSecret: entry.sharedSecret.bytes, tags: entry.tags)
  }

  private struct Entry: ModelStruct {
    var peer: NodeID = 0
    var resumptionID: OctetString = []
    var sharedSecret: OctetString = []
    var tags: [CASEAuthenticatedTag] = []
    static let fields: [Field<Self>] = [
      .init(0, "Peer", \.peer), .init(1, "ResumptionID", \.resumptionID), .init(2, "SharedSecret", \.sharedSecret),
      .init(3, "Tags", \.tags),
    ]

    init() {}

    init(_ record: ResumptionRecord) {
      peer = record.peer
      resumptionID = OctetString(record.resumptionID)
      sharedSecret = OctetString(record.sharedSecret)
      tags = record.tags
    }
  }
}
