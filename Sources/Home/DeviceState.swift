internal import MatterClusters
public import MatterModel

/// What a device is doing, in the few words that a table has room for.
public struct DeviceState: Hashable, Sendable {
  /// One endpoint that can be switched or dimmed.
  public struct Part: Hashable, Sendable {
    public var endpoint: EndpointID
    public var isOn: Bool?
    /// 1 to 254.
    public var level: UInt8?
    /// Of a light that has colours, or whites.
    public var color: LightColor?
  }

  /// By endpoint.
  public var parts: [Part]

  /// The attributes that make it, of all endpoints.
  public static let paths: [AttributePath] = [
    AttributePath(cluster: OnOff.id, attribute: OnOff.onOff.id),
    AttributePath(cluster: LevelControl.id, attribute: LevelControl.currentLevel.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.colorMode.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.currentHue.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.enhancedCurrentHue.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.currentSaturation.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.currentX.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.currentY.id),
    AttributePath(cluster: ColorControl.id, attribute: ColorControl.colorTemperatureMireds.id),
  ]

  static func isPart(_ path: ConcreteAttributePath) -> Bool { paths.contains { $0.matches(path) } }

  public init(_ values: [ConcreteAttributePath: [UInt8]]) {
    var parts: [EndpointID: Part] = [:]
    for (path, value) in values {
      let endpoint = path.endpoint
      if path == OnOff.onOff.path(on: endpoint) {
        parts[endpoint, default: Part(endpoint: endpoint)].isOn = try? Bool(tlv: value)
      } else if path == LevelControl.currentLevel.path(on: endpoint) {
        parts[endpoint, default: Part(endpoint: endpoint)].level = (try? Nullable<UInt8>(tlv: value))?.wrapped
      } else if path == ColorControl.colorMode.path(on: endpoint) {
        parts[endpoint, default: Part(endpoint: endpoint)].color = Self.color(of: endpoint, values)
      }
    }
    self.parts = parts.values.sorted { $0.endpoint < $1.endpoint }
  }

  /// The colour by those attributes that count.
  private static func color(of endpoint: EndpointID, _ values: [ConcreteAttributePath: [UInt8]]) -> LightColor? {
    func number<Value: ModelValue>(_ attribute: Attribute<ColorControl, Value>) -> Double? {
      values[attribute.path(on: endpoint)].flatMap { try? UInt64(tlv: $0) }.map { Double($0) }
    }
    switch number(ColorControl.colorMode) {
    case 0:
      let hue =
        number(ColorControl.enhancedCurrentHue).map { $0 / 65536 } ?? number(ColorControl.currentHue).map { $0 / 254 }
      guard let hue, let saturation = number(ColorControl.currentSaturation) else { return nil }
      return LightColor(HueAndSaturation(hue: hue, saturation: saturation / 254))
    case 1:
      guard let x = number(ColorControl.currentX), let y = number(ColorControl.currentY) else { return nil }
      return LightColor(HueAndSaturation(Chromaticity(x: x / 65536, y: y / 65536)))
    case 2: return number(ColorControl.colorTemperatureMireds).flatMap { LightColor(mireds: UInt16($0)) }
    default: return nil
    }
  }

  /// The mode in which an attribute counts.
  static func colorMode(of attribute: AttributeID) -> ColorControl.ColorMode? {
    switch attribute {
    case ColorControl.currentX.id, ColorControl.currentY.id: .currentXAndCurrentY
    case ColorControl.colorTemperatureMireds.id: .colorTemperatureMireds
    case ColorControl.currentHue.id, ColorControl.enhancedCurrentHue.id, ColorControl.currentSaturation.id:
      .currentHueAndCurrentSaturation
    default: nil
    }
  }

  /// "on 40%", "on 40% 2700K", "off", "on, off"; empty where there is nothing to say.
  public var text: String {
    parts.map { part in
      let level = part.level.map { "\(HomeUnits.percent($0))%" }
      let color = part.color.map { " \($0)" } ?? ""
      return switch (part.isOn, level) {
      case (true?, let level?): "on \(level)\(color)"
      case (true?, nil): "on\(color)"
      case (false?, _): "off"
      case (nil, let level?): level + color
      case (nil, nil): part.color.map { "\($0)" } ?? "?"
      }
    }.joined(separator: ", ")
  }
}

/// A device and how it is.
public struct DeviceStatus: Sendable {
  public enum Connectivity: String, Sendable { case unknown, online, offline }

  public var device: DeviceRecord
  public var connectivity: Connectivity
  /// Why it is offline.
  public var reason: String?
  /// Milliseconds since 1970.
  public var lastContact: Int64?
  /// What it does, or did when it was heard last.
  public var state: DeviceState

  public init(
    device: DeviceRecord, connectivity: Connectivity, reason: String? = nil, lastContact: Int64?, state: DeviceState
  ) {
    self.device = device
    self.connectivity = connectivity
    self.reason = reason
    self.lastContact = lastContact
    self.state = state
  }

  /// Where the data come from: straight from the device, or from nowhere.
  public var locality: String { connectivity == .online ? "peer" : "unspecified" }
  public var isOnline: Bool { connectivity == .online }
}

extension HomeSession {
  /// Asks devices how they are, all at the same time.
  public func status(of devices: [DeviceRecord], timeout: Duration) async -> [DeviceStatus] {
    await withTaskGroup(of: (Int, DeviceStatus).self) { group in
      for (index, device) in devices.enumerated() {
        group.addTask { [self] in (index, await status(of: device, timeout: timeout)) }
      }
      var result: [(Int, DeviceStatus)] = []
      for await status in group { result.append(status) }
      return result.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Asks one device how it is.
  public func status(of device: DeviceRecord, timeout: Duration) async -> DeviceStatus {
    do throws(HomeError) {
      _ = try await read(device, DeviceState.paths, timeout: timeout)
    } catch {
      // The cache has the reason.
    }
    return lastStatus(of: device)
  }

  /// How a device was when it was heard last.
  public func lastStatus(of device: DeviceRecord) -> DeviceStatus {
    let last = lastHeard(device.nodeID)
    return DeviceStatus(
      device: device, connectivity: last.isOnline.map { $0 ? .online : .offline } ?? .unknown, reason: last.reason,
      lastContact: last.lastContact, state: DeviceState(last.values))
  }
}
