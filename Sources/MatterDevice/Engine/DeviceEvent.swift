public import MatterModel

/// An event that a device emits to its driver.
public enum DeviceEvent: Hashable, Sendable {
  /// An attribute changed, from any source. The value is one element with an anonymous tag.
  case attributeChanged(ConcreteAttributePath, [UInt8])
  /// An administrator finished commissioning the device into a fabric.
  case commissioned(FabricIndex)
  /// A fabric was removed with all its data.
  case fabricRemoved(FabricIndex)
  /// A window opened for the passcode of the label (`isEnhanced` false) or for one that an administrator generated.
  case windowOpened(isEnhanced: Bool)
  case windowClosed
  /// A fail-safe expired or was disarmed, and its changes were undone.
  case rolledBack
  /// The endpoint starts or stops identifying itself.
  case identify(EndpointID, isIdentifying: Bool)
  /// The device is to restart, to run new software.
  case restart
  /// An intermittently connected device entered active mode or idle mode.
  case modeChanged(isActive: Bool)
  /// A log message.
  case note(String)
}
