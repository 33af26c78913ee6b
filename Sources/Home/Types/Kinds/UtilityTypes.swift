internal import MatterClusters
public import MatterModel

// What a device is besides: the utility types of the Device Library § 2, and Aggregator.

/// Root Node (0x0016).
public struct RootNodeDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.rootNode
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Power Source (0x0011).
public struct PowerSourceDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.powerSource
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// OTA Requestor (0x0012).
public struct OtaRequestorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.otaRequestor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// OTA Provider (0x0014).
public struct OtaProviderDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.otaProvider
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Aggregator (0x000E).
public struct AggregatorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.aggregator
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Bridged Node (0x0013).
public struct BridgedNodeDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.bridgedNode
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Electrical Sensor (0x0510).
public struct ElectricalSensorDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.electricalSensor
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Device Energy Management (0x050D).
public struct DeviceEnergyManagementDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.deviceEnergyManagement
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}

/// Secondary Network Interface (0x0019).
public struct SecondaryNetworkInterfaceDeviceType: HomeDeviceType {
  public static let deviceType = DeviceTypes.secondaryNetworkInterface
  public let untyped: AnyDeviceType
  public init(_ untyped: AnyDeviceType) { self.untyped = untyped }
}
