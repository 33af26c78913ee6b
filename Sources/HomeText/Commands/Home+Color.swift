package import HearthHome
internal import MatterClusters
internal import MatterProtocol

extension Home {
  /// Sets the color of a light, also while it is off.
  /// - Parameter over: the transition time in tenths of a second.
  /// - Returns: the color that was set; a color temperature is clamped to the light's range.
  /// - Throws: `notFound` if the light does not support the color.
  @discardableResult
  package func color(
    _ target: Target, _ color: LightColor, over tenths: UInt16
  ) async throws(HomeError) -> DeviceState.Part {
    let device = target.device
    let endpoint = try target.endpoint(serving: ColorControl.id)
    guard let change = ColorChange(color, over: tenths, on: endpoint, try await colorSupport(of: device, endpoint))
    else {
      throw HomeError(.notFound, "supports only color temperatures; expected one such as 2700K", device: device.name)
    }
    _ = try await invoke(device, change.command, isTimed: false)
    await store(change.values, of: device)
    // The state of the home may be older than the command.
    var known = await backend.state.values[device.nodeID] ?? NodeValues()
    for attribute in change.values { known[attribute.path] = attribute.value }
    return DeviceState(known, [DeviceEndpoint(id: endpoint)]).parts.first ?? DeviceState.Part(endpoint: endpoint)
  }

  /// Resolves the target texts of a color command. Of a wildcard, a room or a group, only lights that support the color
  /// are targets.
  package func targets(_ texts: [String], showing color: LightColor) async throws(HomeError) -> [Target] {
    try await targets(texts, serving: ColorControl.id) { await self.canShow(color, on: $0) }
  }

  /// Returns whether the light supports the color; true if it does not report its features. A light without color
  /// temperatures shows them as colors.
  private func canShow(_ color: LightColor, on target: Target) async -> Bool {
    guard let endpoint = target.endpoint ?? target.device.endpoint(serving: ColorControl.id),
      let support = try? await colorSupport(of: target.device, endpoint)
    else { return true }
    return ColorChange(color, over: 0, on: endpoint, support) != nil
  }

  /// Returns the supported colors of a light; reads them from the device if they are unknown.
  private func colorSupport(of device: DeviceRecord, _ endpoint: EndpointID) async throws(HomeError) -> ColorSupport {
    let featureMap = ConcreteAttributePath(endpoint, ColorControl.id, GlobalAttribute.featureMap)
    let (least, most) = (ColorControl.colorTempPhysicalMinMireds, ColorControl.colorTempPhysicalMaxMireds)
    var values = await backend.state.values[device.nodeID] ?? NodeValues()
    func features() -> UInt32? { values[featureMap].flatMap { try? UInt32(tlv: $0) } }
    let hasTemperatures = features().map { $0 & ColorControl.colortemperature.mask != 0 }
    if hasTemperatures == nil || hasTemperatures == true && values.value(most, on: endpoint) == nil {
      // Read with a wildcard for the endpoint, so that unsupported attributes are omitted.
      let paths = [featureMap, least.path(on: endpoint), most.path(on: endpoint)]
      let report = try await read(device, paths.map { AttributePath(cluster: $0.cluster, attribute: $0.attribute) })
      for path in paths { values[path] = report[path]?.value }
    }
    guard let features = features() else {
      throw HomeError(.notFound, "the device did not report which colors it supports", device: device.name)
    }
    let coldest = max(values.value(least, on: endpoint) ?? 1, 1)
    return ColorSupport(
      features: features, mireds: coldest...max(coldest, values.value(most, on: endpoint) ?? 65279))
  }
}

/// The features and the color temperatures of a light.
private struct ColorSupport {
  var features: UInt32
  var mireds: ClosedRange<UInt16>

  func has(_ feature: Feature) -> Bool { features & feature.mask != 0 }
}

/// The command that sets a color, and the resulting attributes.
private struct ColorChange {
  let command: CommandData
  let values: [AttributeData]

  /// Selects the most precise command that the light supports; nil if it supports none for the color.
  init?(_ color: LightColor, over tenths: UInt16, on endpoint: EndpointID, _ light: ColorSupport) {
    func command<Request: ModelStruct>(
      _ command: Command<ColorControl, Request, NoFields>, _ fields: Request
    ) -> CommandData { CommandData(command.path(on: endpoint), fields: fields.tlv) }

    let (polar, point) = (color.hueAndSaturation, color.chromaticity)
    let saturation = UInt8(clamping: Int((polar.saturation * 254).rounded()))
    if let wanted = color.mireds, light.has(ColorControl.colortemperature) {
      let mireds = min(max(wanted, light.mireds.lowerBound), light.mireds.upperBound)
      self.command = command(
        ColorControl.moveToColorTemperature,
        .init(
          colorTemperatureMireds: mireds, transitionTime: tenths, optionsMask: .executeIfOff,
          optionsOverride: .executeIfOff))
      values = [
        ColorControl.colorTemperatureMireds.data(mireds, on: endpoint),
        ColorControl.colorMode.data(.colorTemperatureMireds, on: endpoint),
      ]
    } else if light.has(ColorControl.enhancedHue) {
      let hue = UInt16(clamping: Int((polar.hue * 65536).rounded()))
      self.command = command(
        ColorControl.enhancedMoveToHueAndSaturation,
        .init(
          enhancedHue: hue, saturation: saturation, transitionTime: tenths, optionsMask: .executeIfOff,
          optionsOverride: .executeIfOff))
      values = [
        ColorControl.enhancedCurrentHue.data(hue, on: endpoint),
        ColorControl.currentSaturation.data(saturation, on: endpoint),
        ColorControl.colorMode.data(.currentHueAndCurrentSaturation, on: endpoint),
      ]
    } else if light.has(ColorControl.hueAndSaturation) {
      let hue = UInt8(clamping: Int((polar.hue * 254).rounded()))
      self.command = command(
        ColorControl.moveToHueAndSaturation,
        .init(
          hue: hue, saturation: saturation, transitionTime: tenths, optionsMask: .executeIfOff,
          optionsOverride: .executeIfOff))
      values = [
        ColorControl.currentHue.data(hue, on: endpoint),
        ColorControl.currentSaturation.data(saturation, on: endpoint),
        ColorControl.colorMode.data(.currentHueAndCurrentSaturation, on: endpoint),
      ]
    } else if light.has(ColorControl.xy) {
      let x = UInt16(clamping: Int((point.x * 65536).rounded()))
      let y = UInt16(clamping: Int((point.y * 65536).rounded()))
      self.command = command(
        ColorControl.moveToColor,
        .init(
          colorX: x, colorY: y, transitionTime: tenths, optionsMask: .executeIfOff, optionsOverride: .executeIfOff))
      values = [
        ColorControl.currentX.data(x, on: endpoint), ColorControl.currentY.data(y, on: endpoint),
        ColorControl.colorMode.data(.currentXAndCurrentY, on: endpoint),
      ]
    } else {
      return nil
    }
  }
}

extension Attribute {
  /// Returns a value of the attribute on an endpoint, as in a report.
  func data(_ value: Value, on endpoint: EndpointID) -> AttributeData {
    AttributeData(path(on: endpoint), dataVersion: 0, value: value.tlv)
  }
}
