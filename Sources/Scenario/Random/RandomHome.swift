internal import HearthHome
internal import HomeText
internal import MatterClusters
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// Runs random homes: first with faults, then without them. Within `bound` of the end of the faults the home must
/// agree with every device. Routine events follow, after each of which it must agree again, soon.
public enum RandomHome {
  /// The outcome of a run.
  public struct Outcome: Sendable {
    public var plan: RandomPlan
    /// The failure; nil if the run passed.
    public var failure: String?
    /// The digest of the trace, which is the same for the same seed on every machine; 0 if the run could not begin.
    public var digest: UInt64
    /// The time from the end of the faults until the home agreed with all devices.
    public var converged: Duration?
    /// The number of datagrams sent by all machines.
    public var datagrams: Int

    /// The first failure without device names and numbers, for grouping; nil if the run passed.
    public var kind: String? {
      failure.map { failure in
        let first = failure.prefix { $0 != ";" }
        let words = first.split(omittingEmptySubsequences: false) { !$0.isLetter && !$0.isNumber }
        return words.filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
      }
    }
  }

  /// The time after the end of the faults within which the home must know every device and agree with it.
  static let bound: Duration = .seconds(600)

  /// Runs a plan.
  /// - Parameter defect: a seeded defect, for tests of the tests.
  public static func run(_ plan: RandomPlan, defect: SeededDefect? = nil) async -> Outcome {
    var options = SimulatedHomeOptions()
    options.keepsTrace = false
    options.isPaired = false
    options.defect = defect
    let counted = Counted()
    do {
      let run = await simulate(
        try plan.definition(), seed: plan.seed, limit: .seconds(21_600), options
      ) { _, world in
        try await world.simulation.naming("the home to be set up") { try await RandomRun.prepare(plan, world) }
        let randomRun = RandomRun(plan, world)
        let simulation = world.simulation
        for step in plan.steps where !step.isPostRecovery {
          try await simulation.naming("step \(step)") { try await randomRun.perform(step) }
        }
        try await simulation.naming("the network to heal") { try await randomRun.heal() }
        let healed = await simulation.now
        try await simulation.naming("newcomers to be commissioned") {
          try await randomRun.commissionNewcomers(since: healed)
        }
        let time = try await simulation.naming("all to agree") { try await randomRun.converge(since: healed) }
        for step in plan.steps where step.isPostRecovery {
          try await simulation.naming("step \(step)") { try await randomRun.perform(postRecovery: step) }
        }
        counted.datagrams = await world.simulation.perform { $0.network.packetCount }
        return time
      }
      var outcome = Outcome(
        plan: plan, digest: run.trace.digest, datagrams: counted.datagrams)
      do { outcome.converged = try run.result.get() } catch { outcome.failure = "\(error)" }
      return outcome
    } catch {
      return Outcome(plan: plan, failure: "\(error)", digest: 0, datagrams: 0)
    }
  }

  private final class Counted: @unchecked Sendable {
    // Not checked: written on the world's thread, read after it has ended.
    var datagrams = 0
  }

  /// Searches for a plan with fewer devices and steps that fails in the same way.
  /// - Parameters:
  ///   - attempts: the largest number of runs.
  ///   - defect: the seeded defect of the failed run.
  public static func shrink(_ failed: Outcome, attempts: Int = 60, defect: SeededDefect? = nil) async -> Outcome {
    var best = failed
    var left = attempts
    func attempt(_ plan: RandomPlan) async -> Bool {
      guard left > 0, plan != best.plan else { return false }
      left -= 1
      let outcome = await run(plan, defect: defect)
      // A plan with a different failure is not accepted.
      guard outcome.kind == failed.kind else { return false }
      best = outcome
      return true
    }
    func removeDevices() async {
      for device in best.plan.kept where best.plan.kept.count > 1 {
        _ = await attempt(best.plan.keeping(devices: best.plan.kept.filter { $0 != device }))
      }
    }
    func removeSteps(_ size: Int) async {
      var start = 0
      while start < best.plan.steps.count, left > 0 {
        let numbers = best.plan.steps.map(\.number)
        let rest = numbers.indices.filter { $0 < start || $0 >= start + size }.map { numbers[$0] }
        if await !attempt(best.plan.keeping(steps: rest)) { start += size }
      }
    }
    await removeDevices()
    if best.plan.hasSecondHome { _ = await attempt(best.plan.withoutSecondHome()) }
    // Halves first, then quarters, at last single steps, until no step can be removed.
    var size = best.plan.steps.count / 2
    while size > 1, left > 0 {
      await removeSteps(size)
      size /= 2
    }
    var before: RandomPlan?
    while before != best.plan, left > 0 {
      before = best.plan
      await removeSteps(1)
      await removeDevices()
      for device in best.plan.newcomers.sorted() { _ = await attempt(best.plan.commissioning(device)) }
    }
    return best
  }
}

