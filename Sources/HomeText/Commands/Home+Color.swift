package import HearthHome
internal import MatterClusters
internal import MatterModel
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
    let endpoint = try target.endpoint(serving: ColorControl.id, named: "Color Control")
    let (device, node) = (target.device, target.device.nodeID)
    let light = try await colorRange(of: device, endpoint)
    let values: [AttributeData]
    if case .kelvin(let kelvin) = color, light.can(ColorControl.colortemperature) {
      let mireds = UInt16(clamping: Int((1_000_000 / Double(kelvin)).rounded()))
      let request = ColorControl.MoveToColorTemperatureRequest(
        colorTemperatureMireds: min(max(mireds, light.mireds.lowerBound), light.mireds.upperBound),
        transitionTime: tenths, optionsMask: .executeIfOff, optionsOverride: .executeIfOff)
      try await told(device) { () async throws(HomeError) in
        _ = try await backend.invoke(ColorControl.moveToColorTemperature, request, on: endpoint, of: node)
      }
      values = [
        .init(
          ColorControl.colorTemperatureMireds.path(on: endpoint), dataVersion: 0,
          value: request.colorTemperatureMireds.tlv)
      ]
    } else if light.can(ColorControl.enhancedHue) || light.can(ColorControl.hueAndSaturation) {
      values = try await polar(color, over: tenths, device, endpoint, light)
    } else if light.can(ColorControl.xy) {
      let place = color.chromaticity
      let request = ColorControl.MoveToColorRequest(
        colorX: UInt16(clamping: Int((place.x * 65536).rounded())),
        colorY: UInt16(clamping: Int((place.y * 65536).rounded())), transitionTime: tenths,
        optionsMask: .executeIfOff, optionsOverride: .executeIfOff)
      try await told(device) { () async throws(HomeError) in
        _ = try await backend.invoke(ColorControl.moveToColor, request, on: endpoint, of: node)
      }
      values = [
        .init(ColorControl.currentX.path(on: endpoint), dataVersion: 0, value: request.colorX.tlv),
        .init(ColorControl.currentY.path(on: endpoint), dataVersion: 0, value: request.colorY.tlv),
      ]
    } else {
      throw HomeError(.notFound, "supports only color temperatures; expected one such as 2700K", device: device.name)
    }
    let mode = values.first.flatMap { DeviceState.colorMode(of: $0.path.attribute) }
    let told =
      values + (mode.map { [.init(ColorControl.colorMode.path(on: endpoint), dataVersion: 0, value: $0.tlv)] } ?? [])
    await heard(from: node, told)
    // Where another process follows the device, the home has it when that one was told.
    var known = await backend.state.values[node] ?? NodeValues()
    for attribute in told { known[attribute.path] = attribute.value }
    return DeviceState(known, [DeviceEndpoint(id: endpoint)]).parts.first ?? DeviceState.Part(endpoint: endpoint)
  }

  /// The targets of texts for a color: of a wildcard, a room or a group, the lights that can show it.
  package func targets(_ texts: [String], showing color: LightColor) async throws(HomeError) -> [Target] {
    let registry = await registry
    let all = try registry.resolve(all: texts, serving: ColorControl.id)
    guard all.count > 1 else { return all }
    let unable = await withTaskGroup(of: Target?.self) { group in
      for target in all { group.addTask { await self.canShow(color, on: target) ? nil : target } }
      var unable: Set<Target> = []
      for await case let target? in group { unable.insert(target) }
      return unable
    }
    return try registry.resolve(all: texts, serving: ColorControl.id, where: { !unable.contains($0) })
  }

  /// Whether the light's features include the color; true if the light does not tell them. A light without color
  /// temperatures shows them as colors.
  private func canShow(_ color: LightColor, on target: Target) async -> Bool {
    guard let endpoint = target.endpoint ?? target.device.endpoint(serving: ColorControl.id) else { return true }
    let path = ConcreteAttributePath(endpoint, ColorControl.id, GlobalAttribute.featureMap)
    var value = await backend.state.value(target.device.nodeID, path)
    if value == nil { value = (try? await read(target.device, [AttributePath(path)]))?[path]?.value }
    guard let features = value.flatMap({ try? UInt32(tlv: $0) }) else { return true }
    var able = ColorControl.hueAndSaturation.mask | ColorControl.enhancedHue.mask | ColorControl.xy.mask
    if case .kelvin = color { able |= ColorControl.colortemperature.mask }
    return features & able != 0
  }

  /// By hue and saturation, as finely as the light has it.
  private func polar(
    _ color: LightColor, over tenths: UInt16, _ device: DeviceRecord, _ endpoint: EndpointID, _ light: ColorRange
  ) async throws(HomeError) -> [AttributeData] {
    let polar = color.hueAndSaturation
    let saturation = UInt8(clamping: Int((polar.saturation * 254).rounded()))
    var values: [AttributeData] = [
      .init(ColorControl.currentSaturation.path(on: endpoint), dataVersion: 0, value: saturation.tlv)
    ]
    if light.can(ColorControl.enhancedHue) {
      let hue = UInt16(clamping: Int((polar.hue * 65536).rounded()))
      let request = ColorControl.EnhancedMoveToHueAndSaturationRequest(
        enhancedHue: hue, saturation: saturation, transitionTime: tenths, optionsMask: .executeIfOff,
        optionsOverride: .executeIfOff)
      try await told(device) { () async throws(HomeError) in
        _ = try await backend.invoke(
          ColorControl.enhancedMoveToHueAndSaturation, request, on: endpoint, of: device.nodeID)
      }
      values.append(.init(ColorControl.enhancedCurrentHue.path(on: endpoint), dataVersion: 0, value: hue.tlv))
    } else {
      let hue = UInt8(clamping: Int((polar.hue * 254).rounded()))
      let request = ColorControl.MoveToHueAndSaturationRequest(
        hue: hue, saturation: saturation, transitionTime: tenths, optionsMask: .executeIfOff,
        optionsOverride: .executeIfOff)
      try await told(device) { () async throws(HomeError) in
        _ = try await backend.invoke(ColorControl.moveToHueAndSaturation, request, on: endpoint, of: device.nodeID)
      }
      values.append(.init(ColorControl.currentHue.path(on: endpoint), dataVersion: 0, value: hue.tlv))
    }
    return values
  }

  private func told(_ device: DeviceRecord, _ body: () async throws(HomeError) -> Void) async throws(HomeError) {
    try await with(device, body)
  }

  // MARK: What the light can do

  private struct ColorRange {
    var features: UInt32
    var mireds: ClosedRange<UInt16>

    func can(_ feature: Feature) -> Bool { features & feature.mask != 0 }
  }

  private func colorRange(of device: DeviceRecord, _ endpoint: EndpointID) async throws(HomeError) -> ColorRange {
    let featureMap = ConcreteAttributePath(endpoint, ColorControl.id, GlobalAttribute.featureMap)
    let (least, most) = (
      ColorControl.colorTempPhysicalMinMireds.path(on: endpoint),
      ColorControl.colorTempPhysicalMaxMireds.path(on: endpoint)
    )
    // A wildcard for the endpoint: what a light without temperatures does not have is left out, and no error.
    let report = try await read(
      device, [featureMap, least, most].map { AttributePath(cluster: $0.cluster, attribute: $0.attribute) })
    func number(_ path: ConcreteAttributePath) -> UInt64? { (report[path]?.value).flatMap { try? UInt64(tlv: $0) } }
    guard let features = number(featureMap) else {
      throw HomeError(.notFound, "the device did not report which colors it supports", device: device.name)
    }
    let coldest = UInt16(clamping: max(number(least) ?? 1, 1))
    let warmest = UInt16(clamping: number(most) ?? 65279)
    return ColorRange(
      features: UInt32(truncatingIfNeeded: features), mireds: coldest...max(coldest, warmest))
  }
}
