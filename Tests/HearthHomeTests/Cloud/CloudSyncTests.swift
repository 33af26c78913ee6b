import CloudLink
import Foundation
import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import Testing

@Suite("Cloud identity") struct CloudSyncTests {
  private func sync(_ home: SampleHome, agentID: String? = nil) -> JSONValue {
    CloudSync.response(
      requestID: "ff36a3cc", agentUserID: "user-1", devices: home.devices,
      rooms: [Room(id: "r", name: "Kitchen", structureID: "s")], agentID: agentID)
  }

  private func devices(of home: SampleHome) -> [JSONValue] { sync(home)["payload"]?["devices"]?.array ?? [] }

  private func identity(_ edit: (inout DeviceIdentity) -> Void = { _ in }) -> DeviceIdentity {
    var identity = DeviceIdentity()
    identity.vendorID = 0xFFF1
    identity.productID = 0x8001
    identity.vendorName = "Acme"
    identity.productName = "Lamp 3"
    identity.nodeLabel = "desk"
    identity.uniqueID = "u-1"
    identity.softwareVersion = "1.4"
    edit(&identity)
    return identity
  }

  private func colorLight(_ identity: DeviceIdentity) -> SampleHome {
    let home = SampleHome()
    home.add(
      SourceID(5), name: "Lamp", room: "r", identity: identity,
      [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.extendedColorLight)])
    func global(_ cluster: ClusterID, _ value: UInt32) -> (ConcreteAttributePath, [UInt8]) {
      (ConcreteAttributePath(1, cluster, GlobalAttribute.featureMap), value.tlv)
    }
    home.report(
      5, (ColorControl.colorTempPhysicalMinMireds.path(on: 1), UInt16(153).tlv),
      (ColorControl.colorTempPhysicalMaxMireds.path(on: 1), UInt16(500).tlv),
      global(ColorControl.id, ColorControl.hueAndSaturation.mask | ColorControl.colortemperature.mask),
      (BasicInformation.hardwareVersionString.path(on: 0), "B".tlv))
    return home
  }

  @Test func encodesSyncResponse() throws {
    let expected = try JSONParser.parse(
      Array(
        """
        {
          "payload" : {
            "agentUserId" : "user-1",
            "devices" : [
              {
                "attributes" : {
                  "colorModel" : "hsv",
                  "colorTemperatureRange" : {
                    "temperatureMaxK" : 6536,
                    "temperatureMinK" : 2000
                  },
                  "commandOnlyBrightness" : false,
                  "commandOnlyColorSetting" : false,
                  "commandOnlyOnOff" : false
                },
                "deviceInfo" : {
                  "hwVersion" : "B",
                  "manufacturer" : "Acme",
                  "model" : "Lamp 3",
                  "swVersion" : "1.4"
                },
                "id" : "5",
                "matterOriginalProductId" : "0x8001",
                "matterOriginalVendorId" : "0xfff1",
                "matterUniqueId" : "u-1",
                "name" : {
                  "defaultNames" : [
                    "Lamp 3"
                  ],
                  "name" : "Lamp",
                  "nicknames" : [
                    "desk"
                  ]
                },
                "otherDeviceIds" : [
                  {
                    "agentId" : "hearth",
                    "deviceId" : "5"
                  }
                ],
                "roomHint" : "Kitchen",
                "traits" : [
                  "action.devices.traits.Brightness",
                  "action.devices.traits.ColorSetting",
                  "action.devices.traits.OnOff"
                ],
                "type" : "action.devices.types.LIGHT",
                "willReportState" : true
              }
            ]
          },
          "requestId" : "ff36a3cc"
        }
        """.utf8))
    #expect(sync(colorLight(identity()), agentID: "hearth") == expected)
  }

  @Test func assignsUniqueDeviceIDs() throws {
    let home = SampleHome()
    let outlets = (1...3 as ClosedRange<EndpointID.RawValue>).map {
      SampleHome.endpoint(EndpointID($0), DeviceTypes.onOffPlugInUnit)
    }
    home.add(SourceID(5), name: "Strip", room: "r", identity: identity(), [SampleHome.root] + outlets)
    let devices = devices(of: home)
    #expect(devices.map { $0["id"] } == ["5", "5:2", "5:3"])
    #expect(
      devices.map { $0["otherDeviceIds"] } == [[["deviceId": "5"]], [["deviceId": "5:2"]], [["deviceId": "5:3"]]])
  }

  @Test func encodesMissingIdentity() throws {
    let home = colorLight(DeviceIdentity())
    let device = try #require(devices(of: home).first)
    #expect(device["matterOriginalVendorId"] == "" && device["matterOriginalProductId"] == "")
    #expect(device["matterUniqueId"] == nil)
    #expect(device["name"] == ["defaultNames": [], "name": "Lamp", "nicknames": []])
  }

  @Test func matchesDevicesByIdentity() throws {
    let devices = colorLight(identity()).devices
    let reported = try #require(self.devices(of: colorLight(identity { $0.nodeLabel = "other" })).first)
    func finds(_ device: JSONValue) throws -> [String] {
      let identity = try CloudDevice(device).identity
      return devices.filter { identity.isSameDevice(as: $0.identity) }.map(\.id)
    }
    #expect(try finds(reported) == ["5"])
    func finds(_ vendor: String, _ product: String, _ unique: String) throws -> Bool {
      let ids: [JSONValue.Member] = [
        .init("matterOriginalVendorId", .string(vendor)), .init("matterOriginalProductId", .string(product)),
        .init("matterUniqueId", .string(unique)),
      ]
      return try !finds(.object((reported.members ?? []) + ids)).isEmpty
    }
    for (vendor, product) in [("0xfff1", "0x8001"), ("0xFFF1", "0x8001"), ("", ""), ("0x0", "0x8001")] {
      #expect(try finds(vendor, product, "u-1"), "\(vendor) \(product)")
    }
    for (vendor, product, unique) in [
      ("0xfff1", "0x8001", "u-2"), ("0xfff1", "0x8001", ""), ("0xfff2", "0x8001", "u-1"), ("0xfff1", "0x8002", "u-1"),
    ] {
      #expect(try !finds(vendor, product, unique), "\(vendor) \(product) \(unique)")
    }
  }

  @Test func mergesSourcesOfDevice() throws {
    let home = colorLight(identity())
    home.apply([.sourceAdded(SourceID(7, 3), device: "5")])
    let devices = devices(of: home)
    #expect(devices.map { $0["id"] } == ["5"])
    #expect(devices.first?["otherDeviceIds"] == [["deviceId": "5"], ["deviceId": "7/3"]])
  }

  /// Cloud devices of one node with these endpoints.
  private func devices(
    _ endpoints: DeviceEndpoint..., values: [(ConcreteAttributePath, [UInt8])] = []
  ) -> [JSONValue] {
    let home = SampleHome()
    home.add(SourceID(5), [SampleHome.root] + endpoints)
    home.apply(values.map { .attribute(5, $0.0, value: $0.1) })
    return devices(of: home)
  }

  /// Last components of the names of its type and traits.
  private func names(_ device: JSONValue?) -> [String] {
    func last(_ name: String?) -> String { name?.split(separator: ".").last.map { String($0) } ?? "" }
    return device.map { [last($0["type"]?.text), ":"] + ($0["traits"]?.texts ?? []).map { last($0) } } ?? []
  }

  @Test func splitsOutletsOfStrip() {
    let strip = devices(
      SampleHome.endpoint(1, DeviceTypes.onOffPlugInUnit), SampleHome.endpoint(2, DeviceTypes.onOffPlugInUnit))
    #expect(
      strip.map { $0["id"] } == ["5", "5:2"]
        && strip.map { $0["traits"] } == Array(repeating: ["action.devices.traits.OnOff"], count: 2))
  }

  @Test func mergesSensorEndpoints() throws {
    let sensor = devices(
      SampleHome.endpoint(1, DeviceTypes.temperatureSensor), SampleHome.endpoint(2, DeviceTypes.humiditySensor),
      SampleHome.endpoint(3, DeviceTypes.lightSensor), SampleHome.endpoint(4, DeviceTypes.temperatureSensor),
      values: [
        (TemperatureMeasurement.minMeasuredValue.path(on: 1), Int16(-1000).tlv),
        (TemperatureMeasurement.maxMeasuredValue.path(on: 1), Int16(5050).tlv),
      ])
    #expect(sensor.map { $0["id"] } == ["5", "5:4"])
    #expect(names(sensor.first) == ["SENSOR", ":", "HumiditySetting", "TemperatureControl"])
    #expect(
      sensor.first?["attributes"]?["temperatureRange"]
        == ["maxThresholdCelsius": .decimal(50.5), "minThresholdCelsius": -10])
    #expect(sensor.first?["attributes"]?["queryOnlyHumiditySetting"] == true)
  }

  @Test func findsBatteryOnAnyEndpoint() {
    let power = DeviceEndpoint(id: 2, deviceTypes: [DeviceTypes.powerSource.id], servers: [PowerSource.id])
    let device = devices(
      SampleHome.endpoint(1, DeviceTypes.contactSensor), power,
      values: [
        (
          ConcreteAttributePath(2, PowerSource.id, GlobalAttribute.featureMap),
          (PowerSource.battery.mask | PowerSource.replaceable.mask).tlv
        )
      ])
    #expect(names(device.first) == ["SENSOR", ":", "EnergyStorage", "OpenClose"])
    let attributes = device.first?["attributes"]
    #expect(attributes?["isRechargeable"] == false && attributes?["queryOnlyOpenClose"] == true)
  }

  @Test func mapsOtherDeviceTypes() throws {
    #expect(names(devices(SampleHome.endpoint(1, DeviceTypes.doorLock)).first) == ["LOCK", ":", "LockUnlock"])
    #expect(names(devices(SampleHome.endpoint(1, DeviceTypes.speaker)).first) == ["SPEAKER", ":", "Volume"])
    #expect(names(devices(SampleHome.endpoint(1, DeviceTypes.fan)).first) == ["FAN", ":", "FanSpeed", "OnOff"])
    #expect(
      names(devices(SampleHome.endpoint(1, DeviceTypes.waterLeakDetector)).first) == ["SENSOR", ":", "SensorState"])
    let occupancy = devices(
      SampleHome.endpoint(1, DeviceTypes.occupancySensor),
      values: [(OccupancySensing.holdTime.path(on: 1), UInt16(30).tlv)]
    ).first
    #expect(names(occupancy) == ["SENSOR", ":", "OccupancySensing"])
    #expect(
      occupancy?["attributes"]?["occupancySensorConfiguration"]?.array?.first?["occupiedToUnoccupiedDelaySec"] == 30)
    let curtain = devices(
      SampleHome.endpoint(1, DeviceTypes.windowCovering),
      values: [
        (WindowCovering.endProductType.path(on: 1), WindowCovering.EndProductType.centralCurtain.tlv),
        (
          ConcreteAttributePath(1, WindowCovering.id, GlobalAttribute.featureMap),
          (WindowCovering.lift.mask | WindowCovering.positionAwareLift.mask).tlv
        ),
      ]
    ).first
    #expect(names(curtain) == ["CURTAIN", ":", "OpenClose", "StartStop"])
    #expect(curtain?["attributes"]?["discreteOnlyOpenClose"] == false)
  }

  @Test func encodesThermostatModesAndLimits() throws {
    let device = try #require(
      devices(
        SampleHome.endpoint(1, DeviceTypes.thermostat),
        values: [
          (
            ConcreteAttributePath(1, Thermostat.id, GlobalAttribute.featureMap),
            (Thermostat.heating.mask | Thermostat.cooling.mask | Thermostat.autoMode.mask).tlv
          ),
          (Thermostat.absMinHeatSetpointLimit.path(on: 1), Int16(700).tlv),
          (Thermostat.minCoolSetpointLimit.path(on: 1), Int16(1600).tlv),
          (Thermostat.maxHeatSetpointLimit.path(on: 1), Int16(2900).tlv),
          (Thermostat.maxCoolSetpointLimit.path(on: 1), Int16(3200).tlv),
          (Thermostat.minSetpointDeadBand.path(on: 1), Int8(25).tlv),
        ]
      ).first)
    #expect(names(device) == ["THERMOSTAT", ":", "TemperatureSetting"])
    let attributes = device["attributes"]
    #expect(attributes?["availableThermostatModes"] == ["off", "heat", "cool", "heatcool"])
    #expect(attributes?["thermostatTemperatureRange"] == ["maxThresholdCelsius": 32, "minThresholdCelsius": 7])
    #expect(attributes?["bufferRangeCelsius"]?.number == 2.5)
  }

  @Test func omitsUnsupportedDeviceTypes() {
    #expect(devices(SampleHome.endpoint(1, DeviceTypes.aggregator)).isEmpty)
    #expect(devices(SampleHome.endpoint(1, DeviceTypes.onOffLightSwitch)).isEmpty)
    #expect(devices(SampleHome.endpoint(1, ExampleOrganization.SpinnerDeviceType.deviceType)).isEmpty)
    #expect(devices().isEmpty)
  }
}
