import ArgumentParser
import HearthHome
import HomeText
import MatterController
import MatterModel
import MatterProtocol
import Synchronization

/// `hearth subscribe`.
struct Subscribe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Subscribe to attributes; print the initial values, then each change.",
    discussion: """
      Runs until interrupted, or until the limit of --for or --count. Paths are those of `hearth read`.

      With --hub the values come from the hub's own subscription: --max is ignored; after an outage only changed values are \
      printed; past events are those in the home's log, unless the log was compacted; and a device that the hub knows to be \
      offline is reported as offline at once.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Print encoded values, without units.") var raw = false
  @Flag(help: "Also print events of these devices.") var events = false
  @Option(name: .customLong("min"), help: ArgumentHelp("The minimum interval between reports.", valueName: "time"))
  var minimum = TimeSpan(.zero)
  @Option(name: .customLong("max"), help: ArgumentHelp("The maximum interval between reports.", valueName: "time"))
  var maximum = TimeSpan(.seconds(60))
  @Option(name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time")) var time: TimeSpan?
  @Option(help: "End after this number of changes, not counting initial values.") var count: Int?
  @Argument(help: "The paths to subscribe to.") var paths: [String]

  func validate() throws {
    guard minimum.duration.milliseconds % 1000 == 0, maximum.duration.milliseconds % 1000 == 0 else {
      throw ValidationError("--min and --max: expected whole seconds")
    }
    guard minimum.duration <= maximum.duration, maximum.duration <= .seconds(65_535) else {
      throw ValidationError("--min must not exceed --max, and --max must not exceed 65535 s")
    }
    guard count ?? 1 > 0 else { throw ValidationError("--count: expected at least 1") }
  }

  func run() async throws {
    try await home.withHomeUntilInterrupted(try home.options()) { session in
      let registry = await session.registry
      let groups = PathGroup.groups(try paths.flatMap { try registry.paths($0) }, in: registry)
      try home.check(groups.map(\.device))
      let printer = ChangePrinter(home.output, raw: raw, until: count, await session.state)
      try await withThrowingTaskGroup(of: HomeError?.self) { group in
        for one in groups {
          var request = SubscriptionRequest(
            paths: one.paths, events: events ? [EventPath(isUrgent: true)] : [], minInterval: minimum.duration,
            maxInterval: maximum.duration)
          request.retriesFirstAttempt = groups.count > 1
          let stream = session.backend.subscribe(one.device.nodeID, request)
          group.addTask {
            do {
              for try await update in stream {
                if printer.print(update, of: one) { break }
              }
              return nil
            } catch {
              return HomeError(error).about(one.device)
            }
          }
        }
        if let time {
          group.addTask {
            try await Task.sleep(for: time.duration)
            return nil
          }
        }
        // A failed subscription ends alone; --for and --count end all of them.
        var open = groups.count
        var failures: [HomeError] = []
        while let end = try await group.next() {
          guard let failure = end else { break }
          failures.append(failure)
          if groups.count > 1 { home.output.failure(failure) }
          open -= 1
          if open == 0 { break }
        }
        group.cancelAll()
        if groups.count == 1, let only = failures.first { throw only }
        if let code = HomeOptions.code(of: failures, among: groups.count) { throw ProcessExit(code).error }
      }
    }
  }
}

/// Prints the updates of subscriptions, one line each.
final class ChangePrinter: Sendable {
  private struct State {
    /// The number of changes that remain to be printed; nil: no limit.
    var rest: Int?
    /// Devices whose initial values have been received.
    var established: Set<NodeID> = []
  }

  private let output: Output
  private let raw: Bool
  private let home: HomeState
  private let state: Mutex<State>

  /// - Parameter home: the home when the subscriptions begin.
  init(_ output: Output, raw: Bool, until count: Int?, _ home: HomeState) {
    (self.output, self.raw, self.home) = (output, raw, home)
    state = Mutex(State(rest: count))
  }

  /// Prints an update.
  /// - Returns: whether the limit of --count is reached.
  func print(_ update: SubscriptionEvent, of group: PathGroup) -> Bool {
    let now = Home.now()
    switch update {
    case .established(let interval):
      state.withLock { _ = $0.established.insert(group.device.nodeID) }
      output.progress("\(group.names): subscribed; maximum interval \(TimeSpan.text(interval))")
    case .attribute(let path, let value):
      let (isFirst, isOver, isLast) = count(group.device)
      if isOver { return true }
      let attribute = AttributeValue(
        group.device(of: path.endpoint), path, value, raw: raw,
        levels: home.levels(of: group.device.nodeID, on: path.endpoint))
      line(
        attribute.json.adding("time", .string(ClockText.iso(milliseconds: now))).adding("initial", .bool(isFirst)),
        "\(ClockText.time(milliseconds: now))  \(attribute.pathText)  \(attribute.text)")
      return isLast
    case .event(let event):
      let (_, isOver, isLast) = count(group.device)
      if isOver { return true }
      let value = EventValue(group.device(of: event.path.endpoint), event)
      line(
        value.json.adding("time", .string(ClockText.iso(milliseconds: now))),
        "\(ClockText.time(milliseconds: now))  \(value.pathText)  \(value.text)")
      return isLast
    case .status(let path, let status):
      // A wildcard that matches nothing is not an error.
      if !path.isWildcard {
        output.failure(AttributeValue.refusal(group.device(of: path.endpoint), .init(path, status: status)))
      }
    case .lost(let error, let delay):
      let next = delay < .seconds(1) ? "retrying" : "retrying in \(TimeSpan.text(delay))"
      output.note("\(group.names): \(error.messageAndHint); \(next)")
    case .reportEnd: break
    }
    return false
  }

  /// Counts a value.
  /// - Returns: whether it is an initial value, exceeds the limit of --count, or reaches it.
  private func count(_ device: DeviceRecord) -> (isFirst: Bool, isOver: Bool, isLast: Bool) {
    state.withLock { state in
      guard state.established.contains(device.nodeID) else { return (true, false, false) }
      guard let rest = state.rest else { return (false, false, false) }
      if rest == 0 { return (false, true, true) }
      state.rest = rest - 1
      return (false, false, rest == 1)
    }
  }

  private func line(_ json: JSON, _ text: String) {
    output.text(output.json ? (["ok": true, "data": json] as JSON).description : text)
  }
}
