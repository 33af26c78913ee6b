internal import MatterClusters
public import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// What a device is doing, in the few words that a table has room for.
public struct DeviceState: Hashable, Sendable {
  /// One endpoint that can be switched or dimmed.
  public struct Part: Hashable, Sendable {
    public var endpoint: EndpointID
    /// Nil where nobody knows.
    public var isOn: Bool?
    /// 1 to 254.
    public var level: UInt8?
    /// Of a light that has colours, or whites.
    public var color: LightColor?
    /// What a sensor measures, and how a lock, a thermostat, a covering or a fan is.
    public var readings: [Reading] = []
    var levels = LevelRange.standard

    /// The level in percent of the highest that the device has.
    public var percent: Int? { level.map { levels.percent($0) } }

    init(endpoint: EndpointID, isOn: Bool? = nil, level: UInt8? = nil, color: LightColor? = nil) {
      (self.endpoint, self.isOn, self.level, self.color) = (endpoint, isOn, level, color)
    }

    /// "on 40%", "on 40% 2700K", "off", "21.5 °C", "locked".
    public var text: String {
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

  /// By endpoint.
  public var parts: [Part]

  /// What makes it for a light, of all endpoints.
  public static let paths: [AttributePath] = [
    AttributePath(cluster: OnOff.id), AttributePath(cluster: LevelControl.id), AttributePath(cluster: ColorControl.id),
  ]

  /// - Parameter endpoints: those that count.
  init(_ values: NodeValues, _ endpoints: [DeviceEndpoint]) {
    parts = endpoints.sorted { $0.id < $1.id }.compactMap { endpoint in
      let id = endpoint.id
      var part = Part(
        endpoint: id, isOn: values.value(OnOff.onOff, on: id),
        level: values.value(LevelControl.currentLevel, on: id)?.wrapped, color: Self.color(of: id, values))
      part.levels = LevelRange(values, on: id) ?? .standard
      part.readings = Reading.all(of: endpoint, values)
      return part.isOn == nil && part.level == nil && part.color == nil && part.readings.isEmpty ? nil : part
    }
  }

  /// The colour by those attributes that count.
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
  public var text: String { parts.map(\.text).joined(separator: ", ") }
}

extension HomeDevice {
  /// What it is doing; while it is offline, what it did when it was heard last.
  public var state: DeviceState {
    DeviceState(values, source?.endpoints.filter { $0.id != .root } ?? [])
  }

  /// Its place and names.
  public func record(room: String?) -> DeviceRecord? { DeviceRecord(entry, room: room) }
}

extension Home {
  /// PendingWork until it is known of all these devices whether they can be reached, or until the time is over: then those that
  /// did not answer can't be. Of those that nobody waits for any more, as the task was cancelled, nothing is said.
  public func waitForConnectivity(of devices: Set<String>, timeout: Duration) async {
    let snapshots = self.devices().batched()
    let state = await backend.state
    let waits = devices.compactMap { id in
      PendingWork.begin("\(state.devices[id]?.name ?? "device \(id)") to answer").map { (id, $0) }
    }
    defer { for (_, wait) in waits { wait.end() } }
    // This is what is waited for, not the changes by which it is noticed.
    let waiting = PendingWork.$board.withValue(nil) {
      Tasks.start {
        for await all in snapshots {
          let known = Set(all.lazy.filter { $0.source?.status.connectivity.connectivityState != .unknown }.map(\.id))
          for (id, wait) in waits where known.contains(id) { wait.end() }
          // One that has not told yet what it is, is none of them.
          if devices.isSubset(of: known) { return }
        }
      }
    }
    let timer = backend.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) { waiting.cancel() }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    timer.cancel()
    if !Task.isCancelled { await backend.stopWaiting(for: devices) }
  }

  /// Takes in what is known of a device without its having reported it.
  func heard(from node: NodeID, _ attributes: [AttributeData]) async {
    await backend.hear(NodeReport(node, attributes, isWhole: false))
  }
}
