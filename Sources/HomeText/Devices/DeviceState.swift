package import HomeModel
internal import MatterClusters

/// The state of a device as a short text for tables.
package struct DeviceState: Hashable, Sendable {
  /// One endpoint that can be switched or dimmed.
  package struct Part: Hashable, Sendable {
    package var endpoint: EndpointID
    /// Whether the endpoint is on; nil if unknown.
    package var isOn: Bool?
    /// The level, 1 to 254.
    package var level: UInt8?
    /// The color or color temperature of a light that has one.
    package var color: LightColor?
    /// The measurements of a sensor, and the state of a lock, thermostat, covering or fan.
    package var readings: [Reading] = []
    package var levels = LevelRange.standard

    /// The level in percent of the device's maximum.
    package var percent: Int? { level.map { levels.percent($0) } }

    package init(endpoint: EndpointID, isOn: Bool? = nil, level: UInt8? = nil, color: LightColor? = nil) {
      (self.endpoint, self.isOn, self.level, self.color) = (endpoint, isOn, level, color)
    }

    /// "on 40%", "on 40% 2700K", "off", "21.5 °C", "locked".
    package var text: String {
      let texts = [lightText].compactMap(\.self) + readings.map(\.text)
      return texts.isEmpty ? "?" : texts.joined(separator: ", ")
    }

    private var lightText: String? {
      let level = percent.map { "\($0)%" }
      let hue = color.map { " \($0)" } ?? ""
      return switch (isOn, level) {
      case (true?, let level?): "on \(level)\(hue)"
      case (true?, nil): "on\(hue)"
      case (false?, _): "off"
      case (nil, let level?): level + hue
      case (nil, nil): color.map { "\($0)" }
      }
    }
  }

  /// The parts, in the order of their endpoints; the root endpoint with the battery is the last.
  package var parts: [Part]

  /// - Parameter endpoints: the endpoints to include.
  package init(_ values: NodeValues, _ endpoints: [DeviceEndpoint]) {
    let sorted = endpoints.sorted { $0.id < $1.id }
    parts = (sorted.filter { $0.id != .root } + sorted.filter { $0.id == .root }).compactMap { endpoint in
      let id = endpoint.id
      var part = Part(
        endpoint: id, isOn: values.value(OnOff.onOff, on: id),
        level: values.value(LevelControl.currentLevel, on: id)?.wrapped, color: Self.color(of: id, values))
      part.levels = LevelRange(values, on: id) ?? .standard
      part.readings = Reading.all(of: endpoint, values)
      return part.isOn == nil && part.level == nil && part.color == nil && part.readings.isEmpty ? nil : part
    }
  }

  /// Returns the color, by the attributes of the current color mode.
  private static func color(of endpoint: EndpointID, _ values: NodeValues) -> LightColor? {
    switch values.value(ColorControl.colorMode, on: endpoint) {
    case .currentHueAndCurrentSaturation?:
      let hue =
        values.value(ColorControl.enhancedCurrentHue, on: endpoint).map { Double($0) / 65536 }
        ?? values.value(ColorControl.currentHue, on: endpoint).map { Double($0) / 254 }
      guard let hue, let saturation = values.value(ColorControl.currentSaturation, on: endpoint) else { return nil }
      return LightColor(HueAndSaturation(hue: hue, saturation: Double(saturation) / 254))
    case .currentXAndCurrentY?:
      guard let x = values.value(ColorControl.currentX, on: endpoint),
        let y = values.value(ColorControl.currentY, on: endpoint)
      else { return nil }
      return LightColor(HueAndSaturation(Chromaticity(x: Double(x) / 65536, y: Double(y) / 65536)))
    case .colorTemperatureMireds?:
      return values.value(ColorControl.colorTemperatureMireds, on: endpoint).flatMap { LightColor(mireds: $0) }
    default: return nil
    }
  }

  /// "on 40%", "on 40% 2700K", "off", "on, off"; empty if nothing is known.
  package var text: String { parts.map(\.text).joined(separator: ", ") }
}

extension HomeDevice {
  /// The current state of the device; while it is offline, the last known one.
  package var state: DeviceState {
    DeviceState(values, parts.endpoints)
  }
}
