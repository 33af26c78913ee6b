package import HomeModel
internal import MatterClusters
package import MatterProtocol
internal import WebClient

/// A command or write of Matter as executions of an EXECUTE request.
///
/// Transition times are ignored, because clouds don't support them.
package struct CloudOrder {
  package let endpoint: EndpointID
  private let device: CloudDevice
  /// The known values of the device's node.
  private let values: NodeValues
  /// The executions in order; empty if nothing is to be done.
  private(set) var executions: [JSONValue] = []

  private mutating func add(_ command: String, _ params: JSONValue, pin: OctetString? = nil) {
    executions.append(
      .present([
        "command": .string("action.devices.commands.\(command)"), "params": params,
        "challenge": pin.map { ["pin": .string(String(decoding: $0.bytes, as: UTF8.self))] },
      ]))
  }

  private func known<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    values.value(attribute, on: endpoint)
  }

  private static func unknown(_ cluster: ClusterID, _ element: String) -> HomeError {
    HomeError(
      .refused,
      "\(ElementNames.cluster(cluster)).\(element) is not supported by the vendor's cloud, which is the only reachable source "
        + "of the device")
  }

  // MARK: Commands

  /// - Parameter values: the known values of the device's node.
  /// - Throws: `badArguments` for invalid fields; `refused` for a command without a counterpart.
  package init(_ command: CommandData, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues)
    throws(HomeError)
  {
    (self.endpoint, self.device, self.values) = (endpoint, device, values)
    let (cluster, id) = (command.path.cluster, command.path.command)
    guard device.clusters.contains(where: { $0.id == cluster && $0.commands.contains(id) }) else {
      throw Self.unknown(cluster, ElementNames.command(id, of: cluster))
    }
    switch cluster {
    case OnOff.id: try switchOnOff(command)
    case LevelControl.id: try setLevel(command)
    case ColorControl.id: try setColor(command)
    case DoorLock.id where id == DoorLock.lockDoor.id:
      add("LockUnlock", ["lock": true], pin: try command.fields(of: DoorLock.lockDoor).pinCode)
    case DoorLock.id: add("LockUnlock", ["lock": false], pin: try command.fields(of: DoorLock.unlockDoor).pinCode)
    case WindowCovering.id: try moveCovering(command)
    default: throw Self.unknown(cluster, ElementNames.command(id, of: cluster))
    }
  }

  private mutating func switchOnOff(_ command: CommandData) throws(HomeError) {
    let isToggle = command.path.command == OnOff.toggle.id
    let isOn = known(OnOff.onOff)
    if isToggle, isOn == nil {
      throw HomeError(.refused, "can't be toggled, because its state is not known; switch it on or off")
    }
    add("OnOff", ["on": .bool(isToggle ? isOn == false : command.path.command == OnOff.on.id)])
  }

  /// Clouds switch a light on when its level is set, like only one of the two commands of Matter. Application Clusters
  /// § 1.6.4.1.1.
  private mutating func setLevel(_ command: CommandData) throws(HomeError) {
    let fields = try command.fields(of: LevelControl.moveToLevel)
    if command.path.command == LevelControl.moveToLevelWithOnOff.id {
      if device.has("OnOff"), fields.level == 0 { return add("OnOff", ["on": false]) }
      if device.has("OnOff"), known(OnOff.onOff) != true { add("OnOff", ["on": true]) }
    } else if try isIgnored(
      executesIfOff: fields.optionsMask.contains(.executeIfOff) && fields.optionsOverride.contains(.executeIfOff))
    {
      return
    }
    add("BrightnessAbsolute", ["brightness": .int(max(1, LevelRange.standard.percent(fields.level)))])
  }

  /// Returns whether the command has no effect: most commands must not switch on a device that is off, but a cloud would
  /// do so.
  private func isIgnored(executesIfOff: Bool) throws(HomeError) -> Bool {
    guard known(OnOff.onOff) == false else { return false }
    guard executesIfOff else { return true }
    throw HomeError(.refused, "off; the vendor's cloud can't change this without switching it on")
  }

  private mutating func moveCovering(_ command: CommandData) throws(HomeError) {
    switch command.path.command {
    case WindowCovering.upOrOpen.id: add("OpenClose", ["openPercent": 100])
    case WindowCovering.downOrClose.id: add("OpenClose", ["openPercent": 0])
    case WindowCovering.stopMotion.id: add("StartStop", ["start": false])
    default:
      let closed = try command.fields(of: WindowCovering.goToLiftPercentage).liftPercent100thsValue
      guard closed <= 10_000 else { throw HomeError(.badArguments, "a position must be from 0 to 10000") }
      add("OpenClose", ["openPercent": .int((10_050 - Int(closed)) / 100)])
    }
  }

  private mutating func setColor(_ command: CommandData) throws(HomeError) {
    func part(_ value: UInt8) -> Double { Double(value) / 254 }
    var hue = known(ColorControl.currentHue).map(part) ?? 0
    var saturation = known(ColorControl.currentSaturation).map(part) ?? 0
    var kelvin: Double?
    let options: (mask: ColorControl.Options, override: ColorControl.Options)
    switch command.path.command {
    case ColorControl.moveToColorTemperature.id:
      let fields = try command.fields(of: ColorControl.moveToColorTemperature)
      options = (fields.optionsMask, fields.optionsOverride)
      let white = (1_000_000 / Double(max(fields.colorTemperatureMireds, 1))).rounded()
      kelvin = device.temperatures.map { max(min(white, $0.upperBound), $0.lowerBound) } ?? white
    case ColorControl.moveToHueAndSaturation.id:
      let fields = try command.fields(of: ColorControl.moveToHueAndSaturation)
      options = (fields.optionsMask, fields.optionsOverride)
      (hue, saturation) = (part(fields.hue), part(fields.saturation))
    case ColorControl.moveToHue.id:
      let fields = try command.fields(of: ColorControl.moveToHue)
      options = (fields.optionsMask, fields.optionsOverride)
      hue = part(fields.hue)
    case ColorControl.moveToSaturation.id:
      let fields = try command.fields(of: ColorControl.moveToSaturation)
      options = (fields.optionsMask, fields.optionsOverride)
      saturation = part(fields.saturation)
    default:
      let fields = try command.fields(of: ColorControl.moveToColor)
      options = (fields.optionsMask, fields.optionsOverride)
      let place = HueAndSaturation(
        Chromaticity(x: Double(fields.colorX) / 65536, y: Double(max(fields.colorY, 1)) / 65536))
      (hue, saturation) = (place.hue, place.saturation)
    }
    if try isIgnored(
      executesIfOff: options.mask.contains(.executeIfOff) && options.override.contains(.executeIfOff))
    {
      return
    }
    let color =
      kelvin.map { ["temperature": .decimal($0)] } ?? self.color(min(max(hue, 0), 1), min(max(saturation, 0), 1))
    add("ColorAbsolute", ["color": color])
  }

  /// The color in the model of the light. The value of HSV may be interpreted as brightness, so it is the current one.
  private func color(_ hue: Double, _ saturation: Double) -> JSONValue {
    guard device.attribute("colorModel")?.text == "rgb" else {
      let level = known(LevelControl.currentLevel)?.wrapped
      return [
        "spectrumHSV": [
          // 360 equals 0.
          "hue": .decimal((hue * 3600).rounded().truncatingRemainder(dividingBy: 3600) / 10),
          "saturation": .decimal((saturation * 1000).rounded() / 1000),
          "value": .decimal(level.map { Double(LevelRange.standard.percent($0)) / 100 } ?? 1),
        ]
      ]
    }
    let rgb = HueAndSaturation(hue: hue, saturation: saturation).rgb
    func byte(_ part: Double) -> Int { Int(UInt8(rounding: part * 255, in: 0...255)) }
    return ["spectrumRGB": .int(byte(rgb.red) << 16 | byte(rgb.green) << 8 | byte(rgb.blue))]
  }

  // MARK: Writes

  /// - Parameter values: the known values of the device's node.
  /// - Throws: `badArguments` for an invalid value; `refused` for an attribute without a counterpart.
  package init(
    _ write: AttributeWrite, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues
  ) throws(HomeError) {
    (self.endpoint, self.device, self.values) = (endpoint, device, values)
    guard let cluster = write.path.cluster, let attribute = write.path.attribute else {
      throw HomeError(.badArguments, "a write must be of one attribute")
    }
    let isServed = device.clusters.contains { $0.id == cluster }
    func value<C: Cluster, Value: ModelValue>(of _: Attribute<C, Value>) throws(HomeError) -> Value {
      do { return try Value(tlv: write.value) } catch {
        throw HomeError(.badArguments, "the value can't be read: \(error)", cause: error)
      }
    }
    switch (cluster, attribute) {
    case (Thermostat.id, Thermostat.systemMode.id) where isServed:
      let mode = try value(of: Thermostat.systemMode)
      let modes = device.thermostatModes
      let names = CloudDevice.systemModes.filter { $0.value == mode }.keys.sorted()
      guard let name = names.last(where: modes.contains) else {
        throw HomeError(.refused, "the vendor's cloud has no such mode; expected \(modes.joined(separator: ", "))")
      }
      add("ThermostatSetMode", ["thermostatMode": .string(name)])
    case (Thermostat.id, Thermostat.occupiedHeatingSetpoint.id) where isServed:
      try setTemperature(heating: try value(of: Thermostat.occupiedHeatingSetpoint))
    case (Thermostat.id, Thermostat.occupiedCoolingSetpoint.id) where isServed:
      try setTemperature(cooling: try value(of: Thermostat.occupiedCoolingSetpoint))
    case (FanControl.id, FanControl.percentSetting.id) where isServed:
      guard let percent = try value(of: FanControl.percentSetting).wrapped, percent <= 100 else {
        throw HomeError(.badArguments, "a speed must be from 0 to 100")
      }
      add("SetFanSpeed", ["fanSpeedPercent": .int(percent)])
    default: throw Self.unknown(cluster, ElementNames.attribute(attribute, of: cluster))
    }
  }

  /// Adds a set point. A cloud applies it to the current mode of the thermostat.
  private mutating func setTemperature(heating: Int16? = nil, cooling: Int16? = nil) throws(HomeError) {
    func celsius(_ hundredths: Int16) -> JSONValue { .decimal(Double(hundredths) / 100) }
    let mode = known(Thermostat.systemMode)
    if let point = mode == .heat ? heating : mode == .cool ? cooling : nil {
      return add("ThermostatTemperatureSetpoint", ["thermostatTemperatureSetpoint": celsius(point)])
    }
    guard mode == .auto, device.thermostatModes.contains("heatcool"),
      let low = heating ?? known(Thermostat.occupiedHeatingSetpoint),
      let high = cooling ?? known(Thermostat.occupiedCoolingSetpoint)
    else {
      throw HomeError(
        .refused,
        "the vendor's cloud sets the temperature of the current mode, which does not \(heating == nil ? "cool" : "heat"); "
          + "change the mode first")
    }
    add(
      "ThermostatTemperatureSetRange",
      ["thermostatTemperatureSetpointLow": celsius(low), "thermostatTemperatureSetpointHigh": celsius(high)])
  }
}

extension CommandData {
  fileprivate func fields<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    of _: Command<C, Request, Response>
  ) throws(HomeError) -> Request {
    do { return try Request(tlv: fields ?? NoFields().tlv) } catch {
      throw HomeError(.badArguments, "the fields of the command can't be read: \(error)", cause: error)
    }
  }
}
