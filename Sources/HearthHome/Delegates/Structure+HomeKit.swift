// The properties of HMHome, HMRoom and HMAccessory that depend on the client. Values from a ``HomeManager`` return the
// state of this manager, which doesn't change while it is suspended. Values from queries belong to no manager.

extension Structure {
  /// The rooms; empty outside of a ``HomeManager``, where ``Home/rooms()`` returns them.
  public var rooms: [Room] { client?.rooms { $0.structureID == id } ?? [] }

  /// The devices, including bridged ones, but not the bridges; empty outside of a ``HomeManager``, where
  /// ``Home/devices()`` returns them.
  public var accessories: [HomeDevice] { devices.filter { !$0.isBridge } }

  /// The devices that are only bridges; empty outside of a ``HomeManager``.
  public var bridges: [HomeDevice] { devices.filter(\.isBridge) }

  /// The process that follows the devices.
  public var hubState: HubState { client?.manager?.hubState ?? .notAvailable }

  /// The delegate of this home in its ``HomeManager``, held weakly. A value outside of a manager has none.
  public var delegate: (any HomeDelegate)? {
    get { client?.manager?.delegate(ofHome: id) }
    nonmutating set { client?.manager?.set(newValue, ofHome: id) }
  }

  private var client: HomeClient? { home as? HomeClient }
  private var devices: [HomeDevice] { client?.devices { $0.structureID == id } ?? [] }
}

extension Room {
  /// The devices in the room, without bridges; empty outside of a ``HomeManager``, where ``Home/devices()`` returns them.
  public var accessories: [HomeDevice] {
    let devices = (home as? HomeClient)?.devices { device in
      device.structureID == structureID && (isForEntireHome ? device.roomID == nil : device.roomID == id)
    }
    return devices?.filter { !$0.isBridge } ?? []
  }
}

extension HomeDevice {
  /// The delegate of this device in its ``HomeManager``, held weakly. A value outside of a manager has none.
  public var delegate: (any AccessoryDelegate)? {
    get { (home as? HomeClient)?.manager?.delegate(ofAccessory: id) }
    nonmutating set { (home as? HomeClient)?.manager?.set(newValue, ofAccessory: id) }
  }
}
