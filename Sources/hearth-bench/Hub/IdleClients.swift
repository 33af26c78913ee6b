import Foundation
import Glibc
import HearthHome

/// The memory that a hub in another process needs for clients that receive no events.
enum IdleClients {
  /// Returns the growth of the hub's resident memory for each client, in bytes.
  static func memory(_ state: StateDirectory, _ count: Int, _ kind: SocketClients.Kind) throws -> Double {
    let process = try Child(["hub-idle", state.root])
    defer { process.kill() }
    guard try process.line() == "ready" else { throw BenchError("the hub did not start") }
    func resident() throws -> Int {
      // The hub may still be sending.
      usleep(200_000)
      try process.send(line: "memory")
      let line = try process.line()
      guard let bytes = Int(line) else { throw BenchError("the hub ended: \(line)") }
      return bytes
    }
    // What is allocated for the first client is not needed for others.
    let first = try SocketClients(state.hubSocket, 1, kind)
    let before = try resident()
    let clients = try SocketClients(state.hubSocket, count, kind)
    let after = try resident()
    keep(first)
    keep(clients)
    return Double(after - before) / Double(count)
  }

  /// Runs the hub until standard input is closed, and prints its memory for each line.
  static func serve(_ root: String) throws {
    // Limits the lifetime of the process.
    alarm(60)
    raiseDescriptorLimit()
    let hub = try BenchHub(StateDirectory(root))
    printLine("ready")
    while readLine() != nil { printLine("\(residentBytes())") }
    try hub.close()
  }
}
