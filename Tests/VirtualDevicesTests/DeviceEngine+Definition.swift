import MatterCrypto
import MatterDevice
import MatterProtocol
import Runtime

@testable import VirtualDevices

extension DeviceEngine {
  /// Starts the engine of a device of a definition file, without a commissioning window.
  /// - Parameter epoch: Unix time at the start in seconds.
  init(
    _ device: DeviceDefinition, stored: StoredState = [:], epoch: Int64? = nil, _ clock: BehaviorClock = .zero
  ) throws {
    var random: any RandomSource = SeededRandomSource(seed: 1)
    let identity = try DeviceIdentity(of: device, in: MemoryStore(), [:], random: &random)
    var configuration = DeviceAssembly.configuration(of: device, identity: identity, port: 5540)
    configuration.isCommissionable = false
    configuration.epoch = epoch.map { .seconds($0) }
    var numbers = EndpointNumbers()
    self.init(
      configuration, endpoints: DeviceAssembly.endpoints(of: device, &numbers, clock), stored: stored, random: random,
      at: clock.now)
  }
}

/// Advances an engine to a time, deadline by deadline, and discards its effects.
func advance(_ engine: inout DeviceEngine, to end: Instant) {
  var engines = [engine]
  advance(&engines, to: end)
  engine = engines[0]
}

/// Advances engines to a time, in the order of their deadlines, and discards their effects.
func advance(_ engines: inout [DeviceEngine], to end: Instant) {
  while let next = engines.compactMap(\.nextDeadline).min(), next <= end {
    for index in engines.indices where engines[index].nextDeadline == next {
      engines[index].advance(to: next)
      while engines[index].nextEffect() != nil {}
    }
  }
  for index in engines.indices { engines[index].advance(to: end) }
}
