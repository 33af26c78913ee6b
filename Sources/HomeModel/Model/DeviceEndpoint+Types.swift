internal import MatterClusters

extension DeviceEndpoint {
  /// The first known application type, else the first unknown type; see ``DeviceTypeMetadata/isPrimaryType``.
  package var primaryType: DeviceTypeID? {
    let candidates = applicationTypes
    return candidates.first { DeviceTypes.named($0) != nil } ?? candidates.first
  }

  /// The application types and the unknown types.
  package var applicationTypes: [DeviceTypeID] { deviceTypes.filter { !Self.utilityTypes.contains($0) } }

  package var hasApplicationType: Bool { deviceTypes.contains { !Self.utilityTypes.contains($0) } }

  /// The types of the classes Utility and Node. Device Library § 2.
  package static let utilityTypes = Set(DeviceTypes.all.filter { $0.deviceClass != .simple }.map(\.id))
}
