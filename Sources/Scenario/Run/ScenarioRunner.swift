internal import Home
internal import MatterProtocol
internal import VirtualDevices

/// Plays a scenario on a stage, and looks whether what is expected comes.
actor ScenarioRunner {
  private let scenario: ScenarioDefinition
  let stage: any Stage
  private let pace: Duration
  private let timeline: Timeline
  /// By their path, which is how the scenario names them.
  let uniqueIDs: [String: String]
  /// Devices whose messages are counted; nil: all together.
  private let counted: Set<String?>
  private let rules: Rules
  private var messages: [String?: Int] = [:]
  private var messagesAtStart: [String?: Int] = [:]
  private var listener: HomeListener?
  private let events = EventLog()
  /// How many events were received before the last thing that was done began.
  private var eventsBefore = 0
  private var start = Duration.zero

  /// - Parameter pace: how often it is looked whether something holds that is waited for.
  init(_ scenario: ScenarioDefinition, on stage: any Stage, _ timeline: Timeline, pace: Duration = .milliseconds(10)) {
    (self.scenario, self.stage, self.timeline, self.pace) = (scenario, stage, timeline, pace)
    rules = Rules(scenario)
    uniqueIDs = DeviceNames(scenario.home).uniqueIDs
    var claims = scenario.always + scenario.never
    for step in scenario.steps { if case .expect(let more, _) = step.action { claims += more } }
    counted = Set(
      claims.compactMap { claim -> String?? in
        if case .messages(let device, _) = claim.subject { .some(device) } else { nil }
      })
  }

  /// Plays all steps.
  /// - Throws: ``ScenarioFailure`` for what did not come, or did though it must not.
  func play() async throws {
    start = stage.now
    timeline.beginSteps(at: start)
    messagesAtStart = await messageCounts()
    // Until something is done, from here on: the setting up is no part of the story.
    messages = messagesAtStart
    try await begin()
    defer { listener?.close() }
    await watchRest()
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
      try await lookAround()
    }
    // What the last step has led to may be on its way to the home's observers.
    try await stage.sleep(for: pace)
    try await lookAround()
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

  /// Lets time pass, and ends it early where something happens that must not.
  private func sleep(for time: Duration) async throws {
    if rules.isEmpty { return try await stage.sleep(for: time) }
    let end = stage.now + time
    while true {
      let rest = end - stage.now
      guard rest > .zero else { return }
      try await stage.sleep(for: min(rest, .seconds(1)))
      try await lookAround()
    }
  }

  // MARK: Steps

  private func perform(_ step: ScenarioStep) async throws {
    timeline.begin(step, at: stage.now)
    // What is expected of messages is meant from the beginning of the last thing that was done.
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
        // What the home says against it is what a person would see, and no end of the story.
        timeline.add(stage.now, "\(step.text): \(error)")
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
        let text = failed.map { $0.claim.missed($0.found) }.joined(separator: "; ")
        throw ScenarioFailure(
          "expected \(text)\(time == .zero ? "" : ", also after \(TimeText.text(time))")", at: first.claim.mark)
      }
      try await stage.sleepUntilNews(within: rest, pace: pace)
    }
  }

  /// Whether it holds, and what is the case.
  /// - Parameter counts: the messages that are not counted any more.
  private func check(_ claim: Claim, since counts: [String?: Int]) async -> DeviceCondition.Finding {
    switch claim.subject {
    case .messages(let device, _):
      return Fact.messages(await stage.messageCount(of: device)).check(claim.subject, since: counts[device, default: 0])
    case .actual(let device, let place, _):
      return Fact.value(await stage.value(of: place, in: device)).check(claim.subject, since: 0)
    default:
      guard let home = try? await stage.home else { return .init(false, "a home that is not open") }
      var view = await HomeView(state: home.backend.state, devices: home.backend.devices, uniqueIDs: uniqueIDs)
      view.events = events.all(from: eventsBefore)
      return view.check(claim)
    }
  }

  // MARK: What holds always, and never

  /// Looks at the home as it is now, and again after every change of it.
  private func begin() async throws {
    listener?.close()
    guard let home = try? await stage.home else { return }
    listener = await HomeListener(to: home, uniqueIDs) { [stage, timeline, rules, start, events] view, changes in
      let now = stage.now
      events.add(changes)
      var view = view
      view.events = rules.needEvents ? events.all(from: 0) : []
      for line in view.lines(of: changes) { timeline.add(now, line) }
      for rule in rules.aboutHome { rules.note(rule, view.check(rule.claim), at: now - start) }
    }
  }

  /// Has the stage look at the rest from now on, whatever the steps are busy with.
  private func watchRest() async {
    if rules.aboutRest.isEmpty { return }
    let counts = messagesAtStart
    await stage.watch(rules.aboutRest.map(\.claim.subject)) { [rules, start] index, fact, now in
      let rule = rules.aboutRest[index]
      let base = if case .messages(let device, _) = rule.claim.subject { counts[device, default: 0] } else { 0 }
      rules.note(rule, fact.check(rule.claim.subject, since: base), at: now - start)
    }
  }

  /// Looks at what the home does not know: the devices themselves, and the messages.
  private func lookAround() async throws {
    let time = elapsed
    for rule in rules.aboutRest { rules.note(rule, await check(rule.claim, since: messagesAtStart), at: time) }
    try rules.check()
  }
}
