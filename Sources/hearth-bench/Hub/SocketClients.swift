import Foundation
import Glibc
import HearthHome
import MatterProtocol
import NIOCore
import Runtime

/// WebSocket clients on plain sockets, all read by the calling thread, so that they take little time and memory.
final class SocketClients {
  /// The events that the clients start and count.
  enum Kind {
    /// `attribute_updated`, after `start_listening`.
    case standard
    /// `hearth_update`, after `hearth_start`.
    case own
    /// All text frames of a server that sends them without an upgrade.
    case bare
  }

  /// The time limit for each step of connecting, and for the last events of a delivery.
  private static let timeout = 3
  private static let attributeUpdated = Array(#"{"event":"attribute_updated","#.utf8)
  private static let ownUpdate = Array(#","event":"hearth_update"}"#.utf8)

  private let kind: Kind
  private var polls: [pollfd] = []
  /// The bytes of each client after its last complete frame.
  private var partial: [[UInt8]] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var delivery = Delivery(clients: 0)
  /// The size of the payload of the last event.
  private(set) var eventSize = 0

  /// Connects clients to a Unix socket, one after another, and starts their events.
  init(_ path: String, _ count: Int, _ kind: Kind) throws {
    self.kind = kind
    for _ in 0..<count { try connect(path) }
  }

  deinit { close() }

  func close() {
    for poll in polls { Glibc.close(poll.fd) }
    (polls, partial) = ([], [])
  }

  // MARK: Connecting

  private func connect(_ path: String) throws {
    let descriptor = try SocketPath.connect(to: path)
    polls.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    partial.append([])
    var time = timeval(tv_sec: Self.timeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    if kind != .bare { try start() }
  }

  /// Upgrades the last connection and starts its events.
  private func start() throws {
    let last = polls.count - 1
    let head =
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    try send(Array(head.utf8), last)
    let end = Array("\r\n\r\n".utf8)
    while true {
      try append(last)
      guard let found = partial[last].firstRange(of: end) else { continue }
      guard partial[last].starts(with: Array("HTTP/1.1 101 ".utf8)) else {
        throw BenchError("the hub refused a client: \(String(decoding: partial[last], as: UTF8.self))")
      }
      partial[last].removeSubrange(..<found.upperBound)
      break
    }
    if kind == .own {
      try sendText(Array(try HubMessage.start(HubStart(name: "bench")).text.readableBytesView), last)
      try skip(through: "\"hearth_synchronized\"", last)
    } else {
      try sendText(Array(#"{"message_id":"1","command":"start_listening","args":null}"#.utf8), last)
      try skip(through: "\"message_id\":\"1\"", last)
    }
  }

  private func send(_ bytes: [UInt8], _ client: Int) throws {
    guard Glibc.send(polls[client].fd, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw Self.error("can't send a request")
    }
  }

  /// Sends a text frame.
  private func sendText(_ text: [UInt8], _ client: Int) throws {
    guard text.count < 126 else { throw BenchError("the request is too long") }
    try send(ServerFrame.masked(text), client)
  }

  /// Waits for bytes of a client.
  private func append(_ client: Int) throws {
    let count = recv(polls[client].fd, &buffer, buffer.count, 0)
    guard count > 0 else { throw Self.error("no answer to a request") }
    partial[client] += buffer[..<count]
  }

  /// Skips messages up to the first one that contains a text.
  private func skip(through text: String, _ client: Int) throws {
    while true {
      var rest = partial[client][...]
      var isFound = false
      while !isFound, let frame = ServerFrame(rest) {
        isFound = frame.payload.firstRange(of: Array(text.utf8)) != nil
        rest = rest[frame.payload.endIndex...]
      }
      partial[client] = Array(rest)
      if isFound { return }
      try append(client)
    }
  }

  private static func error(_ text: String) -> BenchError { BenchError("\(text): \(String(cString: strerror(errno)))") }

  // MARK: Delivering

  /// Injects events for some time and waits until all clients have received them.
  /// - Parameters:
  ///   - rate: the number of events injected per second; nil: as many as the clients receive, with a few outstanding.
  ///   - milliseconds: the time for injecting events.
  ///   - inject: injects an event, of which each client receives one message.
  func deliver(rate: Int? = nil, for milliseconds: Int, _ inject: () -> Void) throws -> Delivery {
    delivery = Delivery(clients: polls.count)
    let (whole, own) = (processorTime(), processorTime(ofThread: true))
    let start = HostClock.now()
    let end = start + .milliseconds(milliseconds)
    let interval = rate.map { Duration.nanoseconds(1_000_000_000 / $0) }
    var next = start
    while true {
      var now = HostClock.now()
      while next < end, interval == nil ? now < end && delivery.outstanding < 4 : next <= now {
        delivery.sent.append(now)
        inject()
        if let interval { next += interval }
        now = HostClock.now()
      }
      let isDone = interval == nil ? now >= end : next >= end
      if isDone, delivery.outstanding == 0 { break }
      guard now < end + .seconds(Self.timeout) else {
        throw BenchError("\(delivery.events) of \(delivery.sent.count * polls.count) events were received")
      }
      let pause = interval == nil || isDone ? 10_000_000 : max(0, (next - now).nanoseconds)
      try receive(within: CInt(clamping: (pause + 999_999) / 1_000_000))
    }
    delivery.elapsed = Double((delivery.lastArrival - start).nanoseconds)
    delivery.clientTime = processorTime(ofThread: true) - own
    delivery.serverTime = processorTime() - whole - delivery.clientTime
    return delivery
  }

  /// Reads what the clients have received.
  /// - Parameter milliseconds: the time to wait.
  private func receive(within milliseconds: CInt) throws {
    guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return }
    for client in polls.indices where polls[client].revents != 0 {
      let count = recv(polls[client].fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { throw BenchError("the hub disconnected a client") }
      let now = HostClock.now()
      if partial[client].isEmpty {
        partial[client] = Array(try consume(buffer[..<count], client, at: now))
      } else {
        partial[client] += buffer[..<count]
        partial[client] = Array(try consume(partial[client][...], client, at: now))
      }
    }
  }

  /// Counts the events in received bytes.
  /// - Returns: the bytes after the last complete frame.
  private func consume(_ bytes: ArraySlice<UInt8>, _ client: Int, at now: Instant) throws -> ArraySlice<UInt8> {
    var rest = bytes
    while let frame = ServerFrame(rest) {
      if frame.opcode == ServerFrame.close { throw BenchError("the hub disconnected a client") }
      if frame.opcode == ServerFrame.text, isEvent(frame.payload) {
        guard delivery.arrive(client, at: now) else { throw BenchError("a client received an unexpected event") }
        eventSize = frame.payload.count
      }
      rest = rest[frame.payload.endIndex...]
    }
    return rest
  }

  private func isEvent(_ payload: ArraySlice<UInt8>) -> Bool {
    switch kind {
    case .standard: payload.starts(with: Self.attributeUpdated)
    case .own: payload.suffix(Self.ownUpdate.count).elementsEqual(Self.ownUpdate)
    case .bare: true
    }
  }
}
