import MatterProtocol
import Synchronization

/// The times of changes in devices, and until each client received them.
final class ReportTimes: Sendable {
  private struct State {
    /// The changes of each device, in order.
    var changes: [[(value: Int, time: Instant)]]
    /// The number of changes of each device that each client has received.
    var received: [[Int]]
    var result = Result()
  }

  struct Result {
    /// The times from a change to the arrival at a client of its value, or of a later one.
    var latency = Measured(isEach: true)
    /// The number of changes that a client did not receive because a later one was in the same report.
    var merged = 0
  }

  private let state: Mutex<State>

  init(devices: Int, clients: Int) {
    state = Mutex(
      State(
        changes: Array(repeating: [], count: devices),
        received: Array(repeating: Array(repeating: 0, count: devices), count: clients)))
  }

  func noteChange(of device: Int, to value: Int, at time: Instant) {
    state.withLock { $0.changes[device].append((value, time)) }
  }

  func noteArrival(at client: Int, of device: Int, _ value: Int, at time: Instant) {
    state.withLock { state in
      let changes = state.changes[device]
      let first = state.received[client][device]
      guard let index = changes[first...].firstIndex(where: { $0.value == value }) else { return }
      for change in changes[first...index] {
        state.result.latency.times.append(Double((time - change.time).nanoseconds))
      }
      state.result.merged += index - first
      state.received[client][device] = index + 1
    }
  }

  /// The number of changes that not all clients have received.
  var outstanding: Int {
    state.withLock { state in
      state.changes.indices.reduce(0) { sum, device in
        sum + state.changes[device].count - (state.received.map { $0[device] }.min() ?? 0)
      }
    }
  }

  var result: Result { state.withLock { $0.result } }
}
