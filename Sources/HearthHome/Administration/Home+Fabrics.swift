internal import MatterClusters
internal import MatterController
internal import MatterProtocol

/// A fabric that a device is commissioned into.
package struct FabricEntry: Hashable, Sendable {
  package var index: FabricIndex
  package var fabricID: FabricID
  /// The device's node id in the fabric.
  package var nodeID: NodeID
  package var vendorID: VendorID
  /// The label set by the fabric's administrator, at most 32 bytes.
  package var label: String
  /// Whether the fabric is this home's.
  package var isOurs: Bool
}

extension Home {
  /// The home's own fabric.
  package var fabric: HomeFabric { get async throws(HomeError) { try await backend.fabric } }

  /// Returns all fabrics of a device, including this home's.
  package func fabrics(of device: DeviceRecord) async throws(HomeError) -> [FabricEntry] {
    let attribute = OperationalCredentials.fabrics
    let report = try await read(device, [AttributePath(attribute.path(on: .root))], isFabricFiltered: false)
    let ours = try await backend.fabric.rootPublicKey
    return ((try? report.value(of: attribute, on: .root)) ?? []).map {
      FabricEntry(
        index: $0.fabricIndex, fabricID: $0.fabricID, nodeID: $0.nodeID, vendorID: $0.vendorID, label: $0.label,
        isOurs: $0.rootPublicKey.bytes == ours)
    }
  }

  /// Removes a device from another fabric.
  /// - Throws: `notFound` if the device is not in the fabric, `badArguments` for this home's own fabric.
  /// - Returns: the fabric that the device was removed from.
  package func removeFabric(_ index: FabricIndex, from device: DeviceRecord) async throws(HomeError) -> FabricEntry {
    let all = try await fabrics(of: device)
    guard let fabric = all.first(where: { $0.index == index }) else {
      throw HomeError(
        .notFound, "no fabric \(index); expected \(all.map { "\($0.index)" }.joined(separator: ", "))",
        device: device.name)
    }
    guard !fabric.isOurs else {
      throw HomeError(
        .badArguments, "fabric \(index) is this home's own; use `hearth remove` to remove the device from it",
        device: device.name)
    }
    try await invoke(OperationalCredentials.removeFabric, .init(fabricIndex: index), on: .root, of: device)
    return fabric
  }
}
