internal import Home
internal import MatterProtocol
internal import Runtime
internal import VirtualDevices

/// Plays a scenario on a stage, and looks whether what is expected comes.
actor ScenarioRunner {
  private let scenario: ScenarioDefinition
  private let stage: any Stage
  private let pace: Duration
  private(set) var timeline = Timeline()
  /// What must not happen, and did.
  private var violation: ScenarioFailure?
  private var messages: [String?: Int] = [:]
  private var watch: Task<Void, Never>?
  private var start = Duration.zero

  /// - Parameter pace: how often it is looked whether something holds that is waited for.
  init(_ scenario: ScenarioDefinition, on stage: any Stage, pace: Duration = .milliseconds(10)) {
    (self.scenario, self.stage, self.pace) = (scenario, stage, pace)
  }

  /// Plays all steps.
  /// - Throws: ``ScenarioFailure`` for what did not come, or did though it must not.
  func play() async throws {
    start = await stage.now
    try await begin()
    defer { watch?.cancel() }
    for step in scenario.steps {
      try await wait(for: step.time)
      try await perform(step)
      try throwViolation()
    }
  }

  private func elapsed() async -> Duration { await stage.now - start }

  private func wait(for time: ScenarioStep.Time) async throws {
    let rest: Duration
    switch time {
    case .at(let point): rest = point - (await elapsed())
    case .after(let time): rest = time
    }
    guard rest > .zero else { return }
    try await sleep(for: rest)
  }

  /// Lets time pass, and ends it early where something happens that must not.
  private func sleep(for time: Duration) async throws {
    if scenario.always.isEmpty && scenario.never.isEmpty { return try await stage.sleep(for: time) }
    let end = await stage.now + time
    while true {
      let rest = end - (await stage.now)
      guard rest > .zero else { return }
      try await stage.sleep(for: min(rest, .seconds(1)))
      try throwViolation()
    }
  }

  // MARK: Steps

  private func perform(_ step: ScenarioStep) async throws {
    timeline.add(await elapsed(), step.text)
    await countMessages(for: step)
    switch step.action {
    case .wait(let time): try await sleep(for: time)
    case .expect(let claims, let time): try await expect(claims, within: time)
    case .command(let command):
      do {
        try await perform(command)
      } catch {
        // What the home says against it is what a person would see, and no end of the story.
        timeline.add(await elapsed(), "\(step.text): \(error)")
      }
    default:
      do {
        try await stage.perform(step.action)
      } catch {
        throw ScenarioFailure("\(step.text): \(error)", at: step.mark)
      }
    }
    if case .power(ScenarioReader.hub, let power) = step.action, power != .off { try await begin() }
  }

  /// What is expected of messages is meant from the last thing on that was done.
  private func countMessages(for step: ScenarioStep) async {
    if case .expect = step.action { return }
    for device in countedDevices { messages[device] = await stage.messageCount(of: device) }
  }

  private var countedDevices: Set<String?> {
    var devices: Set<String?> = []
    for step in scenario.steps {
      guard case .expect(let claims, _) = step.action else { continue }
      for claim in claims { if case .messages(let device, _) = claim.subject { devices.insert(device) } }
    }
    return devices
  }

  private func perform(_ command: HomeCommand) async throws {
    let home = try await stage.home
    func target(_ device: String) async throws -> Target { try await home.registry.resolve(device) }
    switch command {
    case .on(let device): _ = try await home.turnAll(try await target(device), .on)
    case .off(let device): _ = try await home.turnAll(try await target(device), .off)
    case .toggle(let device): _ = try await home.turnAll(try await target(device), .toggle)
    case .level(let device, let level): _ = try await home.dimAll(try await target(device), to: level, over: nil)
    case .pair(let device): try await stage.pair(device)
    case .rename(let device, let name): try await home.rename(try await target(device).device.id, to: name)
    }
  }

  // MARK: Expectations

  private func expect(_ claims: [Claim], within time: Duration) async throws {
    let end = await stage.now + time
    while true {
      var failed: [(claim: Claim, actual: String)] = []
      for claim in claims {
        let (holds, actual) = await check(claim)
        if !holds { failed.append((claim, actual)) }
      }
      guard let first = failed.first else { return }
      try throwViolation()
      let rest = end - (await stage.now)
      guard rest > .zero else {
        let text = failed.map { "\($0.claim.text): it is \($0.actual)" }.joined(separator: "; ")
        throw ScenarioFailure(
          "expected \(text)\(time == .zero ? "" : ", also after \(TimeText.text(time))")", at: first.claim.mark)
      }
      try await stage.sleep(for: min(pace, rest))
    }
  }

  /// Whether it holds, and what is the case.
  private func check(_ claim: Claim) async -> (holds: Bool, actual: String) {
    switch claim.subject {
    case .messages(let device, let comparison):
      let count = await stage.messageCount(of: device) - messages[device, default: 0]
      return (comparison.holds(count), "\(count)")
    case .actual(let device, let place, let wanted):
      guard let value = await stage.value(of: place, in: device) else { return (false, "not there") }
      return (value == wanted, place.text(of: value))
    default:
      guard let home = try? await stage.home else { return (false, "a home that is not open") }
      return await HomeView(state: home.backend.state, devices: home.backend.devices).check(claim)
    }
  }

  // MARK: What holds always, and never

  /// Looks at the home as it is now, and again after every change of it.
  private func begin() async throws {
    watch?.cancel()
    guard let home = try? await stage.home else { return }
    let updates = home.updates()
    await look(at: home, nil)
    watch = Tasks.start { [weak self] in
      for await update in updates { await self?.look(at: home, update) }
    }
  }

  private func look(at home: Home, _ update: HomeUpdate?) async {
    let time = await elapsed()
    let view = await HomeView(state: home.backend.state, devices: home.backend.devices)
    if let update { for change in update.changes { timeline.add(time, view.text(of: change)) } }
    guard violation == nil else { return }
    for claim in scenario.always {
      let (holds, actual) = view.check(claim)
      if !holds {
        violation = ScenarioFailure(
          "always \(claim.text): it is \(actual) after \(TimeText.text(time))", at: claim.mark)
        return
      }
    }
    for claim in scenario.never where view.check(claim).holds {
      violation = ScenarioFailure("never \(claim.text): it is so after \(TimeText.text(time))", at: claim.mark)
      return
    }
  }

  private func throwViolation() throws { if let violation { throw violation } }
}
