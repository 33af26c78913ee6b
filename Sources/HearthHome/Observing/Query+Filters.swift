// Filters of queries. The filters of one query can be combined.

extension Query where Item == HomeDevice {
  /// Returns a query of the devices in a room, which may be the room for the entire home.
  public func `in`(_ room: Room) -> Self {
    filter { device in
      room.isForEntireHome
        ? device.roomID == nil && device.structureID == room.structureID : device.roomID == room.id
    }
  }

  /// Returns a query of the devices in a structure.
  public func `in`(_ structure: Structure) -> Self { filter { $0.structureID == structure.id } }

  /// Returns a query of the devices with a trait on any endpoint.
  public func having<C>(_ trait: Trait<C>.Type) -> Self { filter { $0.traits.contains(trait) } }

  /// Returns a query of the devices with a type on any endpoint.
  public func having<T: HomeDeviceType>(_ type: T.Type) -> Self { filter { $0.types.contains(type) } }

  /// Returns a query of the devices with a type of a family on any endpoint.
  public func having(_ family: DeviceFamily) -> Self { filter { $0.types.contains(family) } }

  /// Returns a query of the devices with exactly this name; there may be one in each room.
  public func named(_ name: String) -> Self { filter { $0.name == name } }
}

extension Query where Item == Structure {
  /// Returns a query of the structures with exactly this name, of which there is at most one.
  public func named(_ name: String) -> Self { filter { $0.name == name } }
}

extension Query where Item == Room {
  /// Returns a query of the rooms of a structure.
  public func `in`(_ structure: Structure) -> Self { filter { $0.structureID == structure.id } }

  /// Returns a query of the rooms with exactly this name; there may be one in each structure.
  public func named(_ name: String) -> Self { filter { $0.name == name } }
}

/// One device of a home, to read or observe: a sequence of its current value and its value after each change of its
/// metadata, without values while the home lacks the device. Ends when the home is closed.
public struct DeviceQuery: HomeUpdates {
  private let devices: Query<HomeDevice>

  init(_ id: String, of devices: Query<HomeDevice>) { self.devices = devices.filter { $0.id == id } }

  public func makeAsyncIterator() -> AsyncCompactMapSequence<CollectionSnapshots<HomeDevice>, HomeDevice>.Iterator {
    (devices.batched().compactMap { $0.first } as AsyncCompactMapSequence).makeAsyncIterator()
  }

  /// Returns the device in a collection, which is empty if the home lacks it; see ``Query/list(timeout:)``.
  public func list(timeout: Duration = .seconds(10)) async throws(HomeError) -> [HomeDevice] {
    try await devices.list(timeout: timeout)
  }

  /// Returns the collections of the device or of none; see ``Query/batched()``.
  public func batched() -> CollectionSnapshots<HomeDevice> { devices.batched() }

  /// Returns all further changes, including addition and removal; see ``Query/stream()``.
  public func stream() -> CollectionChanges<HomeDevice> { devices.stream() }
}
