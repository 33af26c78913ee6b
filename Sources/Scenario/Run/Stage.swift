internal import Home
internal import MatterProtocol

/// Where a scenario is played: in a simulated world, or on real sockets.
protocol Stage: Sendable {
  /// Since the stage was set.
  var now: Duration { get async }
  func sleep(for time: Duration) async throws
  /// Does something under a name, to be told if it never comes to its end.
  func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R
  /// The home, as it is open now.
  var home: Home { get async throws(HomeError) }
  /// Does what is not the home's to do.
  func perform(_ action: ScenarioStep.Action) async throws
  /// What the device itself holds; nil where it has no power, or no such attribute.
  func value(of place: AttributePlace, in device: String) async -> [UInt8]?
  /// Datagrams that were sent so far, by one machine or by all.
  func messageCount(of device: String?) async -> Int
  /// Has the home commission a device.
  func pair(_ device: String) async throws
}
