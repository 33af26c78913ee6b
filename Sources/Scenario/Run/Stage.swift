internal import Home
internal import MatterProtocol

/// Where a scenario is played: in a simulated world, or on real sockets.
protocol Stage: Sendable {
  /// Since the stage was set.
  var now: Duration { get }
  func sleep(for time: Duration) async throws
  /// Sleeps for one pace, or for more of them where it is known that nothing changes during all but the last one; at most for `time`.
  func sleepUntilNews(within time: Duration, pace: Duration) async throws
  /// Does something under a name, to be told if it never comes to its end.
  func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R
  /// Leaves a note in the trace, where there is one.
  func note(_ text: String) async
  /// The home, as it is open now.
  var home: Home { get async throws(HomeError) }
  /// Does what is not the home's to do.
  func perform(_ action: ScenarioStep.Action) async throws
  /// What the device itself holds; nil where it has no power, or no such attribute.
  func value(of place: AttributePlace, in device: String) async -> [UInt8]?
  /// Datagrams that were sent so far, by one machine or by all.
  func messageCount(of device: String?) async -> Int
  /// Tells what some claims are about that the home does not know, by their numbers, with the time: at once, and again as often as it
  /// may have changed.
  func watch(_ subjects: [Claim.Subject], _ tell: @escaping @Sendable (Int, Fact, Duration) -> Void) async
  /// Ends that.
  func stopWatching() async
  /// Has the home commission a device.
  func pair(_ device: String) async throws
}

extension Stage {
  /// Where nobody knows when something happens next.
  func sleepUntilNews(within time: Duration, pace: Duration) async throws { try await sleep(for: min(time, pace)) }
}
