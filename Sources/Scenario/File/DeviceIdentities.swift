internal import HearthHome
internal import MatterModel
internal import VirtualDevices

/// The devices of a definition as a home knows them, by path: by their unique IDs, since a home may rename them. A part of a
/// device is some endpoints of that device.
struct DeviceIdentities: Sendable {
  private var uniqueIDs: [String: String] = [:]
  private var parts: [String: [EndpointID]] = [:]
  /// The paths of devices whose node, if it is bridged, has another endpoint than their first button.
  private var buttons: Set<String> = []

  init(_ devices: [DeviceDefinition] = []) {
    for device in devices where uniqueIDs[device.path] == nil { uniqueIDs[device.path] = device.uniqueID }
    for device in devices {
      if device.buttons.count > 1 { buttons.insert(device.path) }
      for (part, endpoints) in device.partEndpoints {
        uniqueIDs[part.path] = device.uniqueID
        parts[part.path] = endpoints
      }
    }
  }

  /// Returns the unique ID of the home's device; nil for an unknown path.
  func uniqueID(of path: String) -> String? { uniqueIDs[path] }

  /// Returns the path of the device with a unique ID.
  func path(of uniqueID: String?) -> String? { uniqueIDs.first { $0.value == uniqueID && parts[$0.key] == nil }?.key }

  /// Returns the endpoint of a source with a number within the device at a path: 0 for the node, from 1 the application.
  func endpoint(_ number: UInt16, of path: String, _ source: DeviceSource) -> EndpointID? {
    let part = parts[path]
    guard source.id.isBridged || part != nil else { return EndpointID(number) }
    guard number > 0 else { return part?.first ?? source.mainEndpoint }
    let hasOwnNode = buttons.contains(path)
    let application =
      part ?? source.endpoints.map(\.id).filter { !hasOwnNode || $0 != source.mainEndpoint }.sorted()
    return application.indices.contains(Int(number) - 1) ? application[Int(number) - 1] : nil
  }

  /// Returns a source of the device with the endpoints that belong to a path: all of them, or those of a part.
  func source(_ source: DeviceSource, of path: String) -> DeviceSource {
    guard let part = parts[path] else { return source }
    var source = source
    source.endpoints.removeAll { !part.contains($0.id) }
    return source
  }
}
