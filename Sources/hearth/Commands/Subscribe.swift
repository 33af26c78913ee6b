import ArgumentParser
import Home
import MatterController
import MatterModel
import MatterProtocol
import Synchronization

/// `hearth subscribe`.
struct Subscribe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow attributes: one line for each value, at first all of them, then each change.",
    discussion: """
      Runs until interrupted, or as long as --for and --count say. Paths are those of `hearth read`.

      With --hub it is the hub's own subscription that tells the values, and no device is asked for another: the longest \
      time between reports is the hub's, whatever --max says; of a device that was away, only what is different then is told; \
      events of before are those that the home's log has, if it was never made shorter; and a device that the hub knows to be \
      offline is said to be so at once.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Values as the wire has them.") var raw = false
  @Flag(help: "Events of these devices, too.") var events = false
  @Option(name: .customLong("min"), help: ArgumentHelp("The least time between reports.", valueName: "time"))
  var minimum = TimeSpan(.zero)
  @Option(name: .customLong("max"), help: ArgumentHelp("The most time without a report.", valueName: "time"))
  var maximum = TimeSpan(.seconds(60))
  @Option(name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time")) var time: TimeSpan?
  @Option(help: "End after so many changes; the first values don't count.") var count: Int?
  @Argument(help: "What to follow.") var paths: [String]

  func validate() throws {
    guard minimum.duration.milliseconds % 1000 == 0, maximum.duration.milliseconds % 1000 == 0 else {
      throw ValidationError("--min and --max are whole seconds")
    }
    guard minimum.duration <= maximum.duration, maximum.duration <= .seconds(65_535) else {
      throw ValidationError("--min is at most --max, and that at most 65535 s")
    }
    guard count ?? 1 > 0 else { throw ValidationError("--count is at least 1") }
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
          let stream = session.subscribe(one.device, request)
          group.addTask {
            do {
              for try await news in stream {
                if case .lost = news { try await checkIsThere(one) }
                if printer.print(news, of: one) { break }
              }
              return nil
            } catch {
              return HomeError(error)
            }
          }
        }
        if let time {
          group.addTask {
            try await Task.sleep(for: time.duration)
            return nil
          }
        }
        // One that fails ends its own part; time and count end all.
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

  /// Another process may have removed a device that does not answer any more: it never will. A hub says so itself.
  private func checkIsThere(_ group: PathGroup) async throws {
    guard home.hub.hubs.isEmpty else { return }
    let ids = Set(try await home.registry().devices.map(\.id))
    guard group.devices.contains(where: { ids.contains($0.id) }) else {
      throw HomeError(.notFound, "it is not in the home any more", device: group.names)
    }
  }
}

/// Prints what subscriptions tell, a line at a time.
final class ChangePrinter: Sendable {
  private struct State {
    var rest: Int?
    /// Devices whose first values have come.
    var established: Set<NodeID> = []
  }

  private let output: Output
  private let raw: Bool
  private let home: HomeState
  private let state: Mutex<State>

  /// - Parameter home: as it is when the subscriptions begin.
  init(_ output: Output, raw: Bool, until count: Int?, _ home: HomeState) {
    (self.output, self.raw, self.home) = (output, raw, home)
    state = Mutex(State(rest: count))
  }

  /// - Returns: whether that was the last one wanted.
  func print(_ news: SubscriptionNews, of group: PathGroup) -> Bool {
    let now = Home.now()
    switch news {
    case .established(let interval):
      state.withLock { _ = $0.established.insert(group.device.nodeID) }
      output.progress("\(group.names): subscribed, a report at least every \(TimeSpan.text(interval))")
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
      // A wildcard that matches nothing is no news.
      if !path.isWildcard {
        output.failure(AttributeValue.refusal(group.device(of: path.endpoint), .init(path, status: status)))
      }
    case .lost(let error, let delay):
      let next = delay < .seconds(1) ? "trying again" : "next attempt in \(TimeSpan.text(delay))"
      output.note("\(group.names): \(error.message); \(next)")
    case .reportEnd: break
    }
    return false
  }

  /// Whether the value is one of the first ones, comes too late, or is the last one wanted.
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
    output.text(output.json ? (["ok": true, "data": json] as JSON).text : text)
  }
}
