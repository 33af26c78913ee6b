// HomeKit's contract. See the article “The home model”, “Delegates”.
//
// A message reports a change by another client, or a report of a device that does not result from a request of this client,
// see `OwnRequests`. The messages to one delegate are in order, each after the previous method has returned. No method has
// a default implementation, so that a misspelled name is an error; a client adopts the protocols of the messages that it
// handles.

/// Receives changes of the list of homes that every client has to handle.
public protocol HomeManagerDelegate: AnyObject, Sendable {
  /// Everything may have changed and should be loaded again. Sent once after the first synchronization, even if there
  /// is no home, and once after each ``HomeManager/resume()``.
  func homeManagerDidUpdateHomes(_ manager: HomeManager) async
}

/// Also receives the individual changes of the list of homes.
public protocol HomeListDelegate: HomeManagerDelegate {
  /// ``HomeManager/primaryHome`` changed.
  func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async
  /// Another client added a home.
  func homeManager(_ manager: HomeManager, didAdd home: Structure) async
  /// Another client removed a home.
  /// - Parameter home: the home before its removal; its rooms and accessories are empty.
  func homeManager(_ manager: HomeManager, didRemove home: Structure) async
}

/// Receives added and removed devices of a home.
public protocol HomeDelegate: AnyObject, Sendable {
  /// A device was added. For a bridge this is sent for each bridged device, and not for the bridge itself.
  func home(_ home: Structure, didAdd accessory: HomeDevice) async
  /// A device was removed.
  /// - Parameter accessory: the device before its removal.
  func home(_ home: Structure, didRemove accessory: HomeDevice) async
}

/// Also receives changes of the rooms of a home.
public protocol HomeRoomDelegate: HomeDelegate {
  /// Another client added a room.
  /// - Parameter room: the new room, without devices.
  func home(_ home: Structure, didAdd room: Room) async
  /// Another client removed a room; moves of its devices were reported before.
  /// - Parameter room: the room before its removal.
  func home(_ home: Structure, didRemove room: Room) async
  /// Another client moved a device.
  /// - Parameter room: its new room; the room for the entire home if it is in no other.
  func home(_ home: Structure, didUpdate room: Room, for accessory: HomeDevice) async
}

/// Also receives changes of names in a home.
public protocol HomeNameDelegate: HomeDelegate {
  /// Another client renamed the home; `home` has the new name.
  func homeDidUpdateName(_ home: Structure) async
  /// Another client renamed a room; `room` has the new name.
  func home(_ home: Structure, didUpdateNameFor room: Room) async
  /// Another client renamed a device. Also sent as ``AccessoryDetailDelegate/accessoryDidUpdateName(_:)``.
  func home(_ home: Structure, didUpdateNameFor accessory: HomeDevice) async
}

/// Also receives changes of the process that follows the devices of a home.
public protocol HomeHubDelegate: HomeDelegate {
  /// The process that follows the devices changed.
  func home(_ home: Structure, didUpdate hubState: HubState) async
}

/// Receives changes of the state of a device.
public protocol AccessoryDelegate: AnyObject, Sendable {
  /// ``HomeDevice/isReachable`` changed.
  func accessoryDidUpdateReachability(_ accessory: HomeDevice) async
  /// An attribute changed.
  func accessory(_ accessory: HomeDevice, didUpdateValueFor attribute: AttributeValue) async
}

/// Also receives changes of the description of a device.
public protocol AccessoryDetailDelegate: AccessoryDelegate {
  /// Another client renamed the device; `accessory` has the new name.
  func accessoryDidUpdateName(_ accessory: HomeDevice) async
  /// The types or traits of the device changed.
  func accessoryDidUpdateServices(_ accessory: HomeDevice) async
}
