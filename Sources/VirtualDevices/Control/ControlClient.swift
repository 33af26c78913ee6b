import Foundation
import Glibc
import Runtime

/// A client for running fleets in other processes. Blocks until the reply arrives.
public enum ControlClient {
  /// The timeout of a request, in seconds.
  private static let timeout = 15

  /// Sends one request to the fleet of a process, and waits for the reply.
  /// - Throws: `notRunning` if no fleet is listening, `noAnswer`, or the error of the fleet.
  @discardableResult
  public static func send(
    _ request: ControlRequest, toProcess process: Int32, in directory: String
  ) throws(ControlError) -> ControlReply {
    let descriptor = try connect(FleetStatus.socketPath(of: process, in: directory))
    defer { close(descriptor) }
    var limit = timeval(tv_sec: timeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard let data = try? JSONEncoder().encode(request) else {
      throw ControlError(.badRequest, "the request can't be written as JSON")
    }
    try write(Array(data) + [UInt8(ascii: "\n")], to: descriptor)
    let line = try readLine(from: descriptor)
    guard let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(line)) else {
      throw ControlError(.noAnswer, "process \(process): unknown reply, perhaps from another version of hearth")
    }
    if let error = reply.error { throw error }
    return reply
  }

  private static func connect(_ path: String) throws(ControlError) -> Int32 {
    do throws(NetworkError) { return try SocketPath.connect(to: path) } catch {
      if case .system(_, ENOENT) = error { throw ControlError(.notRunning, "\(error)") }
      if case .system(_, ECONNREFUSED) = error { throw ControlError(.notRunning, "\(error)") }
      throw ControlError(.failed, "\(error)")
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(ControlError) {
    var remaining = bytes[...]
    while !remaining.isEmpty {
      let count = remaining.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw ControlError(.noAnswer, "the fleet does not accept the request: \(String(cString: strerror(errno)))")
      }
      remaining = remaining.dropFirst(count)
    }
  }

  private static func readLine(from descriptor: Int32) throws(ControlError) -> [UInt8] {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw ControlError(.noAnswer, "the fleet does not answer")
      }
      line += buffer[..<count]
      if line.last == UInt8(ascii: "\n") { return Array(line.dropLast()) }
    }
  }
}
