import Glibc

/// A server that sends each event to all its clients.
protocol EventServer {
  /// The path of its Unix socket.
  var socket: String { get }
  /// Begins to send an event.
  func inject()
  func clientCount() throws -> Int
}

extension EventServer {
  /// Waits until the server has noticed that clients have connected or disconnected.
  func wait(forClients count: Int) throws {
    for _ in 0..<300 {
      if try clientCount() == count { return }
      usleep(10_000)
    }
    throw BenchError("the server has \(try clientCount()) clients instead of \(count)")
  }
}
