internal import HearthHome
internal import MatterModel
internal import MatterProtocol
internal import Simulation
internal import VirtualDevices

extension SimulatedHome: Stage {
  nonisolated var now: Duration { simulation.world.value.now - .zero }

  func sleep(for time: Duration) async throws { try await simulation.sleep(for: time) }

  func sleepUntilNextEvent(within time: Duration, pace: Duration) async throws {
    try await simulation.sleepUntilNextEvent(within: time, pace: pace)
  }

  func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R {
    try await simulation.naming(what, body)
  }

  func perform(_ action: ScenarioStep.Action) async throws {
    switch action {
    case .wait, .command, .expect: break
    case .power(let device, let power):
      if power != .on { try await cutPower(of: device) }
      if power == .cycle { try await sleep(for: .seconds(1)) }
      if power != .off { try await restorePower(of: device) }
    case .powerCut(let device, let count): try machine(of: device).effectsUntilPowerCut = count
    case .network(let device, let fault): try inject(device, fault)
    case .add(let bridge, let devices):
      addToTimeline("add \(devices.map(\.path).joined(separator: ", ")) behind \(bridge)")
      try find(bridge).device.add(devices)
    case .remove(let bridge, let device):
      addToTimeline("remove \(device) from \(bridge)")
      try find(bridge).device.remove(device)
    case .faults(let device, let faults): try inject(faults, into: device)
    case .compete(let device, let count): try await compete(for: device, times: count)
    case .subscriptions(let device, let count): try await compete(for: device, subscriptions: count)
    case .address(let device): try move(device)
    case .clock(let device, let time): try moveWallClock(of: device, by: time)
    case .drift(let device, let millionths): try machine(of: device).setDrift(millionths)
    case .set(let device, let place, let value): try set(place, of: device, to: value)
    case .part(let device, let name, let endpoint, let state): try move(name, of: device, on: endpoint, to: state)
    case .press(let device, let press, let button): try self.press(device, press, button: button + 1)
    }
  }

  /// Observes after each step of the world, as nothing changes in between.
  func watch(_ subjects: [Claim.Subject], _ onFact: @escaping @Sendable (Int, Fact, Duration) -> Void) {
    let observe: @Sendable () -> Void = { [weak self] in
      self?.assumeIsolated { home in
        for (index, subject) in subjects.enumerated() {
          switch subject {
          case .actual(let device, let place, _): onFact(index, .value(home.value(of: place, in: device)), home.now)
          case .messages(let device, _): onFact(index, .messages(home.messageCount(of: device)), home.now)
          case .connectivity, .locality, .attribute, .event: break
          }
        }
      }
    }
    observe()
    simulation.world.value.afterStep = observe
  }

  func stopWatching() { simulation.world.value.afterStep = nil }

  func note(_ text: String) { simulation.world.value.note(text) }

  func pair(_ device: String) async throws { try await pairDevice(device) }

  func messageCount(of device: String?) -> Int {
    guard let device else { return simulation.world.value.network.packetCount }
    return (try? machine(of: device))?.packetCount ?? 0
  }
}
