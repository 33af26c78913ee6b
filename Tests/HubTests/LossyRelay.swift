import MatterCrypto
import NIOCore
import NIOPosix
import Runtime
import Synchronization

/// Relays the connections to a Unix socket. Delays data as TCP does on a network that loses segments: by multiples of a
/// retransmission timeout, drawn from a seed, and all later data of the connection as well.
final class LossyRelay: Sendable {
  fileprivate struct State {
    var random: SeededRandomSource
    var loss: Double
    var isSilent = false
    var connections: [any Channel] = []
  }

  private let listener: any Channel
  private let state: RelayState

  /// - Parameters:
  ///   - path: the path of the relay's socket.
  ///   - target: the path of the socket to connect to.
  ///   - loss: the probability of the loss of a segment.
  ///   - timeout: the first retransmission timeout.
  init(
    at path: String, to target: String, loss: Double = 0, timeout: Duration = .milliseconds(200), seed: UInt64 = 1
  ) async throws {
    let state = RelayState(State(random: SeededRandomSource(seed: seed), loss: loss), timeout)
    self.state = state
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { inbound in
        state.state.withLock { $0.connections.append(inbound) }
        return ClientBootstrap(group: inbound.eventLoop)
          .channelInitializer { outbound in
            outbound.eventLoop.makeCompletedFuture {
              try outbound.pipeline.syncOperations.addHandler(RelayHandler(to: inbound, state))
            }
          }
          .connect(unixDomainSocketPath: target)
          .flatMapThrowing { outbound in
            try inbound.pipeline.syncOperations.addHandler(RelayHandler(to: outbound, state))
          }
      }.withBoundSocket(try SocketPath.listen(at: path, mode: 0o600)).get()
  }

  /// Drops all data from now on, or, when this ends, closes the connections whose data was dropped.
  func setSilent(_ isSilent: Bool) {
    let broken = state.state.withLock { state in
      state.isSilent = isSilent
      guard !isSilent else { return [any Channel]() }
      defer { state.connections = [] }
      return state.connections
    }
    for channel in broken { channel.close(promise: nil) }
  }

  func setLoss(_ loss: Double) { state.state.withLock { $0.loss = loss } }

  func close() async {
    try? await listener.close().get()
    setSilent(false)
  }
}

private final class RelayState: Sendable {
  let state: Mutex<LossyRelay.State>
  private let timeout: Duration

  init(_ state: consuming LossyRelay.State, _ timeout: Duration) {
    self.state = Mutex(state)
    self.timeout = timeout
  }

  /// The delay of the next segment; nil: it is lost for ever.
  func delay() -> TimeAmount? {
    state.withLock { state in
      guard !state.isSilent else { return nil }
      var (delay, timeout) = (Duration.zero, timeout)
      while Double(state.random.next() >> 11) / Double(1 << 53) < state.loss, delay < .seconds(60) {
        delay += timeout
        timeout *= 2
      }
      return .nanoseconds(delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000)
    }
  }
}

private final class RelayHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: any Channel
  private let state: RelayState
  /// The time at which the last data arrives.
  private var arrival = NIODeadline.uptimeNanoseconds(0)

  init(to peer: any Channel, _ state: RelayState) { (self.peer, self.state) = (peer, state) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let delay = state.delay() else { return }
    let (peer, bytes) = (peer, unwrapInboundIn(data))
    arrival = max(arrival, context.eventLoop.now + delay)
    context.eventLoop.scheduleTask(deadline: arrival) { peer.writeAndFlush(bytes, promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let peer = peer
    context.eventLoop.scheduleTask(deadline: max(arrival, context.eventLoop.now)) { peer.close(promise: nil) }
  }
}
