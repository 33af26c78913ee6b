internal import MatterClusters
public import MatterModel
internal import MatterProtocol

/// A fabric that a device is in.
public struct FabricEntry: Hashable, Sendable {
  public var index: FabricIndex
  public var fabricID: FabricID
  /// The device's node id there.
  public var nodeID: NodeID
  public var vendorID: VendorID
  public var label: String
  /// Whether it is this home's.
  public var isOurs: Bool
}

extension HomeSession {
  /// The fabrics that a device is in, ours among them.
  public func fabrics(of device: DeviceRecord) async throws(HomeError) -> [FabricEntry] {
    let path = OperationalCredentials.fabrics.path(on: .root)
    let report = try await read(device, [AttributePath(path)], isFabricFiltered: false)
    guard let value = report[path]?.value,
      let list = try? [OperationalCredentials.FabricDescriptorStruct](tlv: value)
    else { return [] }
    let ours = await controller.rootPublicKey
    return list.map {
      FabricEntry(
        index: $0.fabricIndex, fabricID: $0.fabricID, nodeID: $0.nodeID, vendorID: $0.vendorID, label: $0.label,
        isOurs: $0.rootPublicKey.bytes == ours)
    }
  }
}
