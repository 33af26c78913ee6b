package import CloudLink
package import HomeModel
internal import MatterClusters
internal import MatterModel

extension CloudDevice {
  /// Returns the cloud devices of a device: none, one or several.
  ///
  /// The cloud protocol has no endpoints. A sensor with other traits is merged with the previous one: temperature and
  /// humidity are one sensor. Each other endpoint is a separate device: an outlet of a power strip, the light of a fan.
  package static func all(of device: HomeDevice, room: String?, agentID: String?) -> [CloudDevice] {
    var result: [CloudDevice] = []
    for type in device.types where type.isPrimaryOfEndpoint {
      guard let cloudType = CloudMapping.type(of: type.id.type, type.traits) else { continue }
      let (names, attributes) = CloudMapping.traits(of: type.id.type, type.matterTraits)
      guard !names.isEmpty else { continue }
      let traits = names.map { "action.devices.traits.\($0)" }.sorted()
      let fullType = "action.devices.types.\(cloudType)"
      if let index = result.firstIndex(where: {
        $0.type == fullType && cloudType == "SENSOR" && Set($0.traits).isDisjoint(with: traits)
      }) {
        result[index].traits = (result[index].traits + traits).sorted()
        result[index].attributes.add(attributes)
      } else {
        let part = result.isEmpty ? "" : ":\(type.endpoint)"
        result.append(CloudDevice(part, fullType, traits, attributes, device, room: room, agentID: agentID))
      }
    }
    if !result.isEmpty, let battery = CloudMapping.battery(device) {
      result[0].traits = (result[0].traits + ["action.devices.traits.\(battery.name)"]).sorted()
      result[0].attributes.queryOnlyEnergyStorage = true
      result[0].attributes.isRechargeable = battery.isRechargeable
    }
    return result
  }

  /// - Parameter part: the suffix of the id that distinguishes the cloud devices of one device; empty for the first.
  private init(
    _ part: String, _ type: String, _ traits: [String], _ attributes: CloudAttributes, _ device: HomeDevice,
    room: String?, agentID: String?
  ) {
    let identity = device.identity
    self.init(id: device.id + part, type: type, traits: traits, name: device.name, attributes: attributes)
    let label = identity.nodeLabel.flatMap { $0.isEmpty || $0 == device.name ? nil : $0 }
    let product = identity.productLabel ?? identity.productName
    name = Name(
      name: device.name, defaultNames: product.map { [$0] } ?? [], nicknames: label.map { [$0] } ?? [])
    willReportState = true
    roomHint = room
    deviceInfo = Info(
      manufacturer: identity.vendorName, model: identity.productName,
      hwVersion: device.basicInformation?.attributes.hardwareVersionString, swVersion: identity.softwareVersion)
    matterOriginalVendorID = identity.matterOriginalVendorID
    matterOriginalProductID = identity.matterOriginalProductID
    matterUniqueID = identity.matterUniqueID.isEmpty ? nil : identity.matterUniqueID
    otherDeviceIDs = device.entry.sources.filter { !$0.id.isCloud }.map {
      OtherID(agentID: agentID, deviceID: "\($0.id)\(part)")
    }
  }
}

extension CloudAttributes {
  /// Adds the attributes of another endpoint of the same device. Only sensors are merged.
  fileprivate mutating func add(_ other: CloudAttributes) {
    discreteOnlyOpenClose = discreteOnlyOpenClose ?? other.discreteOnlyOpenClose
    queryOnlyOpenClose = queryOnlyOpenClose ?? other.queryOnlyOpenClose
    queryOnlyTemperatureControl = queryOnlyTemperatureControl ?? other.queryOnlyTemperatureControl
    temperatureUnitForUX = temperatureUnitForUX ?? other.temperatureUnitForUX
    temperatureRange = temperatureRange ?? other.temperatureRange
    queryOnlyHumiditySetting = queryOnlyHumiditySetting ?? other.queryOnlyHumiditySetting
    occupancySensorConfiguration = occupancySensorConfiguration ?? other.occupancySensorConfiguration
    sensorStatesSupported = sensorStatesSupported ?? other.sensorStatesSupported
  }
}
