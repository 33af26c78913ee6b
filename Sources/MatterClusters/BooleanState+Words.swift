package import MatterModel

extension BooleanState {
  /// Returns the meaning of StateValue for a device type; nil if it has none. Device Library § 7.
  package static func words(_ type: DeviceTypeID) -> (whenTrue: String, whenFalse: String)? {
    switch type {
    case DeviceTypes.contactSensor.id: ("closed", "open")
    case DeviceTypes.waterLeakDetector.id: ("leak", "dry")
    case DeviceTypes.rainSensor.id: ("rain", "dry")
    case DeviceTypes.waterFreezeDetector.id: ("freezing", "not freezing")
    default: nil
    }
  }
}
