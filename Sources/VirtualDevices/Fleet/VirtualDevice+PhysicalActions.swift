internal import MatterClusters
package import MatterDevice
package import MatterModel
internal import MatterProtocol
internal import Runtime

// What somebody does who stands before the device.
extension VirtualDevice {
  /// Switches the power of the device, or of one behind it: then its bridge does not reach it.
  package func switchPower(_ isOn: Bool, at place: Place) throws(ControlError) {
    if let bridged = place.bridged {
      if isOn { withoutPower.remove(bridged.path) } else { withoutPower.insert(bridged.path) }
      // Where its bridge has none either it is heard of when that starts.
      if host == nil { return }
      try withEngine { (engine, now) throws(StatusError) in
        try engine.power(isOn, bridgedOn: place.node, at: now)
      }
    } else if isOn {
      do { try restorePower() } catch { throw ControlError(.failed, "does not start: \(error)") }
    } else {
      cutPower()
    }
  }

  /// Does something with the engine; what the engine says against it becomes the answer.
  /// - Parameter range: the numbers that are possible, for the answer.
  private func withEngine(
    range: ClosedRange<Int64>? = nil, _ body: (inout DeviceEngine, Instant) throws(StatusError) -> Void
  ) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    do throws(StatusError) {
      try host.perform { (engine, now) throws(StatusError) in try body(&engine, now) }
    } catch {
      switch error.status.code {
      case .unsupportedCluster: throw ControlError(.notFound, "no such cluster on the endpoint")
      case .unsupportedAttribute: throw ControlError(.notFound, "no such attribute on the endpoint, or it can't be set")
      case .constraintError:
        let expected = range.map { "; expected \($0.lowerBound) to \($0.upperBound)" } ?? ""
        throw ControlError(.refused, "the value is out of range" + expected)
      case .invalidDataType: throw ControlError(.refused, "the value is of another type")
      default: throw ControlError(.refused, "\(error.status)")
      }
    }
  }

  /// A device behind a bridge may have none while its bridge has.
  private func checkPower(_ path: ClusterPath, _ host: EngineHost<DeviceEngine>) throws(ControlError) {
    guard !host.perform({ engine, _ in engine.isOutOfReach(path) }) else {
      throw ControlError(.noPower, "the device has no power")
    }
  }

  /// Moves a switch.
  package func move(_ moves: [SwitchMove], on endpoint: EndpointID) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    try checkPower(ClusterPath(endpoint, Switch.id), host)
    guard host.perform({ engine, _ in engine.value(Switch.currentPosition, on: endpoint) }) != nil else {
      // A light switch has no position to tell: it has what it is bound to switched over.
      if host.perform({ engine, _ in engine.value(Binding.binding, on: endpoint) }) != nil {
        let count = host.perform { engine, now in engine.control(OnOff.toggle, NoFields(), from: endpoint, at: now) }
        guard count > 0 else { throw ControlError(.refused, "not bound to any device") }
        return
      }
      throw ControlError(.refused, "no buttons")
    }
    try withEngine { (engine, now) throws(StatusError) in try engine.operate(switchOn: endpoint, moves, at: now) }
  }

  /// The first of the endpoints that has an attribute, and its value.
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
    throw ControlError(.notFound, "no such attribute")
  }

  /// Changes an attribute on the first of the endpoints that has it.
  package func set(
    _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8], on endpoints: [EndpointID]
  ) throws(ControlError) {
    let endpoint = try find(cluster, attribute, on: endpoints).endpoint
    let path = ConcreteAttributePath(endpoint, cluster, attribute)
    let range = host?.perform { engine, _ in engine.range(of: path) }
    try withEngine(range: range ?? nil) { (engine, now) throws(StatusError) in
      if cluster == Switch.id, attribute == Switch.currentPosition.id, let position = try? UInt8(tlv: value) {
        // A switch has no more positions than it has.
        try engine.operate(switchOn: endpoint, [SwitchMove(to: position)], at: now)
      } else {
        try engine.act(set: path, encoded: value, at: now)
      }
    }
  }
}

extension VirtualDevice.Place {
  /// The endpoints to look on: the one that was said, else that of the device and those of what it does.
  package func endpoints(_ said: UInt16?) -> [EndpointID] {
    said.map { [EndpointID($0)] } ?? ([node] + application)
  }
}
