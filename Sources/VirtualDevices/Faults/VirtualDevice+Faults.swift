internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime

// Faults of the device itself, installed as hooks of its engine.
extension VirtualDevice {
  /// Replaces the faults of the device or of a bridged one.
  package func inject(_ faults: DeviceFaults, at place: Place) throws(ControlError) {
    guard place.bridged == nil || !faults.areOfNode else {
      throw ControlError(
        .refused, "it has faults of its attributes only; use “\(definition.path)”")
    }
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    if let update = faults.update, !update.isPossible(for: definition.kind) {
      let possible = UpdateFault.allCases.filter { $0.isPossible(for: definition.kind) }.map(\.rawValue)
      throw ControlError(
        .refused, "its updates can't fail by “\(update.rawValue)”; expected \(DefinitionReader.list(possible))")
    }
    for fault in faults.data { _ = try endpoints(fault.endpoint, of: place) }
    let path = place.bridged?.path ?? definition.path
    let old = self.faults[path]
    self.faults[path] = faults
    do throws(ControlError) {
      try host.perform { (engine, now) throws(ControlError) in
        try installFaults(in: &engine, of: path, at: now)
      }
    } catch {
      self.faults[path] = old
      throw error
    }
    noteChange()
  }

  /// Installs the present faults in an engine.
  /// - Parameter subject: the path of the device whose faults are new; nil: that of the node.
  /// - Throws: `notFound` for an attribute that the device doesn't have.
  func installFaults(
    in engine: inout DeviceEngine, of subject: String? = nil, at now: Instant
  ) throws(ControlError) {
    var (hooks, node) = ownHooks ?? (engine.hooks, engine.configuration.limits.hooks)
    ownHooks = (hooks, node)
    let own = faults[definition.path] ?? DeviceFaults()
    own.install(in: &hooks, &node)
    for (path, faults) in faults.sorted(by: { $0.key < $1.key }) {
      guard let place = place(named: path) else { continue }
      for fault in faults.data {
        guard let found = place.paths(of: fault).first(where: { engine.serves($0) }) else {
          let name = path == subject ?? definition.path ? "it" : path
          throw ControlError(.notFound, "\(name) has no attribute \(fault.name)")
        }
        hooks.violations[found] = fault.violation
      }
    }
    if let flaw = own.attestation {
      do { hooks.attestation = try flawedAttestation(flaw) } catch {
        throw ControlError(.failed, "can't make the attestation: \(error)")
      }
    }
    engine.install(hooks, node, at: now)
  }
}

extension VirtualDevice.Place {
  /// Returns the attributes that a fault may refer to.
  fileprivate func paths(of fault: DeviceFaults.DataFault) -> [ConcreteAttributePath] {
    endpoints(fault.endpoint).map { ConcreteAttributePath($0, fault.cluster, fault.attribute) }
  }
}