/// Executes the steps of a plan on a simulated home.
struct RandomRun {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let plan: RandomPlan
  let world: SimulatedHome
  private let start: Instant

  init(_ plan: RandomPlan, _ world: SimulatedHome) {
    (self.plan, self.world) = (plan, world)
    start = world.simulation.world.value.now
  }

  /// Commissions the devices that are part of the home from the start.
  static func prepare(_ plan: RandomPlan, _ world: SimulatedHome) async throws {
    let names = Set(plan.kept.filter { !plan.newcomers.contains($0) }.map { "D\($0)" })
    try await world.pair(world.definition.devices.filter { names.contains($0.name) })
    if plan.hasSecondHome { try await world.addOtherHome() }
  }

  private func network(_ body: @Sendable (inout SimulatedNetwork) -> Void) async {
    await world.simulation.perform { body(&$0.network) }
  }

  // MARK: Faults

  func perform(_ step: RandomPlan.Step) async throws {
    let pause = start + step.at - (await world.simulation.now)
    if pause > .zero { try await world.simulation.sleep(for: pause) }
    await world.simulation.perform { $0.note("\(step)") }
    if let device = step.device {
      try await perform(step.act, device)
    } else {
      try await performOnHub(step.act)
    }
  }

  private func perform(_ act: RandomPlan.Act, _ number: Int) async throws {
    let name = "D\(number)"
    let machine = try await world.machine(of: name)
    let (id, hub) = (machine.id, world.hub.id)
    switch act {
    case .toggle, .dim, .rename: command(act, number)
    case .pressByHand: await world.pressByHand(name)
    case .pair: pair(number)
    case .conditions(let weather):
      let conditions = LinkConditions(weather)
      await network { $0.set(conditions, from: id, to: hub) }
    case .partition: await network { $0.partition([id], from: [hub]) }
    case .cutToHub: await network { $0.cut(from: id, to: hub) }
    case .cutFromHub: await network { $0.cut(from: hub, to: id) }
    case .partitionSecondHome:
      let others = await world.others.map(\.machine.id)
      await network { $0.partition([id], from: others) }
    case .conditionsSecondHome(let weather):
      let (conditions, others) = (LinkConditions(weather), await world.others.map(\.machine.id))
      await network { network in for other in others { network.set(conditions, from: id, to: other) } }
    case .cutPower(let effects): try await cutPower(of: machine, afterEffects: effects)
    case .restorePower: try await world.restorePower(of: name)
    case .move(let place): await move(machine, to: place)
    case .drift(let millionths): await world.simulation.perform { _ in machine.setDrift(millionths) }
    case .jump(let seconds): try await world.moveWallClock(of: name, by: .seconds(seconds))
    case .multicast(let isOn): await multicast(isOn, id)
    case .place(let isOther): await network { $0.networks[id] = isOther ? "other" : nil }
    case .family(let family, let isOn): await world.simulation.perform { _ in machine.setFamily(family, isOn: isOn) }
    case .bridged(let isOn): await world.power(isOn, bridgedOn: name)
    case .heal: await network { $0.heal() }
    case .cutSecondHome, .restoreSecondHome, .postRecovery: break
    }
  }

  private func performOnHub(_ act: RandomPlan.Act) async throws {
    let hub = world.hub
    switch act {
    case .conditions(let weather):
      let conditions = LinkConditions(weather)
      await network { $0.conditions = conditions }
    case .cutPower(nil): try await world.cutPower(of: ScenarioReader.hub)
    case .cutPower(let effects): try await cutPower(of: hub, afterEffects: effects)
    case .restorePower: try await world.restorePower(of: ScenarioReader.hub)
    case .cutSecondHome(let effects):
      for other in await world.others { try await cutPower(of: other.machine, afterEffects: effects) }
    case .restoreSecondHome: try await world.restoreOthers()
    case .move(let place): await move(hub, to: place)
    case .jump(let seconds): await world.simulation.perform { _ in hub.moveWallClock(by: .seconds(seconds)) }
    case .multicast(let isOn): await multicast(isOn, hub.id)
    default: break
    }
  }

  private func cutPower(of machine: SimulatedMachine, afterEffects effects: Int?) async throws {
    await world.simulation.perform { _ in
      if let effects { machine.effectsUntilPowerCut = effects } else { machine.cutPower() }
    }
  }

