import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import CloudLink

/// Translation between cloud traits and Matter clusters, in both directions, for each row of the table.
@Suite("Cloud translation") struct CloudTranslationTests {
  private func part(
    _ type: String, _ traits: [String], _ attributes: String = "{}", id: String = "d", name: String = "It",
    also: String = ""
  ) throws -> CloudDevice {
    let list = traits.map { "\"action.devices.traits.\($0)\"" }.joined(separator: ",")
    let text = """
      {"id":"\(id)","type":"action.devices.types.\(type)","traits":[\(list)],"name":{"name":"\(name)"},"attributes":\(attributes)\(also)}
      """
    return try CloudDevice(json(text))
  }

  private func json(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  /// Attribute values after the given states.
  private func values(_ part: CloudDevice, _ states: String...) throws -> NodeValues {
    var values = NodeValues()
    let node = CloudNode(node: .temporaryLocal(1), parts: [1: part])
    for attribute in node.description { values[attribute.path] = attribute.value }
    for state in states {
      for attribute in node.attributes(try json(state), of: part, on: 1) { values[attribute.path] = attribute.value }
    }
    return values
  }

  private func types(_ part: CloudDevice) throws -> [DeviceTypeID] {
    try values(part).value(Descriptor.deviceTypeList, on: 1)?.map(\.deviceType) ?? []
  }

  /// Cloud commands for a Matter command: `OnOff {"on":true}`.
  private func order<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), by part: CloudDevice, _ states: String...
  ) throws -> [String] {
    var values = NodeValues()
    for state in states {
      for attribute in part.attributes(try json(state), on: 1) { values[attribute.path] = attribute.value }
    }
    let data = CommandData(command.path(on: 1), fields: fields.tlv)
    return texts(try CloudOrder(data, on: 1, of: part, values))
  }

  private func texts(_ order: CloudOrder) -> [String] {
    order.executions.map { execution in
      let name = execution["command"]?.text?.split(separator: ".").last ?? ""
      return ([String(name)] + ["params", "challenge"].compactMap { execution[$0]?.description }).joined(separator: " ")
    }
  }

  private let range = #""colorTemperatureRange":{"temperatureMinK":2000,"temperatureMaxK":6535}"#

  // MARK: Descriptions

  @Test func derivesDeviceTypes() throws {
    let colors = #"{"colorModel":"hsv"}"#
    let table: [(CloudDevice, DeviceType)] = [
      (try part("LIGHT", ["OnOff"]), DeviceTypes.onOffLight),
      (try part("LIGHT", ["OnOff", "Brightness"]), DeviceTypes.dimmableLight),
      (try part("LIGHT", ["OnOff", "Brightness", "ColorSetting"], "{\(range)}"), DeviceTypes.colorTemperatureLight),
      (try part("LIGHT", ["OnOff", "Brightness", "ColorSetting"], colors), DeviceTypes.extendedColorLight),
      (try part("OUTLET", ["OnOff"]), DeviceTypes.onOffPlugInUnit),
      (try part("OUTLET", ["OnOff", "Brightness"]), DeviceTypes.dimmablePlugInUnit),
      (try part("SWITCH", ["OnOff"]), DeviceTypes.mountedOnOffControl),
      (try part("COFFEE_MAKER", ["OnOff"]), DeviceTypes.mountedOnOffControl),
      (try part("LOCK", ["LockUnlock"]), DeviceTypes.doorLock),
      (try part("THERMOSTAT", ["TemperatureSetting"]), DeviceTypes.thermostat),
      (try part("FAN", ["OnOff", "FanSpeed"], #"{"supportsFanSpeedPercent":true}"#), DeviceTypes.fan),
      (try part("BLINDS", ["OpenClose"]), DeviceTypes.windowCovering),
      (try part("DOOR", ["OpenClose"], #"{"queryOnlyOpenClose":true}"#), DeviceTypes.contactSensor),
      (try part("SENSOR", ["OccupancySensing"]), DeviceTypes.occupancySensor),
      (
        try part("SENSOR", ["TemperatureControl"], #"{"queryOnlyTemperatureControl":true}"#),
        DeviceTypes.temperatureSensor
      ),
      (try part("SENSOR", ["HumiditySetting"], #"{"queryOnlyHumiditySetting":true}"#), DeviceTypes.humiditySensor),
      (
        try part(
          "SENSOR", ["SensorState"],
          #"{"sensorStatesSupported":[{"name":"WaterLeak","descriptiveCapabilities":{"availableStates":["leak"]}}]}"#),
        DeviceTypes.waterLeakDetector
      ),
    ]
    for (part, type) in table { #expect(try types(part) == [type.id], "\(part.json)") }
    for part in [
      try part("SPEAKER", ["OnOff", "Volume"]), try part("CAMERA", ["CameraStream"]),
      try part("OVEN", ["TemperatureControl"]),
    ] {
      #expect(part.clusters.isEmpty)
    }
  }

  @Test func fillsBasicInformation() throws {
    let name = String(repeating: "Ä", count: 20)
    let light = try part(
      "LIGHT", ["OnOff"],
      also: """
        ,"deviceInfo":{"manufacturer":"Maker & Sons","model":"L-1","swVersion":"2.4.1"},"matterUniqueId":"u",\
        "matterOriginalVendorId":"0x1","matterOriginalProductId":"0x8000","customData":{"a":[1,2.5,null]}
        """)
    let identity = DeviceIdentity(try values(light), of: .root)
    #expect(identity.vendorName == "Maker & Sons" && identity.productName == "L-1" && identity.nodeLabel == "It")
    #expect(identity.softwareVersion == "2.4.1" && identity.uniqueID == "u")
    #expect(identity.vendorID == 1 && identity.productID == 0x8000)
    #expect(light.request.description == #"{"id":"d","customData":{"a":[1,2.5,null]}}"#)
    let id = String(repeating: "u", count: 33)
    let long = try part(
      "LIGHT", ["OnOff"], name: name, also: ",\"matterUniqueId\":\"\(id)\",\"matterOriginalVendorId\":\"0x0\"")
    let cut = DeviceIdentity(try values(long), of: .root)
    #expect(cut.nodeLabel == String(name.prefix(16)) && cut.uniqueID == nil && cut.vendorID == nil)
  }

  @Test func ignoresInvalidFields() throws {
    let odd = try part(
      "LIGHT", ["OnOff", "ColorSetting"],
      #"{"colorModel":"hsv","colorTemperatureRange":{"temperatureMinK":"warm"},"x":1}"#,
      also: #","willReportState":"yes","deviceInfo":[],"matterUniqueId":null"#)
    #expect(odd.hasColors && odd.temperatures == nil)
    let half = try part("LIGHT", ["ColorSetting"], #"{"colorTemperatureRange":{"temperatureMinK":2200}}"#)
    #expect(half.temperatures == 2200...6500)
    let old = try part("THERMOSTAT", ["TemperatureSetting"], #"{"availableThermostatModes":"off,heat"}"#)
    #expect(old.thermostatModes == ["off", "heat"])
    for text in [#"{"id":"","type":"t","traits":[]}"#, "[]", "null", #"{"id":"d","type":"t","traits":[],"name":{}}"#] {
      #expect(throws: CloudDeviceProblem.self) { try CloudDevice(try json(text)) }
    }
    let sync =
      #"{"payload":{"devices":[{"id":1},{"id":"d","type":"t","traits":[],"name":{"name":"n"}},{"id":"d","type":"t","traits":[],"name":{"name":"m"}}]}}"#
    let (devices, problems) = try CloudIntent.devices(try json(sync))
    #expect(
      devices.map(\.name) == ["n"] && problems == ["a device: it has no id", "d: another one has its id"])
  }

  @Test func storesOnlyUsedMembers() throws {
    let long = String(repeating: "x", count: 5000)
    let light = try part(
      "LIGHT", ["OnOff"], #"{"commandOnlyOnOff":false,"colorModel":"hsv"}"#,
      also: ",\"willReportState\":true,\"customData\":\"\(long)\"")
    #expect(light.json["attributes"] == ["colorModel": "hsv"] && light.json["willReportState"] == nil)
    #expect(light.request == ["id": "d"])
    #expect(try CloudDevice(light.json) == light)
    #expect(throws: CloudDeviceProblem.self) { try part("LIGHT", ["OnOff"], name: long + long + long + long) }
  }

  @Test func sanitizesErrorCodes() throws {
    let answer = try json(#"{"payload":{"errorCode":"\u001b[31mno\n\u202e"}}"#)
    #expect(throws: CloudFailure.error("31mno")) { try CloudIntent.states(answer) }
    #expect(throws: CloudFailure.error("unknownError")) { try CloudIntent.states(try json(#"{"errorCode":{}}"#)) }
    #expect(throws: CloudFailure.self) { try CloudIntent.states(try json("null")) }
  }

  // MARK: States

  @Test func translatesStatesOfLights() throws {
    let light = try part("LIGHT", ["OnOff", "Brightness", "ColorSetting"], "{\"colorModel\":\"hsv\",\(range)}")
    let hue = try values(
      light,
      #"{"online":true,"on":true,"brightness":80,"color":{"spectrumHsv":{"hue":300,"saturation":0.75,"value":0.8}}}"#)
    #expect(hue.value(OnOff.onOff, on: 1) == true && hue.value(LevelControl.currentLevel, on: 1) == .value(203))
    #expect(hue.value(ColorControl.currentHue, on: 1) == 212 && hue.value(ColorControl.currentSaturation, on: 1) == 191)
    #expect(hue.value(ColorControl.colorMode, on: 1) == .currentHueAndCurrentSaturation)
    #expect(hue.value(ColorControl.colorTempPhysicalMinMireds, on: 1) == 153)
    #expect(hue.value(ColorControl.colorTempPhysicalMaxMireds, on: 1) == 500)
    let white = try values(light, #"{"color":{"temperatureK":2700}}"#)
    #expect(white.value(ColorControl.colorTemperatureMireds, on: 1) == 370)
    #expect(white.value(ColorControl.colorMode, on: 1) == .colorTemperatureMireds)
    #expect(
      try values(light, #"{"color":{"temperatureK":7396}}"#).value(ColorControl.colorTemperatureMireds, on: 1) == 153)
    let rgb = try values(light, #"{"color":{"spectrumRGB":65280}}"#)
    #expect(rgb.value(ColorControl.currentHue, on: 1) == 85 && rgb.value(ColorControl.currentSaturation, on: 1) == 254)
    // A light keeps its level when it is switched off.
    let off = try values(light, #"{"on":true,"brightness":50}"#, #"{"on":false,"brightness":0}"#)
    #expect(off.value(OnOff.onOff, on: 1) == false && off.value(LevelControl.currentLevel, on: 1) == .value(127))
    let nonsense = try values(
      light, #"{"on":"yes","brightness":1e300,"color":{"spectrumRgb":-1,"spectrumHsv":{"hue":"red"}}}"#)
    #expect(
      nonsense.value(OnOff.onOff, on: 1) == nil && nonsense.value(LevelControl.currentLevel, on: 1) == .value(254))
    #expect(nonsense.value(ColorControl.colorMode, on: 1) == nil)
  }

  @Test func translatesStatesOfOtherTypes() throws {
    let lock = try part("LOCK", ["LockUnlock"])
    #expect(try values(lock, #"{"isLocked":true}"#).value(DoorLock.lockState, on: 1) == .value(.locked))
    #expect(try values(lock, #"{"isLocked":false}"#).value(DoorLock.lockState, on: 1) == .value(.unlocked))
    #expect(try values(lock, #"{"isJammed":true}"#).value(DoorLock.lockState, on: 1) == .value(.notFullyLocked))
    let blind = try part("BLINDS", ["OpenClose"])
    #expect(
      try values(blind, #"{"openPercent":70}"#).value(WindowCovering.currentPositionLiftPercent100ths, on: 1)
        == .value(3000))
    let door = try part("DOOR", ["OpenClose"], #"{"queryOnlyOpenClose":true}"#)
    #expect(try values(door, #"{"openPercent":100}"#).value(BooleanState.stateValue, on: 1) == false)
    let room = try part(
      "SENSOR", ["TemperatureControl", "HumiditySetting", "OccupancySensing", "EnergyStorage"],
      #"{"queryOnlyTemperatureControl":true,"queryOnlyHumiditySetting":true}"#)
    let sensor = try values(
      room,
      """
      {"temperatureAmbientCelsius":-15.6,"humidityAmbientPercent":54.4,"occupancy":"OCCUPIED",\
      "capacityRemaining":[{"rawValue":80,"unit":"PERCENTAGE"}],"descriptiveCapacityRemaining":"HIGH"}
      """)
    #expect(sensor.value(TemperatureMeasurement.measuredValue, on: 1) == .value(-1560))
    #expect(sensor.value(RelativeHumidityMeasurement.measuredValue, on: 1) == .value(5440))
    #expect(sensor.value(OccupancySensing.occupancy, on: 1)?.rawValue == 1)
    #expect(sensor.value(PowerSource.batPercentRemaining, on: 0) == .value(160))
    #expect(sensor.value(Descriptor.serverList, on: 0)?.contains(PowerSource.id) == true)
    let climate = try part("THERMOSTAT", ["TemperatureSetting"], #"{"availableThermostatModes":["off","heat","cool"]}"#)
    let heat = try values(
      climate,
      #"{"thermostatMode":"heat","thermostatTemperatureAmbient":19.5,"thermostatTemperatureSetpoint":21}"#)
    #expect(heat.value(Thermostat.localTemperature, on: 1) == .value(1950))
    #expect(heat.value(Thermostat.systemMode, on: 1) == .heat)
    #expect(heat.value(Thermostat.occupiedHeatingSetpoint, on: 1) == 2100)
    #expect(heat.value(Thermostat.occupiedCoolingSetpoint, on: 1) == nil)
    let fan = try part("FAN", ["FanSpeed"], #"{"supportsFanSpeedPercent":true}"#)
    #expect(try values(fan, #"{"currentFanSpeedPercent":33.4}"#).value(FanControl.percentCurrent, on: 1) == 33)
  }

  // MARK: Commands

  @Test func translatesCommandsOfLights() throws {
    let light = try part("LIGHT", ["OnOff", "Brightness", "ColorSetting"], "{\"colorModel\":\"hsv\",\(range)}")
    #expect(try order(OnOff.on, by: light) == [#"OnOff {"on":true}"#])
    #expect(try order(OnOff.off, by: light) == [#"OnOff {"on":false}"#])
    #expect(try order(OnOff.toggle, by: light, #"{"on":true}"#) == [#"OnOff {"on":false}"#])
    #expect(throws: HomeError.self) { try order(OnOff.toggle, by: light) }
    func level(_ level: UInt8, _ options: LevelControl.Options = []) -> LevelControl.MoveToLevelRequest {
      .init(level: level, transitionTime: .null, optionsMask: options, optionsOverride: options)
    }
    let (on, off) = (#"{"on":true,"brightness":40}"#, #"{"on":false}"#)
    #expect(
      try order(LevelControl.moveToLevel, level(127), by: light, on) == [#"BrightnessAbsolute {"brightness":50}"#])
    // MoveToLevel does not switch the light on.
    #expect(try order(LevelControl.moveToLevel, level(127), by: light, off) == [])
    #expect(throws: HomeError.self) { try order(LevelControl.moveToLevel, level(127, .executeIfOff), by: light, off) }
    #expect(
      try order(LevelControl.moveToLevelWithOnOff, level(1), by: light, off)
        == [#"OnOff {"on":true}"#, #"BrightnessAbsolute {"brightness":1}"#])
    #expect(try order(LevelControl.moveToLevelWithOnOff, level(0), by: light, on) == [#"OnOff {"on":false}"#])
    func white(_ mireds: UInt16) -> ColorControl.MoveToColorTemperatureRequest {
      .init(colorTemperatureMireds: mireds, transitionTime: 0, optionsMask: [], optionsOverride: [])
    }
    #expect(
      try order(ColorControl.moveToColorTemperature, white(370), by: light, on)
        == [#"ColorAbsolute {"color":{"temperature":2703}}"#])
    #expect(
      try order(ColorControl.moveToColorTemperature, white(0), by: light, on)
        == [#"ColorAbsolute {"color":{"temperature":6535}}"#])
    let blue = ColorControl.MoveToHueAndSaturationRequest(
      hue: 169, saturation: 254, transitionTime: 0, optionsMask: [], optionsOverride: [])
    #expect(
      try order(ColorControl.moveToHueAndSaturation, blue, by: light, on)
        == [#"ColorAbsolute {"color":{"spectrumHSV":{"hue":239.5,"saturation":1,"value":0.4}}}"#])
    #expect(try order(ColorControl.moveToHueAndSaturation, blue, by: light, off) == [])
    let rgb = try part("LIGHT", ["OnOff", "ColorSetting"], #"{"colorModel":"rgb"}"#)
    let green = ColorControl.MoveToHueAndSaturationRequest(
      hue: 85, saturation: 254, transitionTime: 0, optionsMask: [], optionsOverride: [])
    let sent = try order(ColorControl.moveToHueAndSaturation, green, by: rgb)
    #expect(sent == [#"ColorAbsolute {"color":{"spectrumRGB":65282}}"#])
    // Commands without a cloud equivalent.
    #expect(throws: HomeError.self) { try order(OnOff.offWithEffect, by: light) }
    #expect(throws: HomeError.self) { try order(OnOff.on, by: try part("LOCK", ["LockUnlock"])) }
  }

  @Test func translatesCommandsAndWritesOfOtherTypes() throws {
    let lock = try part("LOCK", ["LockUnlock"])
    #expect(try order(DoorLock.lockDoor, by: lock) == [#"LockUnlock {"lock":true}"#])
    let pin = DoorLock.UnlockDoorRequest(pinCode: OctetString(Array("1234".utf8)))
    #expect(try order(DoorLock.unlockDoor, pin, by: lock) == [#"LockUnlock {"lock":false} {"pin":"1234"}"#])
    let blind = try part("BLINDS", ["OpenClose"])
    #expect(try order(WindowCovering.upOrOpen, by: blind) == [#"OpenClose {"openPercent":100}"#])
    var lift = WindowCovering.GoToLiftPercentageRequest()
    lift.liftPercent100thsValue = 3000
    #expect(try order(WindowCovering.goToLiftPercentage, lift, by: blind) == [#"OpenClose {"openPercent":70}"#])
    #expect(throws: HomeError.self) { try order(WindowCovering.stopMotion, by: blind) }
    let curtain = try part("CURTAIN", ["OpenClose", "StartStop"])
    #expect(try order(WindowCovering.stopMotion, by: curtain) == [#"StartStop {"start":false}"#])
    func write<C: Cluster, Value: ModelValue>(
      _ attribute: Attribute<C, Value>, _ value: Value, _ part: CloudDevice, _ state: String = "{}"
    ) throws -> [String] {
      let write = AttributeWrite(AttributePath(attribute.path(on: 1)), value: value.tlv)
      return texts(try CloudOrder(write, on: 1, of: part, try values(part, state)))
    }
    let climate = try part("THERMOSTAT", ["TemperatureSetting"], #"{"availableThermostatModes":["off","heat","cool"]}"#)
    #expect(try write(Thermostat.systemMode, .cool, climate) == [#"ThermostatSetMode {"thermostatMode":"cool"}"#])
    #expect(throws: HomeError.self) { try write(Thermostat.systemMode, .auto, climate) }
    #expect(
      try write(Thermostat.occupiedHeatingSetpoint, 2150, climate, #"{"thermostatMode":"heat"}"#)
        == [#"ThermostatTemperatureSetpoint {"thermostatTemperatureSetpoint":21.5}"#])
    // A cloud applies a set point to the current mode: a cooling set point must not heat.
    for state in [#"{"thermostatMode":"heat"}"#, #"{"thermostatMode":"off"}"#, "{}"] {
      #expect(throws: HomeError.self) { try write(Thermostat.occupiedCoolingSetpoint, 2600, climate, state) }
    }
    #expect(
      try write(Thermostat.occupiedCoolingSetpoint, 2600, climate, #"{"thermostatMode":"cool"}"#)
        == [#"ThermostatTemperatureSetpoint {"thermostatTemperatureSetpoint":26}"#])
    let both = try part("THERMOSTAT", ["TemperatureSetting"], #"{"availableThermostatModes":["off","heatcool"]}"#)
    let state =
      #"{"thermostatMode":"heatcool","thermostatTemperatureSetpointLow":20,"thermostatTemperatureSetpointHigh":25}"#
    #expect(
      try write(Thermostat.occupiedCoolingSetpoint, 2600, both, state) == [
        #"ThermostatTemperatureSetRange {"thermostatTemperatureSetpointLow":20,"thermostatTemperatureSetpointHigh":26}"#
      ])
    let fan = try part("FAN", ["FanSpeed"], #"{"supportsFanSpeedPercent":true}"#)
    #expect(try write(FanControl.percentSetting, .value(40), fan) == [#"SetFanSpeed {"fanSpeedPercent":40}"#])
    #expect(throws: HomeError.self) { try write(FanControl.percentSetting, .value(140), fan) }
    #expect(throws: HomeError.self) { try write(BasicInformation.nodeLabel, "x", lock) }
  }

  // MARK: Accounts

  @Test func validatesAddressesAndTokens() {
    for good in [
      "https://acme.example/fulfillment", "http://127.0.0.1:8123/api", "http://localhost/x", "http://[::1]:80/",
      "HTTPS://acme.example",
    ] {
      #expect((try? CloudAccount.checked(address: good)) == good)
    }
    for bad in [
      "http://acme.example/", "http://127.0.0.1.acme.example/", "http://localhost.acme.example/", "http://128.0.0.1/",
      "ftp://127.0.0.1/", "https://me:pw@acme.example/", "https://", "acme", "", "file:///etc/passwd",
      "http://me@127.0.0.1/", "https://acme.example:99999/", "https://acme.example/#part",
    ] {
      #expect(throws: HomeError.self, "\(bad)") { try CloudAccount.checked(address: bad) }
    }
    #expect((try? CloudAccount.checked(token: " abc\n")) == "abc")
    for bad in ["", "\n", "a b", "a\r\nX-Evil: 1", "ä", String(repeating: "a", count: 20_000)] {
      #expect(throws: HomeError.self) { try CloudAccount.checked(token: bad) }
    }
  }

  @Test func storesAccountWithDevices() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    _ = try database.addCloudAccount("Acme", address: "https://a.example", token: "t")
    let account = try #require(try database.storedCloudAccounts().first)
    let (first, second) = (try part("LIGHT", ["OnOff"], id: "a"), try part("LIGHT", ["OnOff"], id: "b"))
    let nodes = try #require(try database.keep([first, second], of: account))
    #expect(nodes.keys.allSatisfy(\.isTemporaryLocal) && nodes.count == 2)
    // The order of the devices does not change their nodes; the node id of a removed device is not reused.
    #expect(try database.keep([second, first], of: account) == nodes)
    try database.forget(["b"], of: "Acme")
    let again = try #require(try database.keep([first, second], of: account))
    #expect(Set(again.keys).intersection(nodes.keys).count == 1 && again.count == 2)
    #expect(try database.cloudNodes() == ["Acme": again])
    // Answers to a request with a replaced token, or for a removed account, are dropped.
    #expect(try database.addCloudAccount("ACME", address: "https://a.example", token: "u").name == "Acme")
    #expect(try database.keep([first], of: account) == nil)
    let now = try #require(try database.storedCloudAccounts().first)
    #expect(now.token == "u" && now.name == "Acme")
    _ = try database.removeCloudAccount("acme", origin: nil, at: 1)
    #expect(try database.keep([first], of: now) == nil && database.cloudAccounts().isEmpty)
    #expect(throws: HomeError.self) { try database.removeCloudAccount("acme", origin: nil, at: 1) }
  }
}
