import HearthHome
import HomeControl
import HomeModel
import Hub
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Runtime
import Synchronization

/// A hub that accepts every client, sends prepared news, and answers no request.
final class SilentHub: Sendable {
  private let listener: any Channel
  private let channels = Mutex<[any Channel]>([])
  private let received: ReceivedRequests

  /// - Parameter greeting: the news sent after `hearth_start`.
  init(_ path: String, greeting: [HubNews]) async throws {
    let (accepted, continuation) = AsyncStream.makeStream(of: (any Channel).self)
    let received = ReceivedRequests()
    self.received = received
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
              channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                  Greeter(greeting, received) { continuation.yield($0) })
              }
            })
          let configuration = NIOTypedHTTPServerUpgradeConfiguration<Void>(upgraders: [upgrader]) { channel in
            channel.close()
          }
          _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: .init(upgradeConfiguration: configuration))
        }
      }.withBoundSocket(try SocketPath.listen(at: path, mode: 0o600)).get()
    Task { [weak self] in
      for await channel in accepted { self?.channels.withLock { $0.append(channel) } }
    }
  }

  func send(_ news: [HubNews]) {
    for channel in channels.withLock({ $0 }) {
      for one in news { channel.writeAndFlush(one.frame, promise: nil) }
    }
  }

  /// The requests of all clients, with their ids.
  var requests: [(id: String, request: HomeRequest, options: RequestOptions)] { received.all.withLock { $0 } }

  /// Answers no pings from now on.
  /// - Parameter greets: whether new clients still receive the greeting.
  func stopAnswering(greets: Bool = false) {
    received.answersPings.withLock { $0 = false }
    received.greets.withLock { $0 = greets }
  }

  /// Answers pings again.
  func startAnswering() { received.answersPings.withLock { $0 = true } }

  /// Closes the connections of all clients, but not the hub.
  func disconnectClients() { for channel in channels.withLock({ $0 }) { channel.close(promise: nil) } }

  /// The numbers of all clients and of the connected ones.
  var clientCount: Int { channels.withLock { $0.count } }
  var openCount: Int { channels.withLock { $0.count { $0.isActive } } }

  func close() async {
    try? await listener.close().get()
    for channel in channels.withLock({ $0 }) { try? await channel.close().get() }
  }

  /// The news that load a home.
  static let home: [HubNews] = [
    .reset, .part(ServedHome.lamp), .debouncer(DebouncerState()), .synchronized(HubPosition(hub: 1, count: 0)),
  ]
  static let welcome = HubNews.welcome(HubWelcome(.owner, home: "h", client: "c", isResumed: false))
}

private final class ReceivedRequests: Sendable {
  let answersPings = Mutex(true)
  let greets = Mutex(true)
  let all = Mutex<[(id: String, request: HomeRequest, options: RequestOptions)]>([])
}

private final class Greeter: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  private let greeting: [HubNews]
  private let received: ReceivedRequests
  private let onStart: @Sendable (any Channel) -> Void

  init(
    _ greeting: [HubNews], _ received: ReceivedRequests, _ onStart: @escaping @Sendable (any Channel) -> Void
  ) {
    (self.greeting, self.received, self.onStart) = (greeting, received, onStart)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if frame.opcode == .ping {
      guard received.answersPings.withLock({ $0 }) else { return }
      context.channel.writeAndFlush(
        WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData), promise: nil)
      return
    }
    switch try? HubMessage(Array(frame.unmaskedData.readableBytesView)) {
    case .start:
      if received.greets.withLock({ $0 }) {
        for one in greeting { context.channel.writeAndFlush(one.frame, promise: nil) }
      }
      onStart(context.channel)
    case .request(let id, let request, _, let options): received.all.withLock { $0.append((id, request, options)) }
    case .cancel, nil: break
    }
  }
}

extension HubNews {
  fileprivate var frame: WebSocketFrame {
    WebSocketFrame(fin: true, opcode: .text, data: (try? text) ?? ByteBuffer())
  }
}
