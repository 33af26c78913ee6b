public import MatterModel

/// The types of a device, one for each endpoint and type, as they were at one moment.
/// See <doc:TheHomeModel>, “Objects”.
public struct DeviceTypeCollection: Sendable, Sequence {
  let device: HomeDevice

  private var endpoints: [DeviceEndpoint] { device.source?.endpoints.sorted { $0.id < $1.id } ?? [] }

  /// In the order of endpoints, those of an endpoint in the order that it lists them.
  public func makeIterator() -> IndexingIterator<[AnyDeviceType]> {
    endpoints.flatMap { endpoint in
      endpoint.deviceTypes.map { AnyDeviceType(device, endpoint.id, $0) }
    }.makeIterator()
  }

  /// Types of all endpoints together.
  public var count: Int { endpoints.reduce(0) { $0 + $1.deviceTypes.count } }
  /// Whether the device has not told any type yet.
  public var isEmpty: Bool { count == 0 }

  // MARK: One type

  /// The type, nil if the device lacks it. Where several endpoints are of it, the first.
  public func get<T: HomeDeviceType>(_: T.Type) -> T? { get(T.deviceType.id).map { T($0) } }

  /// The type on an endpoint, nil if it is not of it.
  public func get<T: HomeDeviceType>(_: T.Type, on endpoint: EndpointID) -> T? {
    get(T.deviceType.id, on: endpoint).map { T($0) }
  }

  /// The type with a number, on an endpoint or on the first that is of it; nil if the device lacks it.
  public func get(_ type: DeviceTypeID, on endpoint: EndpointID? = nil) -> AnyDeviceType? {
    let found = endpoints.first { (endpoint == nil || $0.id == endpoint) && $0.deviceTypes.contains(type) }
    return found.map { AnyDeviceType(device, $0.id, type) }
  }

  /// The type on every endpoint that is of it.
  public func all<T: HomeDeviceType>(_: T.Type) -> [T] {
    endpoints.filter { $0.deviceTypes.contains(T.deviceType.id) }.map {
      T(AnyDeviceType(device, $0.id, T.deviceType.id))
    }
  }

  /// The type, nil if the device lacks it: the same as `get(_:)`, to be written in brackets.
  public subscript<T: HomeDeviceType>(_ type: T.Type) -> T? { self.get(type) }

  /// Whether any endpoint is of the type.
  public func contains<T: HomeDeviceType>(_: T.Type) -> Bool { contains(T.deviceType.id) }
  /// Whether any endpoint is of the type with this id.
  public func contains(_ type: DeviceTypeID) -> Bool { endpoints.contains { $0.deviceTypes.contains(type) } }

  // MARK: Families

  /// The types of a family, all of them: `types.all(in: .light)`.
  public func all(in family: DeviceFamily) -> [AnyDeviceType] { filter { family.contains($0.id.type) } }
  /// Whether any endpoint is of one of the family's types.
  public func contains(_ family: DeviceFamily) -> Bool {
    endpoints.contains { $0.deviceTypes.contains(where: family.contains) }
  }

  // MARK: Following

  /// A type as it is now, then once for each report that changed something in it: an attribute, its connectivity, its
  /// traits. A report that changed nothing gives nothing. Where several endpoints are of it, it is the first.
  ///
  /// Ends when the device has the type no more; for one that it lacks it ends at once, empty.
  public func subscribe<T: HomeDeviceType>(_ type: T.Type) -> DeviceUpdates<T> {
    updates { $0.types.get(type) }
  }

  /// The same for the type on one endpoint.
  public func subscribe<T: HomeDeviceType>(_ type: T.Type, on endpoint: EndpointID) -> DeviceUpdates<T> {
    updates { $0.types.get(type, on: endpoint) }
  }

  /// All types of the device, now and after each report that changed something in one of them. Ends with the device.
  public func subscribeAll() -> DeviceUpdates<DeviceTypeCollection> {
    DeviceUpdates(home: device.home, device: device.id, select: { $0.types }) { old, new, changed in
      guard old.device == new.device || old.elementsEqual(new, by: { $0.hasSameMetadata(as: $1) }) else { return true }
      if changed.isEmpty { return !old.elementsEqual(new, by: { $0.isSame(as: $1) }) }
      return changed.contains { old.differs(from: new, in: $0) }
    }
  }

  private func updates<T: HomeDeviceType>(_ select: @escaping @Sendable (HomeDevice) -> T?) -> DeviceUpdates<T> {
    DeviceUpdates(home: device.home, device: device.id, select: select) { old, new, changed in
      let endpoint = new.endpoint
      guard old.untyped.hasSameMetadata(as: new.untyped) else { return true }
      // Most reports are about attributes, and of few clusters: those alone are looked at then.
      if changed.isEmpty { return !old.untyped.isSame(as: new.untyped) }
      return changed.contains { path in
        path.endpoint == endpoint && old.untyped.device.types.differs(from: new.untyped.device.types, in: path)
      }
    }
  }

  /// Whether a cluster has other values.
  private func differs(from other: Self, in path: ClusterPath) -> Bool {
    device.values[path.endpoint, path.cluster] != other.device.values[path.endpoint, path.cluster]
  }
}
