import ArgumentParser
import Home
import MatterModel
import MatterProtocol

/// `hearth watch`.
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tell every change of the home: one line, or one JSON object, for each.",
    discussion: """
      Values, events, connectivity with its reason, and devices, rooms and names that come, go or change. Each has the time \
      and its anchor, a place in the home's log: --since goes on behind it, and nothing is lost or told twice. Where the log \
      does not have what followed, a line says reset, {"reset":true,"anchor":…} with all devices, rooms and values as they are at \
      that place, and what follows is new.

      A device that is reached several ways, as by Matter and by its maker's cloud, is as the way is that counts: of the others \
      only --json tells, with the way as source and the device as deviceConnectivityState and deviceDataSourceLocality.

      With a grace time (`hearth home grace`) it also tells when a device counts as away at last, and when it is back after \
      that: settledConnectivity. That is not in the log, and not told again by --since. Nor is what becomes of the routes of \
      --hub: that devices are reached by another one now, or by none.

      Runs until interrupted, or as long as --for and --count say; --for 0s tells what there is. While it runs it follows the \
      devices, and, where it runs until interrupted, wakes the observers of `hearth observe`, unless another process does so \
      already.
      """)
  @OptionGroup var home: HomeOptions
  @Option(help: ArgumentHelp("Go on behind this place. Default: from now on.", valueName: "anchor")) var since: String?
  @Flag(help: "Values as the wire has them.") var raw = false
  @Option(name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time")) var time: TimeSpan?
  @Option(help: "End after so many changes.") var count: Int?
  @Argument(help: "Only these devices. Default: the whole home.", completion: .device) var targets: [String] = []

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count is at least 1") }
    if let since, Anchor(since) == nil {
      throw ValidationError("“\(since)” is no anchor; an anchor is in every line that `hearth watch` prints")
    }
  }

  /// One that ends by itself ends in the midst of what it wakes.
  var wakesObservers: Bool { time == nil && count == nil }

  func run() async throws {
    var options = try home.options(timeout: .seconds(10))
    options.following.wakesObservers = wakesObservers
    try await home.withHomeUntilInterrupted(options) { session in
      let registry = await session.registry
      let wanted = try registry.resolve(all: targets)
      try home.check(wanted.map(\.device))
      var anchor = since.flatMap { Anchor($0) }
      if anchor == nil { anchor = try await session.anchor() }
      guard let anchor else { return }
      var report = ChangeFormatter(await session.state, raw: raw, isPast: since != nil)
      if since != nil { try await learnNames(of: session, after: anchor, &report) }
      let reader = LogReader(session, home.output, report, wanted, after: anchor, until: count)
      if try await reader.read() || time?.duration == .zero { return }
      let updates = session.updates()
      try await session.follow()
      try await tell(reader, session, updates)
    }
  }

  /// What is gone is called in the log as it was when it went, and what it said before comes before that.
  private func learnNames(of session: Home, after anchor: Anchor, _ report: inout ChangeFormatter) async throws {
    var anchor = anchor
    while case .samples(let samples, let next, let isComplete) = try await session.samples(
      after: anchor, SampleFilter(.topology), limit: 1000)
    {
      report.learn(samples)
      if isComplete { return }
      anchor = next
    }
  }

  /// Reads what there is. While a hub is away there is nothing: it rings again when it is back, and nothing is lost.
  private func readOn(_ reader: LogReader) async throws -> Bool {
    do {
      return try await reader.read()
    } catch let error as HomeError
      where !home.hub.hubs.isEmpty && [.unreachable, .notRunning, .timedOut].contains(error.code)
    {
      if await reader.isNewlyAway() { home.output.note("\(error.message); going on when it is back") }
      return false
    }
  }

  private func tell(_ reader: LogReader, _ session: Home, _ updates: HomeEvents) async throws {
    let (bell, unlogged) = (WatchSignal(), UnloggedQueue())
    try await session.execute(bell.query)
    let collecting = Task { await collect(unlogged, updates, session, bell) }
    defer { collecting.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await _ in bell.rings {
          // What it came of stands before it.
          let waiting = unlogged.take()
          if try await readOn(reader) { return }
          await reader.tell(waiting)
        }
      }
      if let time { group.addTask { try await Task.sleep(for: time.duration) } }
      try await group.next()
      group.cancelAll()
    }
    await session.stop(bell.query)
    // What came while the time ran out.
    if time != nil { _ = try await readOn(reader) }
  }

  private func collect(
    _ unlogged: UnloggedQueue, _ updates: HomeEvents, _ session: Home, _ bell: WatchSignal
  ) async {
    var news = SettledChanges((try? await session.devices().list()) ?? [])
    var routes = home.hub.hubs.isEmpty ? nil : RouteNews(await session.state)
    for await update in updates {
      var isNews = false
      for id in RouteNews.mayFollow(from: update) ? routes?.take(await session.state) ?? [] : [] {
        guard let device = try? await session.device(id: id).list().first else { continue }
        unlogged.add(.route, of: device, at: update.time)
        isNews = true
      }
      for id in update.settled.sorted() {
        guard let device = try? await session.device(id: id).list().first,
          news.isNews(id, device.settledConnectivity.connectivityState, isAlone: update.changes.isEmpty)
        else { continue }
        unlogged.add(.settled, of: device, at: update.time)
        isNews = true
      }
      if isNews { bell.ring() }
    }
  }
}

