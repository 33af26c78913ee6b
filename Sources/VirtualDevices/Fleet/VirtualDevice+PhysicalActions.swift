internal import MatterClusters
package import MatterDevice
package import MatterModel
internal import MatterProtocol
internal import Runtime

// Physical actions on the device.
extension VirtualDevice {
  /// Switches the power of the device, or of a bridged one, which is unreachable without power.
  package func switchPower(_ isOn: Bool, at place: Place) throws(ControlError) {
    if let bridged = place.bridged {
      guard definition.kind == .bridge else {
        throw ControlError(.refused, "it has no power supply of its own; use “\(definition.path)”")
      }
      if isOn { withoutPower.remove(bridged.path) } else { withoutPower.insert(bridged.path) }
      // If the bridge has no power either, the change takes effect at its start.
      if host == nil { return }
      try withEngine { (engine, now) throws(StatusError) in
        try engine.power(isOn, bridgedOn: place.node, at: now)
      }
    } else if isOn {
      do { try restorePower() } catch { throw ControlError(.failed, "it does not start: \(error)") }
    } else {
      cutPower()
    }
  }

  /// Calls `body` with the engine, and converts its errors.
  /// - Parameter expected: the allowed values, for the error.
  private func withEngine(
    expected: String? = nil, _ body: (inout DeviceEngine, Instant) throws(StatusError) -> Void
  ) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    do throws(StatusError) {
      try host.perform { (engine, now) throws(StatusError) in try body(&engine, now) }
    } catch {
      switch error.status.code {
      case .unsupportedCluster: throw ControlError(.notFound, "it has no such cluster there")
      case .unsupportedAttribute: throw ControlError(.notFound, "it has no such attribute there, or it can't be set")
      case .constraintError:
        throw ControlError(.refused, "the value is out of range" + (expected.map { "; expected \($0)" } ?? ""))
      case .invalidInState: throw ControlError(.refused, "the device can't do that now")
      case .invalidDataType: throw ControlError(.refused, "the value is of another type")
      default: throw ControlError(.refused, "\(error.status)")
      }
    }
  }

  /// Throws if a bridged device has no power.
  private func checkPower(_ path: ClusterPath, _ host: EngineHost<DeviceEngine>) throws(ControlError) {
    guard !host.perform({ engine, _ in engine.isUnreachable(path) }) else {
      throw ControlError(.noPower, "the device has no power")
    }
  }

  /// Moves a part that no attribute describes, such as a door, on the first of the endpoints that has it.
  /// - Parameter place: the device that the endpoints belong to, for the error.
  package func move(
    part name: String, to state: String, on endpoints: [EndpointID], of place: Place
  ) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    let parts = host.perform { engine, _ in endpoints.map { (endpoint: $0, parts: engine.parts(on: $0)) } }
    let wanted = NormalizedName(name)
    for (endpoint, parts) in parts {
      guard let part = parts.first(where: { NormalizedName($0.name) == wanted }) else { continue }
      try checkPower(ClusterPath(endpoint, part.cluster), host)
      let known = part.values.first { NormalizedName($0) == NormalizedName(state) }
      guard let found = part.values.isEmpty ? state : known else {
        throw ControlError(.refused, "unknown state “\(state)”; expected \(DefinitionReader.list(part.values))")
      }
      return try withEngine(expected: part.expected) { (engine, now) throws(StatusError) in
        try engine.act(part: part.name, found, on: endpoint, at: now)
      }
    }
    let others = host.perform { engine, _ in
      place.application.indices.filter { index in
        engine.parts(on: place.application[index]).contains { NormalizedName($0.name) == wanted }
      }
    }
    guard others.isEmpty else {
      let numbers = EndpointList.text(others.map { $0 + 1 })
      throw ControlError(.notFound, "it has no part “\(name)” there; expected endpoint \(numbers)")
    }
    let names = Set(parts.flatMap(\.parts).map(\.name)).sorted()
    throw ControlError(
      .notFound,
      names.isEmpty
        ? "it has no part “\(name)”; an attribute is DEVICE.CLUSTER.ATTRIBUTE"
        : "it has no part “\(name)”; expected \(DefinitionReader.list(names))")
  }

  /// Operates a switch.
  package func move(_ moves: [SwitchMove], on endpoint: EndpointID) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    try checkPower(ClusterPath(endpoint, Switch.id), host)
    guard let positions = host.perform({ engine, _ in engine.value(Switch.numberOfPositions, on: endpoint) }) else {
      // A light switch has no position: it toggles the nodes that it is bound to.
      if host.perform({ engine, _ in engine.value(Binding.binding, on: endpoint) }) != nil {
        let count = host.perform { engine, now in engine.control(OnOff.toggle, NoFields(), from: endpoint, at: now) }
        guard count > 0 else { throw ControlError(.refused, "it is not bound to anything with On/Off") }
        return
      }
      throw ControlError(.refused, "it has no buttons")
    }
    let path = ConcreteAttributePath(endpoint, Switch.id, GlobalAttribute.featureMap)
    let features = host.perform { engine, now in engine.value(of: path, at: now) }.flatMap { try? UInt32(tlv: $0) } ?? 0
    guard moves.count <= 1 || features & Switch.latchingSwitch.mask == 0 else {
      throw ControlError(.refused, "a latching switch keeps its position; use “latch” and a position")
    }
    try withEngine(expected: "a position from 0 to \(max(0, Int(positions) - 1))") {
      (engine, now) throws(StatusError) in
      try engine.operate(switchOn: endpoint, moves, at: now)
    }
  }

  /// Returns the first of the endpoints with an attribute, and its value.
  package func find(
    _ cluster: ClusterID, _ attribute: AttributeID, on endpoints: [EndpointID]
  ) throws(ControlError) -> (endpoint: EndpointID, value: [UInt8]) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    for endpoint in endpoints {
      let path = ConcreteAttributePath(endpoint, cluster, attribute)
      guard let value = host.perform({ engine, now in engine.value(of: path, at: now) }) else { continue }
      try checkPower(ClusterPath(endpoint, cluster), host)
      return (endpoint, value)
    }
    let hasCluster = host.perform { engine, now in
      endpoints.contains {
        engine.value(of: ConcreteAttributePath($0, cluster, GlobalAttribute.clusterRevision), at: now) != nil
      }
    }
    let name = ClusterCatalogue.cluster(cluster).map { NormalizedName.camelCase($0.name) } ?? "\(cluster)"
    throw ControlError(.notFound, hasCluster ? "it has no such attribute" : "it has no cluster \(name)")
  }

  /// Changes an attribute on the first of the endpoints that has it.
  package func set(
    _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8], on endpoints: [EndpointID]
  ) throws(ControlError) {
    let endpoint = try find(cluster, attribute, on: endpoints).endpoint
    let path = ConcreteAttributePath(endpoint, cluster, attribute)
    let info = ClusterCatalogue.cluster(cluster)?.attribute(attribute)
    let isDerived = host?.perform { engine, _ in engine.isDerived(path) } == true
    guard cluster != Descriptor.id, info?.quality.contains(.fixed) != true, !isDerived else {
      throw ControlError(
        .refused, "the physical device can't change it; `hearth sim fault --data` lets it violate the standard")
    }
    let range: ClosedRange<Int64>? = host?.perform { engine, _ in engine.range(of: path) } ?? nil
    let (values, unit) = (host?.perform { engine, _ in engine.values(of: path) } ?? nil, ValueUnit(cluster, attribute))
    let names = info?.schema.namedValues(among: values) ?? sounds(path)
    func text(_ number: Int64) -> String { unit?.text(number) ?? "\(number)" }
    try withEngine(expected: names ?? range.map { "\(text($0.lowerBound)) to \(text($0.upperBound))" }) {
      (engine, now) throws(StatusError) in
      if cluster == Switch.id, attribute == Switch.currentPosition.id, let position = try? UInt8(tlv: value) {
        // Operates the switch, which checks the number of positions.
        try engine.operate(switchOn: endpoint, [SwitchMove(to: position)], at: now)
      } else {
        try engine.act(set: path, encoded: value, at: now)
      }
    }
  }

  /// Returns the sounds that a chime can select; nil for another attribute.
  private func sounds(_ path: ConcreteAttributePath) -> String? {
    guard path == Chime.selectedChime.path(on: path.endpoint) else { return nil }
    let sounds = host?.perform { engine, _ in engine.value(Chime.installedChimeSounds, on: path.endpoint) } ?? nil
    return sounds.flatMap { sounds in
      DefinitionReader.list(Dictionary(sounds.map { (UInt64($0.chimeID), $0.name) }) { first, _ in first })
    }
  }

  // MARK: Test events

  /// The test events of a device of this node.
  func testEvents(at place: Place) throws(ControlError) -> [TestEvent] {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    let own = Set([place.node] + place.application)
    return host.perform { engine, _ in
      engine.testEvents.filter { place.bridged == nil || own.contains($0.endpoint) }
    }
  }

  /// Causes a test event by its name or its trigger. A trigger without an endpoint is for the first endpoint that has the event.
  func cause(_ text: String, at place: Place) throws(ControlError) -> TestEvent {
    let events = try testEvents(at: place)
    let number = UInt64(numeral: text)
    let found = events.first { event in
      event.trigger == number || event.triggerOfFirst == number || event.name.lowercased() == text.lowercased()
    }
    guard let event = found else {
      let names = events.map(\.name)
      throw ControlError(
        .notFound,
        "it has no test event “\(text)”" + (names.isEmpty ? "" : "; expected \(DefinitionReader.list(names))"))
    }
    try withEngine { (engine, now) throws(StatusError) in try engine.cause(event.trigger, at: now) }
    return event
  }
}
