internal import MatterModel
internal import MatterProtocol

/// How records for session resumption are kept in the store, one for each peer. Matter Core § 4.14.2.2.1.
enum StoredResumption {
  static func prefix(_ fabric: FabricIndex) -> String { "resumption/\(fabric.rawValue)/" }

  static func change(_ record: ResumptionRecord) -> StoreChange {
    StoreChange(prefix(record.fabric) + String(record.peer.rawValue, radix: 16), Entry(record).tlv)
  }

  /// The records of fabrics that there are.
  static func records(in stored: StoredState, of fabrics: [Fabric]) -> [ResumptionRecord] {
    fabrics.flatMap { fabric in
      stored.filter { $0.key.hasPrefix(prefix(fabric.index)) }.sorted { $0.key < $1.key }.compactMap { _, value in
        guard let entry = try? Entry(tlv: value) else { return nil }
        return entry.record(of: fabric.index)
      }
    }
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

    func record(of fabric: FabricIndex) -> ResumptionRecord {
      ResumptionRecord(
        fabric: fabric, peer: peer, resumptionID: resumptionID.bytes, sharedSecret: sharedSecret.bytes, tags: tags)
    }
  }
}
