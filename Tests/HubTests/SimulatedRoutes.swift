import MatterCrypto
import MatterProtocol

@testable import Hub

/// Routes over simulated TCP connections in virtual time, whose segments are lost with a seeded probability. A lost
/// segment delays itself and all later ones: by 200 ms at first, and by twice as much at each repetition.
struct SimulatedRoutes {
  private struct Path {
    var loss: Double
    var isBroken = false
    /// The time at which the connection is established; nil: it isn't being established.
    var establishedAt: Int?
    var isUp = false
    /// The number of checks for silence since the last answer.
    var checks = 0
    var answers: [Int] = []
    /// The arrival of the last segment, in both directions.
    var arrivals = (request: 0, response: 0)
  }

  /// Steps, and checks for silence, in milliseconds.
  private static let step = 50, interval = 200
  private static let latency = 20
  /// The silence after which a connection is closed, and established again.
  private static let closing = Duration.seconds(20)

  private(set) var selection: RouteSelection
  private var paths: [Path]
  private var random: SeededRandomSource
  /// The virtual time in milliseconds.
  private(set) var time = 0
  /// The changes of the used route, with their times.
  private(set) var changes: [(time: Int, route: Int?)] = []

  /// - Parameter losses: the probability of loss for each route, the nearest first.
  init(losses: [Double], seed: UInt64) {
    let times = RouteSelection.Times(timeout: .milliseconds(1200), stable: .seconds(5))
    selection = RouteSelection(count: losses.count, times)
    paths = losses.map { Path(loss: $0) }
    random = SeededRandomSource(seed: seed)
    selection.advance(to: now)
  }

  private var now: Instant { Instant.zero + .milliseconds(time) }

  /// Breaks or repairs a route without a message to either end.
  mutating func setBroken(_ isBroken: Bool, _ index: Int) { paths[index].isBroken = isBroken }

  mutating func setLoss(_ loss: Double, _ index: Int) { paths[index].loss = loss }

  /// Ends the connection of a route with a message, so that it can be established again at once.
  mutating func reset(_ index: Int) {
    guard paths[index].isUp else { return }
    (paths[index].isUp, paths[index].establishedAt) = (false, nil)
    selection.failed(index, at: now)
  }

  /// The time from a moment to the next change of the used route, in milliseconds.
  func timeUntilChange(after begin: Int) -> Int { (changes.first { $0.time > begin }?.time ?? .max) - begin }

  mutating func run(milliseconds: Int) {
    let end = time + milliseconds
    while time < end {
      time += Self.step
      if let deadline = selection.nextDeadline(after: Instant(nanoseconds: now.nanoseconds - 1)), deadline <= now {
        selection.advance(to: now)
      }
      for index in paths.indices { advance(index) }
      selection.advance(to: now)
      if changes.last?.route != selection.active || changes.isEmpty { changes.append((time, selection.active)) }
    }
  }

  private mutating func advance(_ index: Int) {
    guard selection.isStarted(index) else {
      (paths[index].isUp, paths[index].establishedAt) = (false, nil)
      return
    }
    if paths[index].isUp, !selection.works(index) { (paths[index].isUp, paths[index].establishedAt) = (false, nil) }
    guard paths[index].isUp else { return connect(index) }
    let arrived = paths[index].answers.count { $0 <= time }
    paths[index].answers.removeFirst(arrived)
    if arrived > 0 {
      let wasSilent = paths[index].checks > 1
      paths[index].checks = 0
      if wasSilent { selection.noteSilence(.zero, of: index, at: now) }
    }
    guard time % Self.interval == 0 else { return }
    let silence = Duration.milliseconds(paths[index].checks * Self.interval)
    paths[index].checks += 1
    if silence >= Self.closing { return reset(index) }
    if silence > .zero { selection.noteSilence(silence, of: index, at: now) }
    if let answer = roundTrip(index) { paths[index].answers.append(answer) }
  }

  /// Establishes a connection with four round trips.
  private mutating func connect(_ index: Int) {
    guard let established = paths[index].establishedAt else {
      guard !paths[index].isBroken else { return }
      paths[index].arrivals = (time, time)
      var end = time
      for _ in 0..<4 { end += (roundTrip(index) ?? time) - time }
      paths[index].establishedAt = end
      return
    }
    guard established <= time, !paths[index].isBroken else { return }
    (paths[index].isUp, paths[index].checks, paths[index].answers) = (true, 0, [])
    paths[index].arrivals = (time, time)
    selection.succeeded(index, at: now)
  }

  /// Returns the time of the answer to a request of now; nil if there is none.
  private mutating func roundTrip(_ index: Int) -> Int? {
    guard !paths[index].isBroken else { return nil }
    let request = max(paths[index].arrivals.request, time + delay(paths[index].loss))
    let response = max(paths[index].arrivals.response, request + delay(paths[index].loss))
    paths[index].arrivals = (request, response)
    return response
  }

  private mutating func delay(_ loss: Double) -> Int {
    var (delay, timeout) = (Self.latency, 200)
    while Double(random.next() >> 11) / Double(1 << 53) < loss, timeout < 60_000 {
      delay += timeout
      timeout *= 2
    }
    return delay
  }
}
