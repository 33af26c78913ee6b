internal import MatterClusters
internal import MatterDevice
package import MatterModel
internal import Runtime

// The devices of the definition on a node, and their endpoints.
extension VirtualDevice {
  /// A device of the definition on this node: this one, a bridged one or a part.
  package struct Place {
    /// The bridged device or the part; nil for the node's own device.
    package var bridged: DeviceDefinition?
    /// The endpoint of the device as a node; the first one of a part.
    package var node: EndpointID
    /// The application endpoints, one for each button or compartment; never empty.
    package var application: [EndpointID]
  }

  /// Returns the device with a path, or nil if it is not on this node.
  package func place(named path: String) -> Place? {
    if path == definition.path { return Place(node: definition) }
    return definition.bridged.first { $0.path == path }.map(place)
  }

  func place(of device: DeviceDefinition) -> Place {
    var numbers = numbers
    return Place(device, in: definition, &numbers)
  }

  /// Returns the endpoints to search for an element of a device.
  /// - Parameter number: the number of the endpoint within the device; nil: any.
  /// - Throws: `notFound` with the existing endpoints if the device has no such endpoint. Without power, this is not
  ///   checked.
  package func endpoints(_ number: UInt16?, of place: Place) throws(ControlError) -> [EndpointID] {
    let found = place.endpoints(number)
    guard let number, let host else { return found }
    let (exists, all) = host.perform { engine, _ in
      (
        found.contains { engine.value(Descriptor.serverList, on: $0) != nil },
        engine.value(Descriptor.partsList, on: .root) ?? []
      )
    }
    guard !exists else { return found }
    let numbers =
      place.bridged == nil ? [0] + all.sorted().map { Int($0.rawValue) } : Array(0...place.application.count)
    throw ControlError(.notFound, "it has no endpoint \(number); expected \(EndpointList.text(numbers))")
  }
}

extension VirtualDevice.Place {
  /// Creates the place of a node's own device.
  init(node device: DeviceDefinition) {
    (bridged, node) = (nil, .root)
    application = device.endpointNames.indices.map { EndpointID(UInt16(clamping: $0 + 1)) }
  }

  /// Creates the place of a bridged device or of a part.
  /// - Parameter whole: the bridge, or the device with the part.
  init(_ device: DeviceDefinition, in whole: DeviceDefinition, _ numbers: inout EndpointNumbers) {
    bridged = device
    if whole.kind == .bridge {
      (node, application) = numbers.endpoints(bridged: device)
    } else {
      application = numbers.endpoints(part: device)
      node = application.first ?? .root
    }
  }

  /// Returns the endpoints to search: the one with this number, or the node's endpoint and the application endpoints. The
  /// endpoints of a bridged device and of a part are numbered within it, with 0 for the first one or that of its node.
  package func endpoints(_ requested: UInt16?) -> [EndpointID] {
    guard let requested else { return [node] + application }
    guard bridged != nil else { return [EndpointID(requested)] }
    guard requested > 0 else { return [node] }
    let position = Int(requested) - 1
    return application.indices.contains(position) ? [application[position]] : []
  }
}

/// Lists of endpoints in messages.
package enum EndpointList {
  /// The number of endpoints that are listed; a bridge has hundreds.
  private static let limit = 8

  /// Returns “0, 1 or 2”.
  package static func text(_ numbers: some Collection<some BinaryInteger>, last: String = "or") -> String {
    let words = numbers.map { "\($0)" }
    return words.count > limit
      ? words.prefix(limit).joined(separator: ", ") + ", …" : DefinitionReader.list(words, last: last)
  }

  /// Returns “its endpoints are 0, 1 and 2”.
  package static func clause(_ numbers: some Collection<some BinaryInteger>) -> String {
    (numbers.count == 1 ? "its only endpoint is " : "its endpoints are ") + text(numbers, last: "and")
  }
}
