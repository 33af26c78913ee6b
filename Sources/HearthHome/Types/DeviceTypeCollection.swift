/// A snapshot of the types of a device, one for each endpoint and type. See <doc:TheHomeModel>, “Objects”.
///
/// Collections are equal if they have equal types in the same order.
public struct DeviceTypeCollection: Sendable, Sequence, Equatable, CustomStringConvertible {
  package let device: HomeDevice
  private var endpoints: [DeviceEndpoint] { device.endpoints }

  /// Iterates in the order of endpoints, and of the types that an endpoint lists.
  public func makeIterator() -> IndexingIterator<[AnyDeviceType]> {
    endpoints.flatMap { endpoint in
      endpoint.deviceTypes.map { AnyDeviceType(device, endpoint.id, $0) }
    }.makeIterator()
  }

  public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  /// The number of types of all endpoints.
  public var count: Int { endpoints.reduce(0) { $0 + $1.deviceTypes.count } }
  /// Whether no type of the device is known yet.
  public var isEmpty: Bool { count == 0 }
  /// `[0/Root Node, 1/Dimmable Light]`.
  public var description: String { "[\(map { "\($0.endpoint)/\($0.name)" }.joined(separator: ", "))]" }

  // MARK: One type

  /// Returns the type on the first endpoint that has it; nil if the device lacks it.
  public func get<T: HomeDeviceType>(_: T.Type) -> T? { get(T.deviceTypeID).map { T($0) } }

  /// Returns the type on an endpoint; nil if the endpoint lacks it.
  public func get<T: HomeDeviceType>(_: T.Type, on endpoint: EndpointID) -> T? {
    get(T.deviceTypeID, on: endpoint).map { T($0) }
  }

  /// Returns the type with a number, on an endpoint or on the first that has it; nil if the device lacks it.
  public func get(_ type: DeviceTypeID, on endpoint: EndpointID? = nil) -> AnyDeviceType? {
    let found = endpoints.first { (endpoint == nil || $0.id == endpoint) && $0.deviceTypes.contains(type) }
    return found.map { AnyDeviceType(device, $0.id, type) }
  }

  /// Returns the type on every endpoint that has it.
  public func all<T: HomeDeviceType>(_ type: T.Type) -> [T] { compactMap { $0.as(type) } }

  /// Returns the type on every endpoint that has it; the name of ``all(_:)`` in the Google Home APIs.
  public func getAll<T: HomeDeviceType>(of type: T.Type) -> [T] { all(type) }

  /// The type on the first endpoint that has it, as `get(_:)`.
  public subscript<T: HomeDeviceType>(_ type: T.Type) -> T? { self.get(type) }

  /// Whether any endpoint has the type.
  public func contains<T: HomeDeviceType>(_: T.Type) -> Bool { contains(T.deviceTypeID) }
  /// Whether any endpoint has the type with this id.
  public func contains(_ type: DeviceTypeID) -> Bool { endpoints.contains { $0.deviceTypes.contains(type) } }

  // MARK: Families

  /// Returns all types of a family: `types.all(in: .light)`.
  public func all(in family: DeviceFamily) -> [AnyDeviceType] { filter { family.contains($0.id.type) } }
  /// Whether any endpoint has a type of the family.
  public func contains(_ family: DeviceFamily) -> Bool {
    endpoints.contains { $0.deviceTypes.contains(where: family.contains) }
  }

  // MARK: Subscriptions

  /// Returns the current state of a type, and its state after each report that changes an attribute, its connectivity
  /// or its traits. For several endpoints with the type, it is the first.
  ///
  /// Ends when the type is removed from the device; for a type that the device lacks, at once.
  public func subscribe<T: HomeDeviceType>(_ type: T.Type) -> DeviceUpdates<T> {
    updates { $0.types.get(type) }
  }

  /// Subscribes to the type on one endpoint; see ``subscribe(_:)``.
  public func subscribe<T: HomeDeviceType>(_ type: T.Type, on endpoint: EndpointID) -> DeviceUpdates<T> {
    updates { $0.types.get(type, on: endpoint) }
  }

  /// Returns all types of the device, at once and after each report that changes one of them. Ends when the device is
  /// removed.
  public func subscribeAll() -> DeviceUpdates<DeviceTypeCollection> {
    DeviceUpdates(home: device.home, device: device.id, select: { $0.types }) { old, new, changed in
      guard old.device == new.device || old.elementsEqual(new, by: { $0.hasSameMetadata(as: $1) }) else { return true }
      if changed.isEmpty { return old != new }
      return changed.contains { old.differs(from: new, in: $0) }
    }
  }

  private func updates<T: HomeDeviceType>(_ select: @escaping @Sendable (HomeDevice) -> T?) -> DeviceUpdates<T> {
    DeviceUpdates(home: device.home, device: device.id, select: select) { old, new, changed in
      let endpoint = new.endpoint
      guard old.untyped.hasSameMetadata(as: new.untyped) else { return true }
      // Most reports change the attributes of few clusters; compare only those.
      if changed.isEmpty { return old != new }
      return changed.contains { path in
        path.endpoint == endpoint && old.untyped.device.types.differs(from: new.untyped.device.types, in: path)
      }
    }
  }

  private func differs(from other: Self, in path: ClusterPath) -> Bool {
    device.values[path.endpoint, path.cluster] != other.device.values[path.endpoint, path.cluster]
  }
}
