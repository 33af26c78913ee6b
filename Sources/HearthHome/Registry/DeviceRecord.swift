/// A device of the home with its names for users, and one of its sources.
package struct DeviceRecord: Hashable, Sendable {
  package var entry: DeviceEntry
  /// The selected source: the active source, or a source that is named by a target text.
  package var source: DeviceSource
  /// The name of the room; nil: none.
  package var room: String?
  /// The name for messages, with the room if another device of the home has the same name.
  package var label: String
  /// The attributes of clusters that several endpoints of a source serve. Empty where nothing depends on the endpoint.
  private var attributes: [SourceID: [ClusterPath: [AttributeID]]] = [:]

  /// Creates a record with the active source.
  /// - Returns: nil for a device without a source.
  package init?(_ entry: DeviceEntry, room: String?) {
    guard let source = entry.active else { return nil }
    self.init(entry, source, room: room)
  }

  package init(_ entry: DeviceEntry, _ source: DeviceSource, room: String?) {
    (self.entry, self.source, self.room, label) = (entry, source, room, entry.name)
  }

  /// Returns the record with the first source that satisfies a condition; nil if none does.
  package func with(source isIncluded: (DeviceSource) -> Bool) -> DeviceRecord? {
    entry.sources.first(where: isIncluded).map { source in modified(self) { $0.source = source } }
  }

  /// Returns the record with the first source that serves a cluster, if the selected one does not.
  package func serving(_ cluster: ClusterID) -> DeviceRecord {
    if endpoint(serving: cluster) != nil { return self }
    return with { $0.endpoints.contains { $0.servers.contains(cluster) } } ?? self
  }

  /// The id, constant while the device is in the home: `5`, or `7/3` for a bridged device.
  package var id: String { entry.id }
  /// The name in the home, which is not its NodeLabel.
  package var name: String { entry.name }
  /// The name with its room: `kitchen/lamp`.
  package var fullName: String { room.map { "\($0)/\(name)" } ?? name }

  // MARK: The selected source

  package var nodeID: NodeID { source.id.node }
  /// `.root` for a node; for a bridged device its endpoint.
  package var mainEndpoint: EndpointID { source.mainEndpoint }
  package var isBridged: Bool { source.id.isBridged }
  package var identity: DeviceIdentity { source.identity }
  package var endpoints: [DeviceEndpoint] { source.endpoints }
  /// The application endpoints: all but the root.
  package var applicationEndpoints: [DeviceEndpoint] { endpoints.filter { $0.id != .root } }

  /// Returns the endpoint for a cluster if none was named: the first that has it, with the root last.
  /// - Parameter attribute: an attribute that the endpoint has to have, if any has it.
  package func endpoint(serving cluster: ClusterID, having attribute: AttributeID? = nil) -> EndpointID? {
    let serving = (applicationEndpoints + endpoints.filter { $0.id == .root }).lazy
      .filter { $0.servers.contains(cluster) }.map(\.id)
    guard let attribute, let known = attributes[source.id] else { return serving.first }
    return serving.first { known[ClusterPath($0, cluster)]?.contains(attribute) == true } ?? serving.first
  }

  /// Returns the record with the attributes of its endpoints.
  func with(_ state: HomeState) -> DeviceRecord {
    var copy = self
    for source in entry.sources where source.endpoints.count > 2 {
      let counts = Dictionary(source.endpoints.flatMap(\.servers).map { ($0, 1) }, uniquingKeysWith: +)
      for endpoint in source.endpoints {
        for cluster in endpoint.servers where counts[cluster, default: 0] > 1 {
          let list = ConcreteAttributePath(endpoint.id, cluster, GlobalAttribute.attributeList)
          guard let value = state.value(source.id.node, list) else { continue }
          copy.attributes[source.id, default: [:]][ClusterPath(endpoint.id, cluster)] = try? [AttributeID](tlv: value)
        }
      }
    }
    return copy
  }
}

extension HomeDevice {
  /// The record of the device; nil without a source.
  package var record: DeviceRecord? { DeviceRecord(entry, room: room.flatMap { $0.id == roomID ? $0.name : nil }) }
}

extension HomeError {
  /// Returns the same error for this device, with its label.
  package func about(_ device: DeviceRecord) -> HomeError {
    modified(self) { if $0.device == nil || $0.device == device.name { $0.device = device.label } }
  }
}
