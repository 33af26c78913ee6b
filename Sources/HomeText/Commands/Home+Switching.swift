package import HearthHome
internal import MatterClusters
internal import MatterProtocol

/// An action on a device with an On/Off cluster.
public enum SwitchAction: String, Hashable, Sendable {
  case on, off, toggle
}

extension Home {
  /// Resolves the target texts of an On/Off command. Of a wildcard, a room or a group, only devices that accept the
  /// command are targets.
  package func targets(_ texts: [String], accepting action: SwitchAction) async throws(HomeError) -> [Target] {
    try await targets(texts, serving: OnOff.id) { target in
      guard action != .off, let endpoints = try? target.endpoints(serving: OnOff.id) else { return true }
      for endpoint in endpoints where await !self.switchesOffOnly(target.device, endpoint) { return true }
      return false
    }
  }

  /// Resolves the target texts of a command. Of a wildcard, a room or a group, only devices that serve the cluster and
  /// can perform the command are targets.
  func targets(
    _ texts: [String], serving cluster: ClusterID, where canPerform: @escaping @Sendable (Target) async -> Bool
  ) async throws(HomeError) -> [Target] {
    let registry = await registry
    let all = try registry.resolve(all: texts, serving: cluster)
    guard all.count > 1 else { return all }
    let unable = Set(
      await all.concurrentMap { target -> Target? in await canPerform(target) ? nil : target }.compactMap(\.self))
    return try registry.resolve(all: texts, serving: cluster, where: { !unable.contains($0) })
  }

  /// Returns whether an endpoint can only be switched off, such as a cooktop; reads its features if they are unknown.
  private func switchesOffOnly(_ device: DeviceRecord, _ endpoint: EndpointID) async -> Bool {
    let path = ConcreteAttributePath(endpoint, OnOff.id, GlobalAttribute.featureMap)
    var value = await backend.state.values[device.nodeID]?[path]
    if value == nil { value = try? await read(device, [AttributePath(path)])[path]?.value }
    return value.flatMap { try? UInt32(tlv: $0) }.map { $0 & OnOff.offOnly.mask != 0 } ?? false
  }

  /// Switches the named endpoint, or all endpoints of a device with an On/Off cluster, such as the outlets of a strip.
  /// - Returns: the resulting state of each endpoint, at least one; it is read for `toggle`.
  @discardableResult
  package func turn(_ target: Target, _ action: SwitchAction) async throws(HomeError) -> [DeviceState.Part] {
    var parts: [DeviceState.Part] = []
    for endpoint in try target.endpoints(serving: OnOff.id) {
      let command =
        switch action {
        case .on: OnOff.on
        case .off: OnOff.off
        case .toggle: OnOff.toggle
        }
      try await invoke(command, on: endpoint, of: target.device)
      var isOn: Bool? = action == .on
      if action == .toggle {
        let path = OnOff.onOff.path(on: endpoint)
        isOn = try await read(target.device, [AttributePath(path)])[path].flatMap { try? Bool(tlv: $0.value) }
      }
      guard let isOn else {
        throw HomeError(.refused, "toggled, but the device did not report its new state", device: target.device.name)
      }
      await store([OnOff.onOff.data(isOn, on: endpoint)], of: target.device)
      parts.append(DeviceState.Part(endpoint: endpoint, isOn: isOn))
    }
    return parts
  }

  /// Dims the named endpoint, or all endpoints of a device with a level, and switches them on or off accordingly.
  /// - Parameter over: the transition time in tenths of a second; nil: the device's own time.
  /// - Returns: the resulting state of each endpoint, at least one.
  @discardableResult
  package func dim(
    _ target: Target, to wanted: WantedLevel, over tenths: UInt16?
  ) async throws(HomeError) -> [DeviceState.Part] {
    var parts: [DeviceState.Part] = []
    for endpoint in try target.endpoints(serving: LevelControl.id) {
      let range = try await levels(of: target.device, endpoint)
      let level = wanted.level(in: range)
      guard range.allows(level) else {
        throw HomeError(
          .badArguments, "level \(level) is out of range; expected 0 or \(range.lowest) to \(range.highest)",
          device: target.device.name)
      }
      var part = DeviceState.Part(endpoint: endpoint, isOn: level > 0, level: level)
      part.levels = range
      parts.append(part)
    }
    for part in parts {
      let (level, endpoint) = (part.level ?? 0, part.endpoint)
      let fields = LevelControl.MoveToLevelRequest(
        level: level, transitionTime: Nullable(tenths), optionsMask: [], optionsOverride: [])
      try await invoke(LevelControl.moveToLevelWithOnOff, fields, on: endpoint, of: target.device)
      // The state at the end of the transition.
      var values = [OnOff.onOff.data(level > 0, on: endpoint)]
      if level > 0 { values.append(LevelControl.currentLevel.data(Nullable(level), on: endpoint)) }
      await store(values, of: target.device)
    }
    return parts
  }

  /// Returns the levels that an endpoint can have; reads them from the device if they are unknown.
  private func levels(of device: DeviceRecord, _ endpoint: EndpointID) async throws(HomeError) -> LevelRange {
    if let known = LevelRange(await backend.state.values[device.nodeID], on: endpoint) { return known }
    let paths = [LevelControl.minLevel.path(on: endpoint), LevelControl.maxLevel.path(on: endpoint)]
    let report = try await read(device, paths.map { AttributePath($0) })
    var values = NodeValues()
    for path in paths { values[path] = report[path]?.value }
    // The attributes are optional.
    return LevelRange(values, on: endpoint) ?? .standard
  }

  /// Stores values that result from a command, and that the device has not reported.
  func store(_ attributes: [AttributeData], of device: DeviceRecord) async {
    await backend.store(NodeReport(device.nodeID, attributes, isWhole: false))
  }
}
