package import HomeModel
internal import MatterClusters
package import MatterModel
package import MatterProtocol

/// A command or write of Matter as executions of an EXECUTE request.
///
/// Transition times are ignored, because clouds don't support them.
package struct CloudOrder: Hashable, Sendable {
  /// The executions in order; empty if nothing is to be done.
  var executions: [CloudJSON] = []

  private mutating func add(_ command: String, _ params: CloudJSON, pin: OctetString? = nil) {
    var execution: [String: CloudJSON] = ["command": .text("action.devices.commands.\(command)"), "params": params]
    if let pin { execution["challenge"] = ["pin": .text(String(decoding: pin.bytes, as: UTF8.self))] }
    executions.append(.object(execution))
  }

  // MARK: Commands

  /// - Parameter values: the known values of the device's node.
  /// - Throws: `badArguments` for invalid fields; `refused` for a command without a counterpart.
  package init(_ command: CommandData, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues)
    throws(HomeError)
  {
    let cluster = command.path.cluster
    guard device.matter.clusters.contains(where: { $0.id == cluster && $0.commands.contains(command.path.command) })
    else {
      throw Self.unknown(cluster, ElementNames.command(command.path.command, of: cluster))
    }
    switch cluster {
    case OnOff.id: try add(onOff: command, values.value(OnOff.onOff, on: endpoint))
    case LevelControl.id:
      try add(level: command, of: device, isOn: values.value(OnOff.onOff, on: endpoint))
    case ColorControl.id: try add(color: command, on: endpoint, of: device, values)
    case DoorLock.id:
      let isLock = command.path.command == DoorLock.lockDoor.id
      let pin =
        isLock
        ? try Self.fields(of: command, DoorLock.LockDoorRequest.self).pinCode
        : try Self.fields(of: command, DoorLock.UnlockDoorRequest.self).pinCode
      add("LockUnlock", ["lock": .bool(isLock)], pin: pin)
    case WindowCovering.id: try add(covering: command)
    default: throw Self.unknown(cluster, ElementNames.command(command.path.command, of: cluster))
    }
  }

  private static func unknown(_ cluster: ClusterID, _ element: String) -> HomeError {
    HomeError(
      .refused,
      "\(ElementNames.cluster(cluster)).\(element) is not supported by the vendor's cloud, which is the only reachable source "
        + "of the device")
  }

  private static func fields<Fields: ModelStruct>(
    of command: CommandData, _: Fields.Type
  ) throws(HomeError) -> Fields {
    do { return try Fields(tlv: command.fields ?? NoFields().tlv) } catch {
      throw HomeError(.badArguments, "the fields of the command can't be read: \(error)", cause: error)
    }
  }

  private mutating func add(onOff command: CommandData, _ isOn: Bool?) throws(HomeError) {
    switch command.path.command {
    case OnOff.on.id: add("OnOff", ["on": true])
    case OnOff.off.id: add("OnOff", ["on": false])
    default:
      guard let isOn else {
        throw HomeError(.refused, "can't be toggled, because its state is not known; switch it on or off")
      }
      add("OnOff", ["on": .bool(!isOn)])
    }
  }

  /// Clouds switch a light on when its level is set, like only one of the two commands of Matter. Application Clusters
  /// § 1.6.4.1.1.
  private mutating func add(level command: CommandData, of device: CloudDevice, isOn: Bool?) throws(HomeError) {
    let fields = try Self.fields(of: command, LevelControl.MoveToLevelRequest.self)
    let bringsOn = command.path.command == LevelControl.moveToLevelWithOnOff.id
    let executesIfOff = fields.optionsMask.contains(.executeIfOff) && fields.optionsOverride.contains(.executeIfOff)
    if bringsOn, fields.level == 0, device.has("OnOff") { return add("OnOff", ["on": false]) }
    if !bringsOn, try isLeft(off: isOn == false, executesIfOff) { return }
    if bringsOn, device.has("OnOff"), isOn != true { add("OnOff", ["on": true]) }
    add("BrightnessAbsolute", ["brightness": .number(Double(max(1, LevelRange.standard.percent(fields.level))))])
  }

  /// Most commands must not switch a device on that is off, but a cloud would do so.
  /// - Returns: whether the command has no effect.
  private func isLeft(off isOff: Bool, _ executesIfOff: Bool) throws(HomeError) -> Bool {
    guard isOff, executesIfOff else { return isOff }
    throw HomeError(.refused, "off; the vendor's cloud can't change this without switching it on")
  }

  private mutating func add(covering command: CommandData) throws(HomeError) {
    switch command.path.command {
    case WindowCovering.upOrOpen.id: add("OpenClose", ["openPercent": .number(100)])
    case WindowCovering.downOrClose.id: add("OpenClose", ["openPercent": .number(0)])
    case WindowCovering.stopMotion.id: add("StartStop", ["start": false])
    default:
      let closed = try Self.fields(of: command, WindowCovering.GoToLiftPercentageRequest.self).liftPercent100thsValue
      guard closed <= 10_000 else { throw HomeError(.badArguments, "a position must be from 0 to 10000") }
      add("OpenClose", ["openPercent": .number(Double((10_050 - Int(closed)) / 100))])
    }
  }

  // MARK: Colors

  private mutating func add(
    color command: CommandData, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues
  ) throws(HomeError) {
    func known(_ attribute: Attribute<ColorControl, UInt8>) -> Double {
      values.value(attribute, on: endpoint).map { Double($0) / 254 } ?? 0
    }
    let options: (mask: ColorControl.Options, override: ColorControl.Options)
    let color: CloudJSON
    switch command.path.command {
    case ColorControl.moveToColorTemperature.id:
      let fields = try Self.fields(of: command, ColorControl.MoveToColorTemperatureRequest.self)
      options = (fields.optionsMask, fields.optionsOverride)
      var kelvin = CloudUnits.kelvin(fields.colorTemperatureMireds)
      if let range = device.attributes.colorTemperatureRange {
        kelvin = max(min(kelvin, range.temperatureMaxK), range.temperatureMinK)
      }
      color = ["temperature": .number(Double(kelvin))]
    case ColorControl.moveToHueAndSaturation.id:
      let fields = try Self.fields(of: command, ColorControl.MoveToHueAndSaturationRequest.self)
      options = (fields.optionsMask, fields.optionsOverride)
      color = Self.color(Double(fields.hue) / 254, Double(fields.saturation) / 254, on: endpoint, of: device, values)
    case ColorControl.moveToHue.id:
      let fields = try Self.fields(of: command, ColorControl.MoveToHueRequest.self)
      options = (fields.optionsMask, fields.optionsOverride)
      color = Self.color(
        Double(fields.hue) / 254, known(ColorControl.currentSaturation), on: endpoint, of: device, values)
    case ColorControl.moveToSaturation.id:
      let fields = try Self.fields(of: command, ColorControl.MoveToSaturationRequest.self)
      options = (fields.optionsMask, fields.optionsOverride)
      color = Self.color(
        known(ColorControl.currentHue), Double(fields.saturation) / 254, on: endpoint, of: device, values)
    default:
      let fields = try Self.fields(of: command, ColorControl.MoveToColorRequest.self)
      options = (fields.optionsMask, fields.optionsOverride)
      let place = HueAndSaturation(
        Chromaticity(x: Double(fields.colorX) / 65536, y: Double(max(fields.colorY, 1)) / 65536))
      color = Self.color(place.hue, place.saturation, on: endpoint, of: device, values)
    }
    let isOff = values.value(OnOff.onOff, on: endpoint) == false
    let executesIfOff = options.mask.contains(.executeIfOff) && options.override.contains(.executeIfOff)
    if try isLeft(off: isOff, executesIfOff) { return }
    add("ColorAbsolute", ["color": color])
  }

  /// The color in the model of the light. The value of HSV may be interpreted as brightness, so it is the current one.
  private static func color(
    _ hue: Double, _ saturation: Double, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues
  ) -> CloudJSON {
    let (hue, saturation) = (min(max(hue, 0), 1), min(max(saturation, 0), 1))
    guard device.attributes.colorModel == "rgb" else {
      let level = values.value(LevelControl.currentLevel, on: endpoint)?.wrapped
      let value = level.map { Double(LevelRange.standard.percent($0)) / 100 } ?? 1
      return [
        "spectrumHSV": [
          // 360 equals 0.
          "hue": .number((hue * 3600).rounded().truncatingRemainder(dividingBy: 3600) / 10),
          "saturation": .number((saturation * 1000).rounded() / 1000), "value": .number(value),
        ]
      ]
    }
    let rgb = HueAndSaturation(hue: hue, saturation: saturation).rgb
    func byte(_ part: Double) -> Double { (min(max(part, 0), 1) * 255).rounded() }
    return ["spectrumRGB": .number(byte(rgb.red) * 65536 + byte(rgb.green) * 256 + byte(rgb.blue))]
  }

  // MARK: Writes

  /// - Parameter values: the known values of the device's node.
  /// - Throws: `badArguments` for an invalid value; `refused` for an attribute without a counterpart.
  package init(
    _ write: AttributeWrite, on endpoint: EndpointID, of device: CloudDevice, _ values: NodeValues
  ) throws(HomeError) {
    guard let cluster = write.path.cluster, let attribute = write.path.attribute else {
      throw HomeError(.badArguments, "a write must be of one attribute")
    }
    let isThere = device.matter.clusters.contains { $0.id == cluster }
    func value<Value: ModelValue>(_: Value.Type = Value.self) throws(HomeError) -> Value {
      do { return try Value(tlv: write.value) } catch {
        throw HomeError(.badArguments, "the value can't be read: \(error)", cause: error)
      }
    }
    switch (cluster, attribute) {
    case (Thermostat.id, Thermostat.systemMode.id) where isThere:
      let mode = try value(Thermostat.SystemMode.self)
      let modes = device.attributes.availableThermostatModes ?? []
      guard let name = CloudThermostat.modes.filter({ $0.value == mode }).keys.sorted().last(where: modes.contains)
      else {
        throw HomeError(.refused, "the vendor's cloud has no such mode; expected \(modes.joined(separator: ", "))")
      }
      add("ThermostatSetMode", ["thermostatMode": .text(name)])
    case (Thermostat.id, Thermostat.occupiedHeatingSetpoint.id) where isThere:
      try add(heating: try value(Int16.self), nil, device, values, on: endpoint)
    case (Thermostat.id, Thermostat.occupiedCoolingSetpoint.id) where isThere:
      try add(heating: nil, try value(Int16.self), device, values, on: endpoint)
    case (FanControl.id, FanControl.percentSetting.id) where isThere:
      guard let percent = try value(Nullable<UInt8>.self).wrapped, percent <= 100 else {
        throw HomeError(.badArguments, "a speed must be from 0 to 100")
      }
      add("SetFanSpeed", ["fanSpeedPercent": .number(Double(percent))])
    default: throw Self.unknown(cluster, ElementNames.attribute(attribute, of: cluster))
    }
  }

  /// Adds a set point. A cloud applies it to the current mode of the thermostat.
  private mutating func add(
    heating: Int16?, _ cooling: Int16?, _ device: CloudDevice, _ values: NodeValues, on endpoint: EndpointID
  ) throws(HomeError) {
    func celsius(_ hundredths: Int16) -> CloudJSON { .number(Double(hundredths) / 100) }
    switch values.value(Thermostat.systemMode, on: endpoint) {
    case .heat:
      guard let heating else { break }
      return add("ThermostatTemperatureSetpoint", ["thermostatTemperatureSetpoint": celsius(heating)])
    case .cool:
      guard let cooling else { break }
      return add("ThermostatTemperatureSetpoint", ["thermostatTemperatureSetpoint": celsius(cooling)])
    case .auto where device.attributes.availableThermostatModes?.contains("heatcool") == true:
      guard let low = heating ?? values.value(Thermostat.occupiedHeatingSetpoint, on: endpoint),
        let high = cooling ?? values.value(Thermostat.occupiedCoolingSetpoint, on: endpoint)
      else { break }
      return add(
        "ThermostatTemperatureSetRange",
        ["thermostatTemperatureSetpointLow": celsius(low), "thermostatTemperatureSetpointHigh": celsius(high)])
    default: break
    }
    let mode = heating == nil ? "cool" : "heat"
    throw HomeError(
      .refused,
      "the vendor's cloud sets the temperature of the current mode, which does not \(mode); change the mode first")
  }
}
