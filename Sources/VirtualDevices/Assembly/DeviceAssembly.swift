import MatterClusters
import MatterDevice
package import MatterModel
import MatterProtocol

/// Assembles the configuration, the endpoints and the cluster servers of a device from its definition.
package enum DeviceAssembly {
  static func configuration(
    of device: DeviceDefinition, identity: DeviceIdentity, port: UInt16, addresses: [IPAddress] = []
  ) -> DeviceConfiguration {
    var configuration = DeviceConfiguration(
      vendorName: device.vendorName, vendorID: VendorID(device.vendorID), productName: device.productName,
      productID: device.productID, nodeLabel: clipped(device.name, to: 32), serialNumber: device.serialNumber,
      uniqueID: device.uniqueID, discriminator: device.discriminator,
      passcode: PASEParameters(
        passcode: device.passcode, salt: identity.salt, iterations: DeviceIdentity.iterations),
      attestation: identity.attestation, port: port, hostName: hostName(device))
    configuration.enableKey = device.enableKey
    configuration.servesProvisional = device.servesProvisional
    configuration.resumesSubscriptions = device.resumesSubscriptions
    configuration.sleep = device.sleep
    if let room = device.room {
      configuration.fixedLabels = [.init(label: "room", value: clipped(room, to: 16))]
    }
    configuration.networkName = networkName
    configuration.networkInterfaces = networkInterfaces(of: device, addresses: addresses)
    return configuration
  }

  private static let networkName = "eth0"

  /// Returns the device's one interface for General Diagnostics.
  static func networkInterfaces(
    of device: DeviceDefinition, addresses: [IPAddress]
  ) -> [GeneralDiagnostics.NetworkInterface] {
    [
      GeneralDiagnostics.NetworkInterface(
        name: networkName, isOperational: !addresses.isEmpty, offPremiseServicesReachableIPv4: .null,
        offPremiseServicesReachableIPv6: .null, hardwareAddress: OctetString(hardwareAddress(device)),
        ipv4Addresses: addresses.filter { !$0.isIPv6 }.map { OctetString($0.bytes) },
        ipv6Addresses: addresses.filter(\.isIPv6).map { OctetString($0.bytes) }, type: .ethernet)
    ]
  }

  /// Returns a locally administered MAC address derived from the unique ID.
  static func hardwareAddress(_ device: DeviceDefinition) -> [UInt8] {
    let digits = Array(device.uniqueID.utf8.prefix(10))
    return [0x02]
      + stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
      }
  }

  /// Returns the same address as the host name. Matter Core § 4.3.1.1.
  static func hostName(_ device: DeviceDefinition) -> String {
    "02" + device.uniqueID.prefix(10).uppercased()
  }

  /// Truncates a text to a number of UTF-8 bytes, without splitting a character.
  static func clipped(_ text: String, to count: Int) -> String {
    var text = text
    while text.utf8.count > count { text.removeLast() }
    return text
  }

  /// Returns the cluster servers of each kind of device.
  /// - Parameter device: the device that determines the features of some kinds; nil for the default features.
  static func servers(of kind: DeviceKind, _ device: DeviceDefinition? = nil) -> [ClusterServer] {
    let common = [GroupsServer.make(), ScenesManagementServer.make()]
    switch kind {
    case .bridge: return []
    case .genericSwitch:
      return [
        IdentifyServer.make(.visibleIndicator), SwitchServer.make(features: (device?.switchKind ?? .full).features),
      ]
    case .doorbell: return sensor(SwitchServer.make(features: SwitchKind.release.features))
    case .onOffLightSwitch: return sensor(BindingServer.make())
    case .dimmerSwitch, .colorDimmerSwitch, .controlBridge: return sensor(BindingServer.dial())
    case .onOffSensor: return sensor(BindingServer.detector())
    case .extendedColorLight, .colorTemperatureLight:
      let color = kind == .extendedColorLight ? ColorControlServer.everything : [ColorControl.colortemperature]
      return common + [
        IdentifyServer.make(.lightOutput), OnOffServer.make(), LevelControlServer.make(),
        ColorControlServer.make(features: color),
      ]
    case .dimmableLight:
      return common + [IdentifyServer.make(.lightOutput), OnOffServer.make(), LevelControlServer.make()]
    case .onOffLight:
      return common + [IdentifyServer.make(.lightOutput), OnOffServer.make()]
    case .onOffPlugInUnit:
      return common + [IdentifyServer.make(.visibleIndicator), OnOffServer.make()]
    case .dimmablePlugInUnit:
      return common + [IdentifyServer.make(.visibleIndicator), OnOffServer.make(), LevelControlServer.make()]
    case .contactSensor: return sensor(SensorServers.booleanState(true))
    case .waterFreezeDetector, .waterLeakDetector, .rainSensor:
      return sensor(SensorServers.booleanState(false)) + [SensorAlarmServer.make()]
    case .occupancySensor: return sensor(SensorServers.occupancySensing())
    case .lightSensor: return sensor(SensorServers.illuminance())
    case .temperatureSensor: return sensor(SensorServers.temperature())
    case .humiditySensor: return sensor(SensorServers.humidity())
    case .pressureSensor: return sensor(SensorServers.pressure())
    case .flowSensor: return sensor(SensorServers.flow())
    case .soilSensor: return sensor(SensorServers.soilMoisture())
    case .doorLock: return doorLock
    case .otaProvider: return [SoftwareProviderServer.make(device?.images ?? [])]
    default:
      // Kinds are listed in DeviceKind; a test checks that each has its servers.
      return ownUnits(of: kind).map { $0[0].servers } ?? alarmServers(of: kind)
        ?? climateServers(of: kind, device?.climate ?? ClimateDefinition()) ?? coverServers(of: kind, device?.motors)
    }
  }

  /// Returns the cluster servers of a device: those of its kind, and the optional ones that its definition names.
  static func servers(of device: DeviceDefinition) -> [ClusterServer] {
    let named = (device.initialValues + device.behaviors.map(\.attribute)).compactMap { $0.target?.cluster }
    return servers(of: device.kind, device) + optionalServers(of: device.kind).filter { named.contains($0.id) }
  }

  static func sensor(_ server: ClusterServer) -> [ClusterServer] {
    [IdentifyServer.make(.visibleIndicator), server]
  }
}

