public import MatterModel

/// The form in which a node keeps a record over its restarts; the fabric is told apart by the key it is kept under.
extension ResumptionRecord {
  /// All but the fabric, as TLV; secret, since the shared secret is in it.
  public var stored: [UInt8] { Entry(self).tlv }

  /// Nil if the bytes are not what ``stored`` gives.
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