  private func move(_ machine: SimulatedMachine, to place: UInt64) async {
    await world.simulation.perform { _ in
      machine.move(to: [.v6(high: 0xFD00_0000_0000_0001, low: place << 16 | UInt64(machine.id.rawValue), scope: 0)])
    }
  }

  private func multicast(_ isOn: Bool, _ id: HostID) async {
    await world.simulation.perform { world in
      if isOn { world.network.withoutMulticast.remove(id) } else { world.network.withoutMulticast.insert(id) }
    }
  }

  /// Starts commissioning a device. A failure is ignored: the device may already be commissioned.
  private func pair(_ number: Int) {
    let world = world
    Tasks.start { _ = try? await world.pairDevice("D\(number)") }
  }

  /// Starts a command without awaiting it. A failure is ignored.
  private func command(_ act: RandomPlan.Act, _ number: Int) {
    let world = world
    Tasks.start {
      guard let home = try? await world.home else { return }
      let id = world.definition.devices.first { $0.name == "D\(number)" }?.uniqueID
      guard let device = await home.registry.devices.first(where: { $0.identity.uniqueID == id }) else { return }
      switch act {
      case .toggle: _ = try? await home.turn(Target(device), .toggle)
      case .dim(let level): _ = try? await home.dim(Target(device), to: .encoded(level), over: nil)
      case .rename(let name): _ = try? await home.rename(device.id, to: "Name \(name)")
      default: break
      }
    }
  }

  // MARK: Recovery

  /// Removes all faults.
  func heal() async throws {
    await world.simulation.perform { world in
      world.note("heals")
      world.network.heal()
      world.network.conditions = .perfect
      world.network.forgetLinks()
      world.network.withoutMulticast = []
      world.network.networks = [:]
    }
    let hubs = [world.hub] + (await world.others.map(\.machine))
    await world.simulation.perform { _ in for hub in hubs { hub.effectsUntilPowerCut = nil } }
    try await world.restorePower(of: ScenarioReader.hub)
    try await world.restoreOthers()
    for device in plan.kept {
      let machine = try await world.machine(of: "D\(device)")
      await world.simulation.perform { _ in machine.effectsUntilPowerCut = nil }
      try await world.restorePower(of: "D\(device)")
      await world.simulation.perform { _ in
        for family in IPFamily.allCases { machine.setFamily(family, isOn: true) }
      }
      if plan.kinds[device] == .bridge { await world.power(true, bridgedOn: "D\(device)") }
    }
  }

  /// Commissions the remaining devices after all faults are removed, retrying until ``RandomHome/bound`` is reached.
  func commissionNewcomers(since healed: Instant) async throws {
    for number in plan.kept where plan.newcomers.contains(number) {
      var last = "nothing was tried"
      var attempts = 0
      while try await !isKnown(number) {
        guard await world.simulation.now - healed < RandomHome.bound else {
          throw Failure(description: "D\(number): it can't be commissioned after the network healed: \(last)")
        }
        do { try await world.pairDevice("D\(number)") } catch { last = "\(error)" }
        attempts += 1
        try await world.simulation.sleep(for: .seconds(5))
      }
    }
  }

  /// Returns whether the home knows the device.
  private func isKnown(_ number: Int) async throws -> Bool {
    let id = world.definition.devices.first { $0.name == "D\(number)" }?.uniqueID
    return try await world.home.devices().list().contains { $0.identity.matterUniqueID == id }
  }

  /// Waits until the home agrees with all devices and keeps agreeing for 90 s.
  /// - Returns: the time from `healed` until it agreed.
  func converge(since healed: Instant) async throws -> Duration {
    var agreed: Instant?
    while true {
      let wrong = try await world.disagreements()
      let now = await world.simulation.now
      if wrong.isEmpty {
        let since = agreed ?? now
        agreed = since
        // A dead subscription may be noticed only when its next report is due.
        if now - since >= .seconds(90) { return since - healed }
      } else {
        agreed = nil
      }
      if (agreed ?? now) - healed > RandomHome.bound {
        throw Failure(
          description: "\((now - healed).nanoseconds / 1_000_000_000) s after the network healed: "
            + (wrong.isEmpty ? "all agreed too late" : wrong.map(\.description).joined(separator: "; ")))
      }
      try await world.simulation.sleep(for: .seconds(2))
    }
  }
}

extension LinkConditions {
  fileprivate init(_ weather: RandomPlan.Weather) {
    self.init(
      latency: .milliseconds(weather.latency), jitter: .milliseconds(weather.jitter),
      loss: Ratio(weather.loss, of: 100), duplication: Ratio(weather.duplication, of: 100),
      reordering: Ratio(weather.reordering, of: 100))
    bytesPerSecond = weather.bytesPerSecond
    maximumDatagramSize = weather.maximumDatagramSize
  }
}
