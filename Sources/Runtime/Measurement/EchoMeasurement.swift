internal import Glibc
internal import Logging
internal import MatterProtocol
public import NIOCore

/// Measures loopback round trips of datagrams: with blocking sockets, as the lower bound, and through two engine hosts.
public enum EchoMeasurement {
  /// Measures round trips between two threads with blocking sockets, one at a time. Blocks the caller.
  /// - Returns: the mean duration of a round trip.
  public static func blocking(rounds: Int, size: Int = 60) throws(NetworkError) -> Duration {
    let server = try BlockingSocket()
    let client = try BlockingSocket()
    let thread = try EchoThread(server.descriptor, rounds: rounds, size: size)
    let start = HostClock.now()
    let bytes = [UInt8](repeating: 7, count: size)
    var buffer = bytes
    for _ in 0..<rounds {
      client.send(bytes, to: server.address)
      guard client.receive(&buffer) != nil else { throw .system(operation: "echo over loopback", code: errno) }
    }
    let duration = HostClock.now() - start
    thread.join()
    return duration / rounds
  }

  /// Measures round trips between two engines, each on its loop, which may be the same.
  /// - Parameter outstanding: the number of datagrams in flight.
  /// - Returns: the mean duration of a round trip; with several in flight, the total time divided by the rounds.
  public static func hosts(
    rounds: Int, size: Int = 60, outstanding: Int = 1, on first: any EventLoop, and second: any EventLoop
  ) async throws -> Duration {
    let logger = Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() }
    let sockets = (try BoundSockets(.loopback), try BoundSockets(.loopback))
    let server = try await EngineActor.start(on: second) {
      EngineHost(EchoingEngine(), transport: UDPTransport(sockets.1, on: second), logger: logger)
    }
    let target = SocketAddress(.loopback4, port: sockets.1.port)
    let done = first.makePromise(of: Instant.self)
    let client = try await EngineActor.start(on: first) {
      EngineHost(
        EchoingEngine(rounds: rounds, target: target), transport: UDPTransport(sockets.0, on: first), logger: logger,
        onEvent: { done.succeed($0) })
    }
    let start = await client.perform { engine, now in
      for _ in 0..<max(1, min(outstanding, rounds)) { engine.send([UInt8](repeating: 7, count: size), to: target) }
      return now
    }
    let duration = try await done.futureResult.get() - start
    await client.stop()
    await server.stop()
    return duration / rounds
  }

  typealias SocketAddress = MatterProtocol.SocketAddress
}

/// Echoes datagrams; with `rounds`, emits the time after that number.
private struct EchoingEngine: Engine, Sendable {
  /// 0 for no limit.
  var rounds = 0
  var target: MatterProtocol.SocketAddress?
  private var received = 0
  private var effects: [Effect<Instant>] = []

  init(rounds: Int = 0, target: MatterProtocol.SocketAddress? = nil) {
    self.rounds = rounds
    self.target = target
  }

  mutating func send(_ bytes: [UInt8], to target: MatterProtocol.SocketAddress) {
    effects.append(.send(bytes, to: target))
  }

  mutating func handle(_ input: Input, at now: Instant) {
    guard case .datagram(let bytes, let source) = input else { return }
    received += 1
    effects.append(received == rounds ? .emit(now) : .send(bytes, to: source))
  }

  mutating func advance(to now: Instant) {}
  var nextDeadline: Instant? { nil }
  mutating func nextEffect() -> Effect<Instant>? { effects.popLast() }
}

/// A blocking socket on 127.0.0.1 with a timeout of one second.
private struct BlockingSocket: ~Copyable {
  let descriptor: CInt
  let address: MatterProtocol.SocketAddress

  init() throws(NetworkError) {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
    _ = BoundSocket.set(descriptor, Int(SOL_SOCKET), SO_RCVTIMEO, timeval(tv_sec: 1, tv_usec: 0))
    let failure = BoundSocket.bind(descriptor, to: MatterProtocol.SocketAddress(.loopback4, port: 0))
    if failure != 0 { throw .system(operation: "bind", code: failure) }
    address = MatterProtocol.SocketAddress(.loopback4, port: try BoundSocket.port(of: descriptor))
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8], to address: MatterProtocol.SocketAddress) {
    _ = address.withSystemAddress { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
  }

  func receive(_ buffer: inout [UInt8]) -> Int? {
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : count
  }
}

/// A thread that echoes a number of datagrams on a blocking socket.
private final class EchoThread {
  private struct Work {
    let descriptor: CInt
    let rounds: Int
    let size: Int
  }

  private var thread = pthread_t()

  init(_ descriptor: CInt, rounds: Int, size: Int) throws(NetworkError) {
    let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    work.initialize(to: Work(descriptor: descriptor, rounds: rounds, size: size))
    let failure = pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer else { return nil }
        let work = pointer.assumingMemoryBound(to: Work.self)
        EchoThread.run(work.pointee.descriptor, work.pointee.rounds, work.pointee.size)
        work.deallocate()
        return nil
      }, work)
    if failure != 0 {
      work.deallocate()
      throw .system(operation: "pthread_create", code: failure)
    }
  }

  func join() { pthread_join(thread, nil) }

  private static func run(_ descriptor: CInt, _ rounds: Int, _ size: Int) {
    var buffer = [UInt8](repeating: 0, count: max(1, size))
    for _ in 0..<rounds {
      var source = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let sent = withUnsafeMutablePointer(to: &source) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          let count = recvfrom(descriptor, &buffer, buffer.count, 0, pointer, &length)
          return count < 0 ? count : sendto(descriptor, buffer, count, 0, pointer, length)
        }
      }
      if sent < 0 { return }
    }
  }
}
