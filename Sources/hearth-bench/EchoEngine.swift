import MatterProtocol
import NIOCore
import Runtime

/// An engine without logic, to measure the cost of driving one.
struct EchoEngine: Engine, Sendable {
  enum Event: Sendable { case answered }

  /// The answer to each datagram; nil for the client.
  var response: [UInt8]?
  private var effects: [Effect<Event>] = []
  private var nextIndex = 0

  init(response: [UInt8]? = nil) { self.response = response }

  mutating func send(_ request: [UInt8], to address: MatterProtocol.SocketAddress) {
    effects.append(.send(request, to: address))
  }

  mutating func handle(_ input: Input, at now: Instant) {
    guard case .datagram(_, let source) = input else { return }
    if let response { effects.append(.send(response, to: source)) } else { effects.append(.emit(.answered)) }
  }

  mutating func advance(to now: Instant) {}
  var nextDeadline: Instant? { nil }

  mutating func nextEffect() -> Effect<Event>? {
    guard nextIndex < effects.count else {
      effects.removeAll(keepingCapacity: true)
      nextIndex = 0
      return nil
    }
    defer { nextIndex += 1 }
    return effects[nextIndex]
  }
}

/// Two echo engines on two event loops.
struct HostEcho {
  let server: NIOLoopBound<EngineHost<EchoEngine>>
  let client: NIOLoopBound<LoopClient<EchoEngine>>

  init(_ loops: Loops, _ sizes: DatagramSizes) throws {
    let request = [UInt8](repeating: 0x55, count: sizes.request)
    let response = [UInt8](repeating: 0xAA, count: sizes.response)
    let serverSockets = try BoundSockets(.loopback), clientSockets = try BoundSockets(.loopback)
    guard let address = serverSockets.addresses.first(where: { !$0.ip.isIPv6 }) else {
      throw BenchError("the loopback interface has no IPv4 address")
    }
    server = try loops.server.submit {
      let host = EngineHost(
        EchoEngine(response: response), transport: UDPTransport(serverSockets, on: loops.server), logger: quiet)
      host.start()
      return host.bound
    }.wait()
    client = try loops.client.submit {
      let host = EngineHost(EchoEngine(), transport: UDPTransport(clientSockets, on: loops.client), logger: quiet)
      host.start()
      let client = LoopClient(
        host, begin: { engine, _ in engine.send(request, to: address) }, isAnswer: { _ in true })
      return NIOLoopBound(client, eventLoop: loops.client)
    }.wait()
  }

  func close() {
    let (server, client) = (server, client)
    try? server.eventLoop.submit { server.value.stop() }.wait()
    try? client.eventLoop.submit { client.value.host.stop() }.wait()
  }
}
