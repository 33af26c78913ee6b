import Foundation
import Glibc
import HearthHome
import NIOCore
import Runtime

/// The memory that a hub in another process needs for clients that receive no events.
enum IdleClients {
  /// The number of clients over TLS, and of those with the same invitation, which the hub limits.
  static let networkClients = 192
  private static let clientsOfInvitation = 32

  /// Returns the growth of the hub's resident memory for each client on its socket, in bytes.
  static func memory(_ state: StateDirectory, _ count: Int, _ kind: SocketClients.Kind) throws -> Double {
    try memory(state, count) { _, count in try SocketClients(state.hubSocket, count, kind) }
  }

  /// Returns the growth of the hub's resident memory for each client of the standard API over TLS, in bytes.
  static func networkMemory(_ state: StateDirectory) throws -> Double {
    let loops = Loops()
    defer { loops.close() }
    return try memory(state, networkClients) { process, count in
      try stride(from: 0, to: count, by: clientsOfInvitation).flatMap { start in
        try process.send(line: "invite")
        let invitation = try HubInvitation(process.line())
        return try NetworkClient.connect(
          min(clientsOfInvitation, count - start), invitation, path: "", on: loops.client
        ) { _, _, _ in }
      }
    }
  }

  /// - Parameter connect: connects a number of clients to the hub in the process.
  private static func memory<Clients>(
    _ state: StateDirectory, _ count: Int, _ connect: (Child, Int) throws -> Clients
  ) throws -> Double {
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
    let first = try connect(process, 1)
    let before = try resident()
    let clients = try connect(process, count)
    let after = try resident()
    keep(first)
    keep(clients)
    return Double(after - before) / Double(count)
  }

  /// Runs the hub until standard input is closed, and prints an invitation or its memory for each line.
  static func serve(_ root: String) throws {
    // Limits the lifetime of the process.
    alarm(60)
    OpenFileLimit.raise(to: .max)
    let hub = try BenchHub(StateDirectory(root), isOnNetwork: true)
    printLine("ready")
    while let line = readLine() { printLine(line == "invite" ? "\(try hub.invitation())" : "\(residentBytes())") }
    try hub.close()
  }
}
