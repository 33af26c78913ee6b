internal import MatterClusters
internal import MatterProtocol

/// The software of a device, and the state of its update.
package struct SoftwareStatus: Hashable, Sendable {
  package var version: UInt32
  package var text: String
  /// In the words of the standard, such as `Downloading`.
  package var state: String
  /// Whether no update is in progress.
  package var isIdle: Bool
  /// The progress of the download in percent; nil if it is not known.
  package var progress: UInt8?
}

// Software updates of devices. Matter Core § 11.20.
extension Home {
  /// Announces a provider of software to a device, which queries it at once. All nodes of the home get access to the
  /// provider.
  /// - Throws: `refused` if one of them lacks the cluster for software updates.
  package func announce(_ provider: DeviceRecord, to device: DeviceRecord) async throws(HomeError) {
    guard let endpoint = provider.endpoint(serving: OtaSoftwareUpdateProvider.id) else {
      throw HomeError(.refused, "provides no software", device: provider.name)
    }
    guard device.endpoint(serving: OtaSoftwareUpdateRequestor.id) == .root else {
      throw HomeError(.refused, "requests no software updates", device: device.name)
    }
    let target = AccessControl.AccessControlTargetStruct(
      cluster: .value(OtaSoftwareUpdateProvider.id), endpoint: .value(endpoint), deviceType: .null)
    let entry = AccessEntry(privilege: .operate, authMode: .case, subjects: .null, targets: .value([target]))
    _ = try await grant(entry, on: provider)
    try await invoke(
      OtaSoftwareUpdateRequestor.announceOTAProvider,
      .init(
        providerNodeID: provider.nodeID, vendorID: provider.identity.vendorID ?? 0,
        announcementReason: .urgentUpdateAvailable, endpoint: endpoint),
      on: .root, of: device)
  }

  /// Reads the software of a device, and the state of its update.
  package func softwareStatus(of device: DeviceRecord) async throws(HomeError) -> SoftwareStatus {
    let (version, text) = (BasicInformation.softwareVersion, BasicInformation.softwareVersionString)
    let (state, progress) = (OtaSoftwareUpdateRequestor.updateState, OtaSoftwareUpdateRequestor.updateStateProgress)
    let paths = [
      version.path(on: .root), text.path(on: .root), state.path(on: .root), progress.path(on: .root),
    ]
    let report = try await read(device, paths.map { AttributePath($0) })
    func value<Value: ModelValue>(_: Value.Type, _ path: ConcreteAttributePath) -> Value? {
      report[path].flatMap { try? Value(tlv: $0.value) }
    }
    guard let number = value(UInt32.self, paths[0]) else {
      throw HomeError(.refused, "does not report its software version", device: device.name)
    }
    let update = value(OtaSoftwareUpdateRequestor.UpdateState.self, paths[2]) ?? .unknown
    return SoftwareStatus(
      version: number, text: value(String.self, paths[1]) ?? "", state: "\(update)", isIdle: update == .idle,
      progress: value(Nullable<UInt8>.self, paths[3])?.wrapped)
  }
}
