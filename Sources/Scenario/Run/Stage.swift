internal import HearthHome
internal import MatterProtocol

/// The environment of a scenario: a simulated world, or real sockets.
protocol Stage: Sendable {
  /// The time since the stage was created.
  var now: Duration { get }
  func sleep(for time: Duration) async throws
  /// Sleeps for one `pace`, or for several if nothing changes until the last of them; at most for `time`.
  func sleepUntilNextEvent(within time: Duration, pace: Duration) async throws
  /// Runs the body under a name, which is reported if it does not complete.
  func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R
  /// Adds a note to the trace, if there is one.
  func note(_ text: String) async
  /// The open home.
  /// - Throws: ``HomeError`` while it is not open.
  var home: Home { get async throws(HomeError) }
  /// Performs an action that is not a command to the home.
  func perform(_ action: ScenarioStep.Action) async throws
  /// Returns an attribute of the device itself; nil if it has no power or no such attribute.
  func value(of place: AttributePlace, in device: String) async -> [UInt8]?
  /// Returns the number of datagrams sent so far, by one machine or by all.
  func messageCount(of device: String?) async -> Int
  /// Observes the subjects of claims that the home doesn't know: calls the handler at once and whenever a value may
  /// have changed, with the index of the subject, the value and the time.
  func watch(_ subjects: [Claim.Subject], _ onFact: @escaping @Sendable (Int, Fact, Duration) -> Void) async
  /// Ends the observation.
  func stopWatching() async
  /// Commissions a device into the home.
  func pair(_ device: String) async throws
}

extension Stage {
  /// Sleeps for one `pace`, as the next event is not known.
  func sleepUntilNextEvent(within time: Duration, pace: Duration) async throws { try await sleep(for: min(time, pace)) }
}
