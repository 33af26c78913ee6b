package import HearthHome
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// An action on a device with an On/Off cluster.
public enum SwitchAction: String, Hashable, Sendable {
  case on, off, toggle
}

extension Home {
  /// Switches all endpoints of a device with an On/Off cluster: a strip of three sockets is one device.
  /// - Returns: the resulting state of each endpoint, at least one.
  package func turnAll(_ target: Target, _ action: SwitchAction) async throws(HomeError) -> [DeviceState.Part] {
    var parts: [DeviceState.Part] = []
    for endpoint in try target.endpoints(serving: OnOff.id, named: "On/Off") {
      parts.append(try await turn(Target(target.device, endpoint: endpoint), action))
    }
    return parts
  }

  /// Dims all endpoints of a device with a level; see ``dim(_:to:over:)``.
  package func dimAll(
    _ target: Target, to wanted: WantedLevel, over tenths: UInt16?
  ) async throws(HomeError) -> [DeviceState.Part] {
    var levels: [(endpoint: EndpointID, level: UInt8, range: LevelRange)] = []
    for endpoint in try target.endpoints(serving: LevelControl.id, named: "Level Control") {
      let range = try await self.levels(of: target.device, endpoint)
      let level = wanted.level(in: range)
      guard range.allows(level) else {
        throw HomeError(
          .badArguments, "level \(level) is out of range; expected 0 or \(range.lowest) to \(range.highest)",
          device: target.device.name)
      }
      levels.append((endpoint, level, range))
    }
    var parts: [DeviceState.Part] = []
    for (endpoint, level, range) in levels {
      var part = try await dim(Target(target.device, endpoint: endpoint), to: level, over: tenths)
      part.levels = range
      parts.append(part)
    }
    return parts
  }

  /// The levels that a device can have; asks the device where that is not known.
  private func levels(of device: DeviceRecord, _ endpoint: EndpointID) async throws(HomeError) -> LevelRange {
    if let known = LevelRange(await backend.state.values[device.nodeID], on: endpoint) { return known }
    let paths = [LevelControl.minLevel.path(on: endpoint), LevelControl.maxLevel.path(on: endpoint)]
    let report = try await read(device, paths.map { AttributePath($0) })
    var values = NodeValues()
    for path in paths { values[path] = report[path]?.value }
    // The attributes are optional.
    return LevelRange(values, on: endpoint) ?? .standard
  }

  /// Switches one endpoint.
  /// - Returns: the resulting state, which is read back for `toggle`.
  @discardableResult
  package func turn(_ target: Target, _ action: SwitchAction) async throws(HomeError) -> DeviceState.Part {
    let endpoint = try target.endpoint(serving: OnOff.id, named: "On/Off")
    let node = target.device.nodeID
    let isOn = try await with(target.device) { () async throws(HomeError) -> Bool in
      switch action {
      case .on: try await backend.invoke(OnOff.on, on: endpoint, of: node)
      case .off: try await backend.invoke(OnOff.off, on: endpoint, of: node)
      case .toggle:
        try await backend.invoke(OnOff.toggle, on: endpoint, of: node)
        let path = OnOff.onOff.path(on: endpoint)
        let report = try await backend.read(node, [AttributePath(path)], isFabricFiltered: true, timeout: nil)
        guard let value = report[path]?.value, let isOn = try? Bool(tlv: value) else {
          throw HomeError(.refused, "toggled, but the device did not report its new state")
        }
        return isOn
      }
      return action == .on
    }
    await heard(from: node, [.init(OnOff.onOff.path(on: endpoint), dataVersion: 0, value: isOn.tlv)])
    return DeviceState.Part(endpoint: endpoint, isOn: isOn)
  }

  /// Dims a device to a level of the wire, 0 to 254, and switches it on or off with it.
  /// - Parameter over: tenths of a second; nil is the device's own time.
  @discardableResult
  package func dim(_ target: Target, to level: UInt8, over tenths: UInt16?) async throws(HomeError) -> DeviceState.Part
  {
    let endpoint = try target.endpoint(serving: LevelControl.id, named: "Level Control")
    let fields = LevelControl.MoveToLevelRequest(
      level: level, transitionTime: Nullable(tenths), optionsMask: [], optionsOverride: [])
    try await with(target.device) { () async throws(HomeError) in
      _ = try await backend.invoke(
        LevelControl.moveToLevelWithOnOff, fields, on: endpoint, of: target.device.nodeID)
    }
    // Where it gets to in time; what it is on the way, it tells when it is asked.
    var values: [AttributeData] = [
      .init(OnOff.onOff.path(on: endpoint), dataVersion: 0, value: (level > 0).tlv)
    ]
    if level > 0 {
      values.append(.init(LevelControl.currentLevel.path(on: endpoint), dataVersion: 0, value: level.tlv))
    }
    await heard(from: target.device.nodeID, values)
    return DeviceState.Part(endpoint: endpoint, isOn: level > 0, level: level)
  }

  /// Applies data of a device that it has not reported itself.
  func heard(from node: NodeID, _ attributes: [AttributeData]) async {
    await backend.store(NodeReport(node, attributes, isWhole: false))
  }
}
