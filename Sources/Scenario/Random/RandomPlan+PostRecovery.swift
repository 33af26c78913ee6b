internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
internal import Simulation

extension RandomPlan {
  /// A routine event after recovery: it occurs in every home now and then, and the home must learn its effect soon.
  enum PostRecoveryEvent: Hashable, Sendable {
    /// A restart, faster than a missing report would be noticed; the button is pressed before and after it.
    case restart
    /// A power failure that is long enough for the home to back off to rare retries.
    case absence(minutes: Int)
    /// A power failure of the bridged devices.
    case childrenAway
    /// A restart with StartUpOnOff set to the opposite of the current state.
    case startUp(isOn: Bool)
    /// A lossy link, over which a press of the button is reported.
    case loss(percent: UInt64)
    /// A restart of the hub while it has no multicast, and so no service discovery.
    case hubWithoutMulticast
    /// A restart of the hub with a wrong clock.
    case hubClock(years: Int64)
  }

  /// Draws the events from a sequence of their own, so that the rest of the plan doesn't depend on them.
  static func postRecoverySteps(seed: UInt64, kinds: [Kind], from first: Int) -> [Step] {
    var random = SeededRandomSource(seed: seed ^ 0xAF_7E_12)
    return (0..<Int.random(in: 1...2, using: &random)).map { number in
      var device: Int? = Int.random(in: kinds.indices, using: &random)
      let kind = device.map { kinds[$0] }
      let act: PostRecoveryEvent
      switch Int.random(in: 0..<7, using: &random) {
      case 0: act = .restart
      case 1: act = .absence(minutes: Int.random(in: 20...40, using: &random))
      case 2 where kind == .bridge: act = .childrenAway
      case 2, 3:
        let isLight = kind.map { ![.bridge, .genericSwitch, .lightSwitch].contains($0) } ?? false
        act = isLight ? .startUp(isOn: Bool.random(using: &random)) : kind == .bridge ? .childrenAway : .restart
      case 4: act = .loss(percent: UInt64.random(in: 10...25, using: &random))
      case 5: (device, act) = (nil, .hubWithoutMulticast)
      default: (device, act) = (nil, .hubClock(years: Int64.random(in: -50 ... -1, using: &random)))
      }
      return Step(
        number: first + number, at: faultPeriod + .seconds(Int64(number)), device: device, act: .postRecovery(act))
    }
  }
}

extension RandomPlan.Step {
  /// Whether the step comes after recovery.
  var isPostRecovery: Bool { if case .postRecovery = act { true } else { false } }
}

extension RandomRun {
  /// The time within which the home must agree with the devices after each event.
  static let soon: Duration = .seconds(30)

  /// Injects an event after recovery, and waits until the home agrees with all devices again.
  func perform(postRecovery step: RandomPlan.Step) async throws {
    guard case .postRecovery(let act) = step.act else { return }
    await world.simulation.perform { $0.note("\(step)") }
    let (hub, name) = (world.hub, step.device.map { "D\($0)" } ?? ScenarioReader.hub)
    switch act {
    case .restart:
      await world.pressByHand(name)
      try await cycle(name, .seconds(1))
      await world.pressByHand(name)
      try await agreeSoon(after: step)
    case .absence(let minutes):
      try await cycle(name, .seconds(60 * minutes))
      try await agreeSoon(after: step)
    case .childrenAway:
      await world.power(false, bridgedOn: name)
      try await agreeSoon(after: step)
      await world.power(true, bridgedOn: name)
      try await agreeSoon(after: step)
    case .startUp(let isOn):
      let (onOff, startUp) = (AttributePlace(OnOff.id, OnOff.onOff.id), AttributePlace(OnOff.id, OnOff.startUpOnOff.id))
      try await world.set(startUp, of: name, to: [0x04, isOn ? 1 : 0])
      try await world.set(onOff, of: name, to: [isOn ? 0x08 : 0x09])
      try await cycle(name, .seconds(1))
      try await agreeSoon(after: step)
      guard await world.value(of: onOff, in: name) == [isOn ? 0x09 : 0x08] else {
        throw Failure(description: "\(name): it did not start as it was told to")
      }
    case .loss(let percent):
      let id = try await world.machine(of: name).id
      let conditions = LinkConditions(loss: Ratio(percent, of: 100))
      await world.simulation.perform { $0.network.set(conditions, from: id, to: hub.id) }
      await world.pressByHand(name)
      try await agreeSoon(after: step)
      await world.simulation.perform { $0.network.forgetLinks() }
    case .hubWithoutMulticast:
      await world.simulation.perform { _ = $0.network.withoutMulticast.insert(hub.id) }
      try await cycle(name, .seconds(5))
      try await agreeSoon(after: step)
      await world.simulation.perform { _ = $0.network.withoutMulticast.remove(hub.id) }
    case .hubClock(let years):
      try await world.moveWallClock(of: name, by: .seconds(years * 31_536_000))
      try await cycle(name, .seconds(5))
      try await agreeSoon(after: step)
    }
  }

  private func cycle(_ name: String, _ time: Duration) async throws {
    try await world.cutPower(of: name)
    try await world.simulation.sleep(for: time)
    try await world.restorePower(of: name)
  }

  private func agreeSoon(after step: RandomPlan.Step) async throws {
    let end = await world.simulation.now + Self.soon
    while true {
      let wrong = try await world.disagreements()
      if wrong.isEmpty { return }
      guard await world.simulation.now < end else {
        let text = wrong.map(\.description).joined(separator: "; ")
        throw Failure(description: "\(Self.soon.nanoseconds / 1_000_000_000) s after \(step): \(text)")
      }
      try await world.simulation.sleep(for: .seconds(1))
    }
  }
}
