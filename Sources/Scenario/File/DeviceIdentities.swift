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
  /// - Throws: `notFound` if the source has no such endpoint, or no longer.
  func endpoint(_ number: UInt16, of path: String, _ source: DeviceSource) throws(HomeError) -> EndpointID {
    let endpoints = endpoints(of: path, source)
    if let endpoint = endpoints[number] { return endpoint }
    // A node that has not been described yet.
    if source.endpoints.isEmpty, !source.id.isBridged, parts[path] == nil { return EndpointID(number) }
    throw HomeError(
      .notFound, "no endpoint \(number); expected \(EndpointList.text(endpoints.keys.sorted()))", device: path)
  }

  /// The endpoints of a source by their numbers within the device at a path.
  private func endpoints(of path: String, _ source: DeviceSource) -> [UInt16: EndpointID] {
    let known = source.endpoints.map(\.id)
    let part = parts[path]
    guard source.id.isBridged || part != nil else {
      return Dictionary(known.map { ($0.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
    }
    let hasOwnNode = buttons.contains(path)
    let application = part ?? known.filter { !hasOwnNode || $0 != source.mainEndpoint }.sorted()
    let all = [part?.first ?? source.mainEndpoint] + application
    var numbers: [UInt16: EndpointID] = [:]
    for (number, endpoint) in all.enumerated() where known.contains(endpoint) {
      numbers[UInt16(clamping: number)] = endpoint
    }
    return numbers
  }

  /// Returns a source of the device with the endpoints that belong to a path: all of them, or those of a part.
  func source(_ source: DeviceSource, of path: String) -> DeviceSource {
    guard let part = parts[path] else { return source }
    var source = source
    source.endpoints.removeAll { !part.contains($0.id) }
    return source
  }
}
