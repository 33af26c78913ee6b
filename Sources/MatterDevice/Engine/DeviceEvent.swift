public import MatterModel

/// What a device tells whoever drives it.
public enum DeviceEvent: Hashable, Sendable {
  /// An attribute has another value now, whoever changed it. The value is one element with an anonymous tag.
  case attributeChanged(ConcreteAttributePath, [UInt8])
  /// An administrator finished commissioning the device into a fabric.
  case commissioned(FabricIndex)
  /// With all that belonged to it.
  case fabricRemoved(FabricIndex)
  /// The device can be commissioned, by the passcode of its label (`isEnhanced` false) or one made for the occasion.
  case windowOpened(isEnhanced: Bool)
  case windowClosed
  /// A fail-safe ran out, or was disarmed: what was done under it is undone.
  case rolledBack
  /// The endpoint was asked to make itself known, or to stop it.
  case identify(EndpointID, isIdentifying: Bool)
  /// A line for the log.
  case note(String)
}