/// Reads a home's log from a place on, and prints what it says.
actor LogReader {
  private let session: Home
  private let output: Output
  private let targets: [Target]
  private var report: ChangeFormatter
  private var anchor: Anchor
  private var rest: Int?
  /// Whether the home could not be read the last time.
  private var isAway = false

  /// - Parameters:
  ///   - targets: the devices, or endpoints of them, that are wanted; empty: everything.
  ///   - count: after so many lines it is enough; nil: never.
  init(
    _ session: Home, _ output: Output, _ report: ChangeFormatter, _ targets: [Target], after anchor: Anchor,
    until count: Int?
  ) {
    self.session = session
    self.output = output
    self.report = report
    self.targets = targets
    self.anchor = anchor
    rest = count
  }

  /// Prints what there is.
  /// - Returns: whether that was enough.
  func read() async throws -> Bool {
    while rest != 0 {
      try Task.checkCancellation()
      switch try await session.samples(after: anchor, limit: 1000) {
      case .samples(let samples, let next, let isComplete):
        for sample in samples {
          let line = report.report(sample)
          guard isWanted(sample) else { continue }
          print(line)
          if rest == 0 { return true }
        }
        (anchor, isAway) = (next, false)
        guard isComplete else { continue }
        report.reachPresent()
        return false
      case .reset(let home):
        let devices = await session.devices(of: home).filter { device in
          targets.isEmpty || targets.contains { $0.device.id == device.id }
        }
        print(report.reset(home, devices, at: Home.now() * 1000), counts: false)
        (anchor, isAway) = (home.anchor, false)
      }
    }
    return true
  }

  /// Notes that the home can't be read now.
  /// - Returns: whether it could the last time.
  func isNewlyAway() -> Bool {
    defer { isAway = true }
    return !isAway
  }

  /// Prints what is in no log, and so at no place of its own there: it is told at the last one.
  func tell(_ unlogged: [UnloggedQueue.Entry]) {
    for entry in unlogged where targets.isEmpty || targets.contains(where: { $0.device.id == entry.device.id }) {
      let line =
        switch entry.kind {
        case .settled: report.settled(entry.device, at: entry.time, anchor)
        case .route: report.routed(entry.device, at: entry.time, anchor)
        }
      if let line { print(line, counts: false) }
    }
  }

  private func isWanted(_ sample: HomeSample) -> Bool {
    if targets.isEmpty { return true }
    return targets.contains { target in
      guard target.device.id == sample.device else { return false }
      guard let endpoint = target.endpoint else { return true }
      return (sample.attribute?.path.endpoint ?? sample.event?.path.endpoint).map { $0 == endpoint } ?? true
    }
  }

  private func print(_ line: (json: JSON, text: String?), counts: Bool = true) {
    guard let text = output.json ? (["ok": true, "data": line.json] as JSON).text : line.text else { return }
    output.text(text)
    if counts, let left = rest { rest = left - 1 }
  }
}