/// Information about the kinds of simulated devices.
public enum SimulatedDevice {
  /// Returns the names of the clusters that the application endpoints serve, and that of the battery if each device of
  /// the kind has one.
  public static func clusterNames(of kind: DeviceKind) -> [String] {
    let servers = DeviceAssembly.ownUnits(of: kind)?.flatMap(\.servers) ?? DeviceAssembly.servers(of: kind)
    let power = DeviceAssembly.usualBattery(of: kind) == nil ? [] : [PowerSource.name]
    return Set(servers.map { $0.cluster.name } + power + [Descriptor.name]).sorted()
  }

  /// Returns the clusters of each application endpoint of a device.
  package static func clusters(of device: DeviceDefinition) -> [[any Cluster.Type]] {
    DeviceAssembly.units(of: device).map { $0.servers.map(\.cluster) + [Descriptor.self] }
  }

  /// Returns the clusters that the engine adds to the root endpoint of a device, except Descriptor.
  package static func rootClusters(of device: DeviceDefinition) -> [any Cluster.Type] {
    DeviceAssembly.rootServers(of: device).map(\.cluster)
  }

  /// Returns whether a device has a battery.
  package static func hasBattery(_ device: DeviceDefinition) -> Bool { DeviceAssembly.battery(of: device) != nil }

  /// Returns the parts of the device that no attribute describes, such as a door, with their states.
  /// - Parameter endpoint: the number of an application endpoint within the device, from 1; nil: all.
  public static func parts(
    of device: DeviceDefinition, on endpoint: UInt16? = nil
  ) -> [(name: String, states: [String])] {
    DeviceAssembly.endpoints(of: device).filter { endpoint == nil || $0.id.rawValue == endpoint }
      .flatMap { $0.servers.flatMap(\.followedParts) }
  }
}
