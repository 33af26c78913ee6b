import NIOCore
import NIOPosix
import Runtime
import Synchronization

@testable import Home
@testable import HomeModel
@testable import Hub

/// A hub that accepts every client, sends prepared news, and answers no request.
final class SilentHub: Sendable {
  private let listener: any Channel
  private let channels = Mutex<[any Channel]>([])

  /// - Parameter greeting: the news sent after a hello.
  init(_ path: String, greeting: [HubNews]) async throws {
    let (accepted, continuation) = AsyncStream.makeStream(of: (any Channel).self)
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(FrameDecoder(longest: 1 << 20)))
          try channel.pipeline.syncOperations.addHandler(Greeter(greeting) { continuation.yield($0) })
        }
      }.withBoundSocket(try SocketPath.listen(at: path, mode: 0o600)).get()
    Task { [weak self] in
      for await channel in accepted { self?.channels.withLock { $0.append(channel) } }
    }
  }

  func send(_ news: [HubNews]) {
    for channel in channels.withLock({ $0 }) {
      for one in news { channel.writeAndFlush(Frame.buffer(one.bytes, .init()), promise: nil) }
    }
  }

  var clientCount: Int { channels.withLock { $0.count } }

  func close() async {
    try? await listener.close().get()
    for channel in channels.withLock({ $0 }) { try? await channel.close().get() }
  }

  /// The news that load a home.
  static let home: [HubNews] = [
    .reset, .part(ServedHome.lamp), .settling(DebouncerState()), .synchronized(HubPosition(hub: 1, count: 0)),
  ]
  static let welcome = HubNews.welcome(.owner, client: "c", isResumed: false)
}

private final class Greeter: ChannelInboundHandler {
  typealias InboundIn = [UInt8]
  private let greeting: [HubNews]
  private let onHello: @Sendable (any Channel) -> Void

  init(_ greeting: [HubNews], _ onHello: @escaping @Sendable (any Channel) -> Void) {
    (self.greeting, self.onHello) = (greeting, onHello)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .hello? = try? HubMessage(unwrapInboundIn(data)) else { return }
    for one in greeting { context.channel.writeAndFlush(Frame.buffer(one.bytes, .init()), promise: nil) }
    onHello(context.channel)
  }
}
