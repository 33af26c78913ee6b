internal import MatterModel
internal import MatterProtocol

/// Session resumption records in the store, one per peer. Matter Core § 4.14.2.2.1.
enum StoredResumption {
  static func prefix(_ fabric: FabricIndex) -> String { "resumption/\(fabric.rawValue)/" }

  static func change(_ record: ResumptionRecord) -> StoreChange {
    StoreChange(prefix(record.fabric) + String(record.peer.rawValue, radix: 16), record.stored)
  }

  /// Returns the records of existing fabrics.
  static func records(in stored: StoredState, of fabrics: [Fabric]) -> [ResumptionRecord] {
    fabrics.flatMap { fabric in
      stored.filter { $0.key.hasPrefix(prefix(fabric.index)) }.sorted { $0.key < $1.key }.compactMap { _, value in
        ResumptionRecord(stored: value, fabric: fabric.index)
      }
    }
  }
}
