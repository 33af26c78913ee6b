internal import HearthHome
internal import HomeText
internal import MatterProtocol
internal import VirtualDevices

/// Runs a scenario on a stage and checks its expectations.
actor ScenarioRunner {
  private let scenario: ScenarioDefinition
  let stage: any Stage
  private let pace: Duration
  private let timeline: Timeline
  /// The unique IDs of the devices by path, as the scenario names devices by path.
  let identities: DeviceIdentities
  /// The devices whose messages are counted; nil counts those of all machines.
  private let counted: Set<String?>
  private let rules: Rules
  private var messages: [String?: Int] = [:]
  private var messagesAtStart: [String?: Int] = [:]
  private var listener: HomeListener?
  private let events = EventLog()
  /// The number of events received before the last action began.
  private var eventsBefore = 0
  private var start = Duration.zero

  /// - Parameter pace: the interval at which an expectation is checked again.
  init(_ scenario: ScenarioDefinition, on stage: any Stage, _ timeline: Timeline, pace: Duration = .milliseconds(10)) {
    (self.scenario, self.stage, self.timeline, self.pace) = (scenario, stage, timeline, pace)
    rules = Rules(scenario)
    identities = DeviceNames(scenario.home).identities
    var claims = scenario.always + scenario.never
    for step in scenario.steps { if case .expect(let more, _) = step.action { claims += more } }
    counted = Set(
      claims.compactMap { claim -> String?? in
        if case .messages(let device, _) = claim.subject { .some(device) } else { nil }
      })
  }

  /// Runs all steps.
  /// - Throws: ``ScenarioFailure`` for an unmet expectation or a violated rule.
  func play() async throws {
    start = stage.now
    timeline.beginSteps(at: start)
    messagesAtStart = await messageCounts()
    // Until the first action messages count from here, without those of the setup.
    messages = messagesAtStart
    try await observeHome()
    defer { listener?.close() }
    await watchOtherRules()
    do {
      try await playSteps()
    } catch {
      await stage.stopWatching()
      throw error
    }
    await stage.stopWatching()
  }

  private func playSteps() async throws {
    try rules.check()
    for step in scenario.steps {
      try await wait(for: step)
      try await stage.naming(step.name) { try await self.perform(step) }
      try await checkOtherRules()
    }
    // Effects of the last step may still be on their way to the home's observers.
    try await stage.sleep(for: pace)
    try await checkOtherRules()
  }

  private var elapsed: Duration { stage.now - start }

  private func wait(for step: ScenarioStep) async throws {
    let rest: Duration
    switch step.time {
    case .at(let point):
      let now = elapsed
      rest = point - now
      guard rest >= .seconds(-1) else {
        throw ScenarioFailure(
          "“at: \(TimeText.text(point))” is over: the steps before it took until \(TimeText.text(now))", at: step.mark)
      }
      if rest < .zero {
        let text =
          "“at: \(TimeText.text(point))” is \(TimeText.text(.zero - rest)) late, the steps before it took so long"
        timeline.remark(text, at: step.mark)
        await stage.note(text)
      }
    case .after(let time): rest = time
    }
    guard rest > .zero else { return }
    timeline.await(step)
    try await stage.naming(step.nameWithTime) { try await self.sleep(for: rest) }
  }

  /// Sleeps, ending early if a rule is violated.
  private func sleep(for time: Duration) async throws {
    if rules.isEmpty { return try await stage.sleep(for: time) }
    let end = stage.now + time
    while true {
      let rest = end - stage.now
      guard rest > .zero else { return }
      try await stage.sleep(for: min(rest, .seconds(1)))
      try await checkOtherRules()
    }
  }

  // MARK: Steps

  private func perform(_ step: ScenarioStep) async throws {
    timeline.begin(step, at: stage.now)
    // Expectations count messages and events since the last action began.
    if step.doesSomething, step.isFirst {
      messages = await messageCounts()
      eventsBefore = events.count
    }
    switch step.action {
    case .wait(let time): try await sleep(for: time)
    case .expect(let claims, let time): try await expect(claims, within: time)
    case .command(let command):
      let began = stage.now
      do {
        try await perform(command)
        timeline.addCommand(step, began: began, error: nil)
      } catch {
        timeline.addCommand(step, began: began, error: "\(error)")
        // A command that the home rejects is part of the scenario and does not end it.
        timeline.add(stage.now, "\(step.text): \(error)")
      }
    default:
      do {
        try await stage.perform(step.action)
      } catch {
        throw ScenarioFailure("\(step.text): \(error)", at: step.mark)
      }
    }
    if case .power(ScenarioReader.hub, let power) = step.action, power != .off { try await observeHome() }
  }

  private func messageCounts() async -> [String?: Int] {
    var counts: [String?: Int] = [:]
    for device in counted { counts[device] = await stage.messageCount(of: device) }
    return counts
  }

  // MARK: Expectations

  private func expect(_ claims: [Claim], within time: Duration) async throws {
    let end = stage.now + time
    while true {
      var failed: [(claim: Claim, found: DeviceCondition.Finding)] = []
      for claim in claims {
        let found = await check(claim, since: messages)
        if !found.holds { failed.append((claim, found)) }
      }
      guard let first = failed.first else { return }
      try rules.check()
      let rest = end - stage.now
      guard rest > .zero else {
        let text = failed.map { $0.claim.failureText($0.found) }.joined(separator: "; ")
        throw ScenarioFailure(
          "expected \(text)\(time == .zero ? "" : ", also after \(TimeText.text(time))")", at: first.claim.mark)
      }
      try await stage.sleepUntilNextEvent(within: rest, pace: pace)
    }
  }

  /// Checks a claim.
  /// - Parameter counts: the numbers of messages to subtract.
  private func check(_ claim: Claim, since counts: [String?: Int]) async -> DeviceCondition.Finding {
    switch claim.subject {
    case .messages(let device, _):
      return Fact.messages(await stage.messageCount(of: device)).check(claim.subject, since: counts[device, default: 0])
    case .actual(let device, let place, _):
      return Fact.value(await stage.value(of: place, in: device)).check(claim.subject, since: 0)
    default:
      guard let home = try? await stage.home else { return .init(false, "a home that is not open") }
      var view = await HomeView(state: home.backend.state, devices: home.backend.devices, identities: identities)
      view.events = events.all(from: eventsBefore)
      return view.check(claim)
    }
  }

  // MARK: Rules

  /// Checks the rules about the home now and after every change.
  private func observeHome() async throws {
    listener?.close()
    guard let home = try? await stage.home else { return }
    listener = await HomeListener(to: home, identities) { [stage, timeline, rules, start, events] view, changes in
      let now = stage.now
      events.add(changes)
      var view = view
      view.events = rules.needEvents ? events.all(from: 0) : []
      for line in view.lines(of: changes) { timeline.add(now, line) }
      for rule in rules.homeRules { rules.note(rule, view.check(rule.claim), at: now - start) }
    }
  }

  /// Has the stage check the other rules from now on, independently of the steps.
  private func watchOtherRules() async {
    if rules.otherRules.isEmpty { return }
    let counts = messagesAtStart
    await stage.watch(rules.otherRules.map(\.claim.subject)) { [rules, start] index, fact, now in
      let rule = rules.otherRules[index]
      let base = if case .messages(let device, _) = rule.claim.subject { counts[device, default: 0] } else { 0 }
      rules.note(rule, fact.check(rule.claim.subject, since: base), at: now - start)
    }
  }

  /// Checks the rules about devices and messages, which the home doesn't know.
  private func checkOtherRules() async throws {
    let time = elapsed
    for rule in rules.otherRules { rules.note(rule, await check(rule.claim, since: messagesAtStart), at: time) }
    try rules.check()
  }
}
