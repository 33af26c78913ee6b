public import HomeModel
public import MatterModel

// HomeKit's contract. See the article “The home model”, “Delegates”.
//
// A message tells what somebody else did, or what a device reported: never what the client did itself, nor what a device
// reports because this client commanded it or wrote to it, see `OwnRequests`. The messages of one delegate come in order and
// one at a time: the next waits until the method has returned. All methods may be left out.

/// Receives changes of the list of homes.
public protocol HomeManagerDelegate: AnyObject, Sendable {
  /// Everything may have changed and should be loaded again. Sent once after the first synchronization, even if there
  /// is no home, and once after each ``HomeManager/resume()``.
  func homeManagerDidUpdateHomes(_ manager: HomeManager) async
  /// ``HomeManager/primaryHome`` changed.
  func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async
  /// Another client added a home.
  func homeManager(_ manager: HomeManager, didAdd home: ManagedHome) async
  /// Another client removed a home.
  /// - Parameter home: the home before its removal.
  func homeManager(_ manager: HomeManager, didRemove home: ManagedHome) async
}

/// Receives changes within the homes of a manager.
public protocol HomeDelegate: AnyObject, Sendable {
  /// Another client renamed the home; `home` has the new name.
  func homeDidUpdateName(_ home: ManagedHome) async
  /// A device was added. For a bridge this is sent for each bridged device, and not for the bridge itself.
  func home(_ home: ManagedHome, didAdd accessory: HomeDevice) async
  /// A device was removed.
  /// - Parameter accessory: the device before its removal.
  func home(_ home: ManagedHome, didRemove accessory: HomeDevice) async
  /// Another client added a room.
  /// - Parameter room: the new room, without devices.
  func home(_ home: ManagedHome, didAdd room: Room) async
  /// Another client removed a room; moves of its devices were reported before.
  /// - Parameter room: the room before its removal.
  func home(_ home: ManagedHome, didRemove room: Room) async
  /// Another client renamed a room; `room` has the new name.
  func home(_ home: ManagedHome, didUpdateNameOf room: Room) async
  /// Another client renamed a device. Also sent as ``AccessoryDelegate/accessoryDidUpdateName(_:)``.
  func home(_ home: ManagedHome, didUpdateNameOf accessory: HomeDevice) async
  /// Another client moved a device.
  /// - Parameter room: its new room; the room for the entire home if it is in no other.
  func home(_ home: ManagedHome, didUpdate room: Room, for accessory: HomeDevice) async
  /// The process that follows the devices changed.
  func home(_ home: ManagedHome, didUpdate hubState: HubState) async
}

/// Receives changes of the devices of a manager's homes.
public protocol AccessoryDelegate: AnyObject, Sendable {
  /// Another client renamed the device; `accessory` has the new name.
  func accessoryDidUpdateName(_ accessory: HomeDevice) async
  /// ``HomeDevice/isReachable`` changed.
  func accessoryDidUpdateReachability(_ accessory: HomeDevice) async
  /// The types or traits of the device changed.
  func accessoryDidUpdateServices(_ accessory: HomeDevice) async
  /// An attribute changed.
  /// - Parameters:
  ///   - attribute: the path on the device's node.
  ///   - value: one TLV element with an anonymous tag; nil: the attribute was removed.
  func accessory(
    _ accessory: HomeDevice, didUpdate attribute: ConcreteAttributePath, to value: [UInt8]?
  ) async
}

extension HomeManagerDelegate {
  public func homeManagerDidUpdateHomes(_ manager: HomeManager) async {}
  public func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async {}
  public func homeManager(_ manager: HomeManager, didAdd home: ManagedHome) async {}
  public func homeManager(_ manager: HomeManager, didRemove home: ManagedHome) async {}
}

extension HomeDelegate {
  public func homeDidUpdateName(_ home: ManagedHome) async {}
  public func home(_ home: ManagedHome, didAdd accessory: HomeDevice) async {}
  public func home(_ home: ManagedHome, didRemove accessory: HomeDevice) async {}
  public func home(_ home: ManagedHome, didAdd room: Room) async {}
  public func home(_ home: ManagedHome, didRemove room: Room) async {}
  public func home(_ home: ManagedHome, didUpdateNameOf room: Room) async {}
  public func home(_ home: ManagedHome, didUpdateNameOf accessory: HomeDevice) async {}
  public func home(_ home: ManagedHome, didUpdate room: Room, for accessory: HomeDevice) async {}
  public func home(_ home: ManagedHome, didUpdate hubState: HubState) async {}
}

extension AccessoryDelegate {
  public func accessoryDidUpdateName(_ accessory: HomeDevice) async {}
  public func accessoryDidUpdateReachability(_ accessory: HomeDevice) async {}
  public func accessoryDidUpdateServices(_ accessory: HomeDevice) async {}
  public func accessory(
    _ accessory: HomeDevice, didUpdate attribute: ConcreteAttributePath, to value: [UInt8]?
  ) async {}
}
