public import MatterModel

// HomeKit's contract. See the article “The home model”, “Delegates”.
//
// A message tells what somebody else did, or what a device reported: never what the client did itself, nor what a device
// reports because this client commanded it or wrote to it, see `OwnRequests`. The messages of one delegate come in order and
// one at a time: the next waits until the method has returned. All methods may be left out.

/// Told which homes there are.
public protocol HomeManagerDelegate: AnyObject, Sendable {
  /// Everything may be different: load it all again. Sent once after the first synchronisation, also where there is no home,
  /// and once after each ``HomeManager/resume()``.
  func homeManagerDidUpdateHomes(_ manager: HomeManager) async
  /// Another home is ``HomeManager/primaryHome`` now, or none is.
  func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async
  /// Somebody else made a home.
  func homeManager(_ manager: HomeManager, didAdd home: ManagedHome) async
  /// - Parameter home: as it was last.
  func homeManager(_ manager: HomeManager, didRemove home: ManagedHome) async
}

/// Told what changes in the homes of a manager.
public protocol HomeDelegate: AnyObject, Sendable {
  /// Somebody else gave the home another name: `home` has it.
  func homeDidUpdateName(_ home: ManagedHome) async
  /// Of a bridge, this is sent for each device behind it, and not for itself.
  func home(_ home: ManagedHome, didAdd accessory: HomeDevice) async
  /// - Parameter accessory: as it was last.
  func home(_ home: ManagedHome, didRemove accessory: HomeDevice) async
  /// - Parameter room: in which there is no device yet.
  func home(_ home: ManagedHome, didAdd room: Room) async
  /// What becomes of its devices was told before.
  /// - Parameter room: as it was last.
  func home(_ home: ManagedHome, didRemove room: Room) async
  /// Somebody else gave a room another name: `room` has it.
  func home(_ home: ManagedHome, didUpdateNameOf room: Room) async
  /// Sent beside ``AccessoryDelegate/accessoryDidUpdateName(_:)``, for who has only this delegate.
  func home(_ home: ManagedHome, didUpdateNameOf accessory: HomeDevice) async
  /// - Parameter room: where it is now; the room for the entire home, where nobody gave it another.
  func home(_ home: ManagedHome, didUpdate room: Room, for accessory: HomeDevice) async
  /// Another process follows the devices now, or this one, or nobody.
  func home(_ home: ManagedHome, didUpdate hubState: HubState) async
}

/// Told what changes in the devices of a manager's homes.
public protocol AccessoryDelegate: AnyObject, Sendable {
  /// Somebody else gave the device another name: `accessory` has it.
  func accessoryDidUpdateName(_ accessory: HomeDevice) async
  /// See ``HomeDevice/isReachable``.
  func accessoryDidUpdateReachability(_ accessory: HomeDevice) async
  /// It has other types or traits.
  func accessoryDidUpdateServices(_ accessory: HomeDevice) async
  /// - Parameters:
  ///   - attribute: of the device's node.
  ///   - value: one TLV element with an anonymous tag; nil: the device has the attribute no more.
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

/// Who follows the devices of a home.
public enum HubState: String, Hashable, Sendable, CaseIterable {
  /// Nobody, as far as this process knows: it does not keep the home up to date.
  case notAvailable
  /// Another process; this one reads what it writes down.
  case connected
  /// The one that asks.
  case thisProcess
}
