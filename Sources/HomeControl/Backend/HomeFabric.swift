public import MatterModel

/// The home's fabric, and the node of its owner in it.
public struct HomeFabric: Hashable, Sendable, Codable {
  public var id: FabricID
  /// The compressed fabric id, which the names of its operational services contain. Matter Core § 4.3.2.2.
  public var compressedID: UInt64
  public var nodeID: NodeID
  /// The public key of the root certificate, 65 bytes, which identifies the fabric.
  public var rootPublicKey: [UInt8]
}
