import MatterProtocol

/// The events that clients received.
struct Delivery {
  /// The times at which the events were injected.
  var sent: [Instant] = []
  /// The number of events that each client received, in the order in which they were injected.
  private var received: [Int]
  /// The number of events that all clients received.
  private(set) var events = 0
  /// The times from injecting an event to its arrival at a client.
  private(set) var latency = Measured(isEach: true)
  private(set) var lastArrival = Instant.zero
  /// The time until the last arrival, in nanoseconds.
  var elapsed = 0.0
  /// The processor time of the thread that reads all clients, and of all other threads, in nanoseconds.
  var clientTime = 0.0, serverTime = 0.0

  init(clients: Int) { received = Array(repeating: 0, count: clients) }

  /// The number of injected events that not all clients have received.
  var outstanding: Int { received.isEmpty ? 0 : sent.count - events / received.count }
  /// The number of events received per second.
  var rate: Double { Double(events) * 1e9 / elapsed }
  /// The number of processors that were busy.
  var cores: Double { (clientTime + serverTime) / elapsed }

  /// Notes that a client received the next event.
  /// - Returns: false if none was outstanding.
  mutating func arrive(_ client: Int, at now: Instant) -> Bool {
    guard received[client] < sent.count else { return false }
    latency.times.append(Double((now - sent[received[client]]).nanoseconds))
    received[client] += 1
    events += 1
    lastArrival = now
    return true
  }
}
