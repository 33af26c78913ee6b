public import MatterModel

/// The state that lets the next CASE handshake with a peer resume the session without certificates. Matter Core §
/// 4.14.2.2.
public struct ResumptionRecord: Hashable, Sendable {
  /// The local index of the fabric shared with the peer.
  public var fabric: FabricIndex
  /// The operational node ID of the peer.
  public var peer: NodeID
  /// The 16 bytes by which the peer finds its record. They change with each session.
  public var resumptionID: [UInt8]
  /// The secret result of the handshake's ECDH, 32 bytes.
  public var sharedSecret: [UInt8]
  public var tags: [CASEAuthenticatedTag]

  /// Creates a record, for example from its stored values.
  init(
    fabric: FabricIndex, peer: NodeID, resumptionID: [UInt8], sharedSecret: [UInt8], tags: [CASEAuthenticatedTag]
  ) {
    self.fabric = fabric
    self.peer = peer
    self.resumptionID = resumptionID
    self.sharedSecret = sharedSecret
    self.tags = tags
  }
}

/// The resumption records of a node, at most one per fabric and peer.
struct ResumptionRecords: Sendable {
  /// The oldest first.
  private(set) var all: [ResumptionRecord]
  private let capacity: Int

  init(_ records: [ResumptionRecord] = [], capacity: Int) {
    all = records
    self.capacity = capacity
  }

  /// Returns the record for the next handshake with a peer, or nil if there is none.
  func record(fabric: FabricIndex, peer: NodeID) -> ResumptionRecord? {
    all.last { $0.fabric == fabric && $0.peer == peer }
  }

  /// Returns the record to which a peer refers, or nil if there is none.
  func record(resumptionID: [UInt8]) -> ResumptionRecord? { all.last { $0.resumptionID == resumptionID } }

  /// Stores a record, replacing the one for the same fabric and peer. If there is no capacity left, the oldest record is
  /// evicted.
  mutating func store(_ record: ResumptionRecord) {
    remove(fabric: record.fabric, peer: record.peer)
    if all.count >= capacity, !all.isEmpty { all.removeFirst() }
    all.append(record)
  }

  mutating func remove(fabric: FabricIndex, peer: NodeID) { all.removeAll { $0.fabric == fabric && $0.peer == peer } }

  mutating func remove(fabric: FabricIndex) { all.removeAll { $0.fabric == fabric } }
}
