// The members of HMHome, HMRoom and HMAccessory. Properties that depend on the client have the state of the
// ``HomeManager`` that the value comes from, which doesn't change while it is suspended; values from queries belong to no
// manager.

extension Structure {
  /// The ``id``.
  public var uniqueIdentifier: String { id }

  /// Whether this is the primary home; false outside of a ``HomeManager``, where ``Home/primaryStructure`` returns it.
  public var isPrimary: Bool { client?.manager?.primaryHome?.id == id }

  /// The rooms; empty outside of a ``HomeManager``, where ``Home/rooms()`` returns them.
  public var rooms: [Room] { client?.rooms { $0.structureID == id } ?? [] }

  /// The devices, including bridged ones, but not the bridges; empty outside of a ``HomeManager``, where
  /// ``Home/devices()`` returns them.
  public var accessories: [HomeDevice] { devices.filter { !$0.isBridge } }

  /// The devices that are only bridges; empty outside of a ``HomeManager``.
  public var bridges: [HomeDevice] { devices.filter(\.isBridge) }

  /// The process that follows the devices.
  public var homeHubState: HubState { client?.manager?.hubState ?? .notAvailable }

  /// The delegate of this home in its ``HomeManager``, held weakly. A value outside of a manager has none.
  public var delegate: (any HomeDelegate)? {
    get { client?.manager?.delegate(ofHome: id) }
    nonmutating set { client?.manager?.set(newValue, ofHome: id) }
  }

  /// Renames the home, as ``setName(_:)``.
  public func updateName(_ name: String) async throws(HomeError) { _ = try await setName(name) }

  /// Adds a room, as ``createRoom(name:)``.
  @discardableResult
  public func addRoom(withName name: String) async throws(HomeError) -> Room { try await createRoom(name: name) }

  /// Removes a room, as ``deleteRoom(_:)``.
  public func removeRoom(_ room: Room) async throws(HomeError) { try await deleteRoom(room) }

  /// Moves a device to a room, as ``move(device:to:)``.
  public func assignAccessory(_ accessory: HomeDevice, to room: Room) async throws(HomeError) {
    try await move(device: accessory.id, to: room.id)
  }

  /// Removes a device from the fabric and the home; a bridge with all its bridged devices.
  /// - Parameter force: removes the device even if it can't be reached.
  /// - Throws: ``HomeError`` `badArguments` for a device of another home, and for a bridged device, which can't be removed
  ///   separately.
  public func removeAccessory(_ accessory: HomeDevice, force: Bool = false) async throws(HomeError) {
    guard accessory.structureID == id else {
      throw HomeError(.badArguments, "the device is not in “\(name)”", device: accessory.name)
    }
    guard let (home, origin) = try home?.opened else { throw .withoutHome }
    try await home.remove(device: accessory.id, force: force, origin: origin)
  }

  private var client: HomeClient? { home as? HomeClient }
  private var devices: [HomeDevice] { client?.devices { $0.structureID == id } ?? [] }
}

extension Room {
  /// The ``id``.
  public var uniqueIdentifier: String { id }

  /// The devices in the room, without bridges; empty outside of a ``HomeManager``, where ``Home/devices()`` returns them.
  public var accessories: [HomeDevice] {
    let devices = (home as? HomeClient)?.devices { device in
      device.structureID == structureID && (isForEntireHome ? device.roomID == nil : device.roomID == id)
    }
    return devices?.filter { !$0.isBridge } ?? []
  }

  /// Renames the room, as ``setName(_:)``.
  public func updateName(_ name: String) async throws(HomeError) { _ = try await setName(name) }
}

extension HomeDevice {
  /// The ``id``.
  public var uniqueIdentifier: String { id }

  /// Whether the active source of the device is behind a bridge.
  public var isBridged: Bool { source?.id.isBridged ?? false }

  /// The vendor name; see ``identity``.
  public var manufacturer: String? { identity.vendorName }

  /// The product name; see ``identity``.
  public var model: String? { identity.productName }

  /// The version of the software as text; see ``identity``.
  public var firmwareVersion: String? { identity.softwareVersion }

  /// The delegate of this device in its ``HomeManager``, held weakly. A value outside of a manager has none.
  public var delegate: (any AccessoryDelegate)? {
    get { (home as? HomeClient)?.manager?.delegate(ofAccessory: id) }
    nonmutating set { (home as? HomeClient)?.manager?.set(newValue, ofAccessory: id) }
  }

  /// Renames the device, as ``setName(_:)``.
  public func updateName(_ name: String) async throws(HomeError) { _ = try await setName(name) }

  /// Lets all parts of the device identify themselves for ten seconds, for example by blinking.
  /// - Throws: ``HomeError`` `notFound` if the device has no Identify cluster.
  public func identify() async throws(HomeError) {
    let traits = traits.all(IdentifyTrait.self)
    guard !traits.isEmpty else { throw HomeError(.notFound, "the device has no Identify cluster", device: name) }
    for trait in traits { try await trait.identify(identifyTime: 10) }
  }
}
