import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// `hearth watch`.
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Stream changes of the home, one line or JSON object each.",
    discussion: """
      Prints values, events, connectivity with its reason, and devices, rooms and names that are added, changed or removed. Each \
      line has the time and an anchor, which is a position in the home's log: --since continues after it, without loss or \
      repetition. If the log no longer contains the changes after the anchor, a reset line is printed, with --json as \
      {"reset":true,"anchor":…} with all current devices, rooms and values, and new changes follow.

      A device with several sources, such as Matter and its vendor's cloud, has the connectivity of the active source. Changes \
      of inactive sources are printed only with --json: source is the source, and deviceConnectivityState and \
      deviceDataSourceLocality are those of the device.

      With a grace time (`hearth home grace`), settledConnectivity lines report when a device has been offline for that time, \
      and when it is back. These lines and changes of the route to the hub (--hub) are not in the log, and --since does not \
      repeat them.

      Runs until interrupted, or until the limit of --for or --count; --for 0s prints the existing changes and ends. Follows the \
      devices while it runs and, if it runs until interrupted, triggers the observers of `hearth observe`, unless another \
      process does so already.
      """)
  @OptionGroup var home: HomeOptions
  @Option(help: ArgumentHelp("Continue after this anchor. Default: print new changes only.", valueName: "anchor"))
  var since: String?
  @Flag(help: "Print encoded values, without units.") var raw = false
  @Option(name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time")) var time: TimeSpan?
  @Option(help: "End after this number of changes.") var count: Int?
  @Argument(help: "The devices to watch. Default: the whole home.", completion: .device) var targets: [String] = []

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count: expected at least 1") }
    if let since, Anchor(since) == nil {
      throw ValidationError("--since: “\(since)” is not an anchor; use one from the output of `hearth watch`")
    }
  }

  /// False for a command with a limit, whose end would interrupt deliveries to observers.
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
      if since != nil { try await collectRemovedNames(of: session, after: anchor, &report) }
      let reader = LogReader(session, home.output, report, wanted, after: anchor, until: count)
      if try await reader.read() || time?.duration == .zero { return }
      let updates = session.updates()
      try await session.follow()
      try await stream(reader, session, updates)
    }
  }

  /// Collects the names of removed devices and rooms, which are in the log only at their removal, after their other
  /// changes.
  private func collectRemovedNames(
    of session: Home, after anchor: Anchor, _ report: inout ChangeFormatter
  ) async throws {
    var anchor = anchor
    while case .samples(let samples, let next, let isComplete) = try await session.results(
      of: AnchoredQuery(.topology, after: anchor, limit: 1000))
    {
      report.collectNames(from: samples)
      if isComplete { return }
      anchor = next
    }
  }

  /// Prints the available changes. If the hub is unreachable, prints a note once; the signal is set when it is
  /// reachable again.
  /// - Returns: whether the limit of --count is reached.
  private func readAvailable(_ reader: LogReader) async throws -> Bool {
    do {
      return try await reader.read()
    } catch let error as HomeError
      where home.hub.isUsed(home.global) && [.unreachable, .notRunning, .timedOut].contains(error.code)
    {
      if await reader.noteUnreachable() { home.output.note("\(error.messageAndHint); continuing when it is back") }
      return false
    }
  }

  private func stream(_ reader: LogReader, _ session: Home, _ updates: HomeEvents) async throws {
    let (signal, unlogged) = (WatchSignal(), UnloggedQueue())
    await session.execute(signal.query)
    let collecting = Task { await collect(unlogged, updates, session, signal) }
    defer { collecting.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await _ in signal.signals {
          // Drained first, so that the logged changes that caused the entries are printed before them.
          let waiting = unlogged.drain()
          if try await readAvailable(reader) { return }
          await reader.print(waiting)
        }
      }
      if let time { group.addTask { try await Task.sleep(for: time.duration) } }
      try await group.next()
      group.cancelAll()
    }
    await session.stop(signal.query)
    // Changes that were logged while the time elapsed.
    if time != nil { _ = try await readAvailable(reader) }
  }

  /// Queues changes that are not in the log until it is canceled.
  private func collect(
    _ unlogged: UnloggedQueue, _ updates: HomeEvents, _ session: Home, _ signal: WatchSignal
  ) async {
    var settled = SettledChanges((try? await session.devices().list()) ?? [])
    var routes = home.hub.isUsed(home.global) ? RouteChanges(await session.state) : nil
    for await update in updates {
      var hasEntries = false
      for id in RouteChanges.mayResult(from: update) ? routes?.update(to: await session.state) ?? [] : [] {
        guard let device = try? await session.device(id: id).list().first else { continue }
        unlogged.add(.route, of: device, at: update.time)
        hasEntries = true
      }
      for id in update.settled.sorted() {
        guard let device = try? await session.device(id: id).list().first,
          settled.shouldReport(id, device.settledConnectivity.connectivityState, isAlone: update.changes.isEmpty)
        else { continue }
        unlogged.add(.settled, of: device, at: update.time)
        hasEntries = true
      }
      if hasEntries { signal.raise() }
    }
  }
}

/// Reads a home's log from an anchor and prints the changes.
actor LogReader {
  private let session: Home
  private let output: Output
  private let targets: [Target]
  private var report: ChangeFormatter
  private var anchor: Anchor
  private var rest: Int?
  /// Whether the last attempt to read the home failed.
  private var isUnreachable = false

  /// - Parameters:
  ///   - targets: the devices or endpoints to print; empty: all.
  ///   - count: the number of changes to print; nil: no limit.
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

  /// Prints the changes up to the end of the log.
  /// - Returns: whether the limit is reached.
  func read() async throws -> Bool {
    while rest != 0 {
      try Task.checkCancellation()
      switch try await session.results(of: AnchoredQuery(.all, after: anchor, limit: 1000)) {
      case .samples(let samples, let next, let isComplete):
        for sample in samples {
          let line = report.report(sample)
          guard isWanted(sample) else { continue }
          print(line)
          if rest == 0 { return true }
        }
        (anchor, isUnreachable) = (next, false)
        guard isComplete else { continue }
        report.reachPresent()
        return false
      case .reset(let home):
        let devices = await session.devices(of: home).filter { device in
          targets.isEmpty || targets.contains { $0.device.id == device.id }
        }
        print(report.reset(home, devices, at: Home.now() * 1000), counts: false)
        (anchor, isUnreachable) = (home.anchor, false)
      }
    }
    return true
  }

  /// Records that the home could not be read.
  /// - Returns: whether the previous attempt succeeded.
  func noteUnreachable() -> Bool {
    defer { isUnreachable = true }
    return !isUnreachable
  }

  /// Prints changes that are not in the log, with the anchor of the last logged change.
  func print(_ unlogged: [UnloggedQueue.Entry]) {
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
    guard let text = output.json ? (["ok": true, "data": line.json] as JSON).description : line.text else { return }
    output.text(text)
    if counts, let left = rest { rest = left - 1 }
  }
}
