import MatterCrypto
import NIOCore
import NIOPosix
import Runtime
import Synchronization

@testable import Hub

/// A client that sends arbitrary frames.
final class RawClient: Sendable {
  let channel: any Channel
  private let received = Mutex<(frames: [HubNews], isClosed: Bool)>(([], false))

  convenience init(_ path: String, reads: Bool = true) async throws {
    try await self.init(reads: reads) { bootstrap in
      try await SocketPath.withShort(path) { try await bootstrap.connect(unixDomainSocketPath: $0).get() }
    }
  }

  init(
    tokenHash: [UInt8]? = nil, reads: Bool = true, _ connect: @Sendable (ClientBootstrap) async throws -> any Channel
  ) async throws {
    let (frames, continuation) = AsyncStream.makeStream(of: [UInt8]?.self)
    channel = try await connect(
      ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelOption(.autoRead, value: reads)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tokenHash {
              try channel.pipeline.syncOperations.addHandler(
                SecureHandler(tokenHash: tokenHash, random: SystemRandomSource()))
            }
            try channel.pipeline.syncOperations.addHandler(
              ByteToMessageHandler(FrameDecoder(longest: Frame.longestNews)))
            try channel.pipeline.syncOperations.addHandler(RawHandler { continuation.yield($0) })
          }
        })
    Task { [weak self] in
      for await frame in frames {
        guard let self else { return }
        received.withLock { received in
          if let frame, let news = try? HubNews(frame) { received.frames.append(news) }
          if frame == nil { received.isClosed = true }
        }
      }
    }
  }

  var news: [HubNews] { received.withLock { $0.frames } }
  var isClosed: Bool { received.withLock { $0.isClosed } }

  /// The kinds of the received news, without heartbeats, which may arrive at any time.
  var kinds: [String] {
    news.map { Mirror(reflecting: $0).children.first?.label ?? "\($0)" }.filter { $0 != "contacts" }
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
  func send(_ message: HubMessage) { channel.writeAndFlush(Frame.buffer(message.bytes, .init()), promise: nil) }
  func read() { channel.setOption(.autoRead, value: true).whenComplete { _ in } }
}

private final class RawHandler: ChannelInboundHandler {
  typealias InboundIn = [UInt8]
  private let receive: @Sendable ([UInt8]?) -> Void

  init(_ receive: @escaping @Sendable ([UInt8]?) -> Void) { self.receive = receive }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { receive(unwrapInboundIn(data)) }
  func channelInactive(context: ChannelHandlerContext) { receive(nil) }
}
