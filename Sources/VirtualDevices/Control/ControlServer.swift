import Foundation
import Glibc
import NIOCore
import NIOPosix
import Runtime

/// Serves requests of other processes of this user on a socket in the run directory. One line of JSON in each
/// direction.
final class ControlServer: Sendable {
  typealias Answer = @Sendable (ControlRequest) -> EventLoopFuture<ControlReply>

  private let channel: any Channel
  private let path: String

  private init(_ channel: any Channel, _ path: String) { (self.channel, self.path) = (channel, path) }

  /// Starts listening; removes the socket of an earlier process at that path.
  static func open(path: String, on loop: any EventLoop, answering answer: @escaping Answer) async throws
    -> ControlServer
  {
    unlink(path)
    let descriptor = try SocketPath.listen(at: path, mode: 0o600)
    let channel = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ControlHandler(answer))
        }
      }
      .withBoundSocket(descriptor).get()
    return ControlServer(channel, path)
  }

  func close() async {
    unlink(path)
    try? await channel.close().get()
  }
}

/// One connection: answers lines in order.
private final class ControlHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let maximumLineLength = 1 << 16
  private let answer: ControlServer.Answer
  private var line: [UInt8] = []

  init(_ answer: @escaping ControlServer.Answer) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    for byte in unwrapInboundIn(data).readableBytesView {
      if byte == UInt8(ascii: "\n") {
        received(line, context)
        line.removeAll(keepingCapacity: true)
      } else {
        line.append(byte)
      }
      guard line.count <= Self.maximumLineLength else {
        context.close(promise: nil)
        return
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func received(_ line: [UInt8], _ context: ChannelHandlerContext) {
    let reply: EventLoopFuture<ControlReply>
    if let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) {
      reply = answer(request).hop(to: context.eventLoop)
    } else {
      reply = context.eventLoop.makeSucceededFuture(
        ControlReply(error: ControlError(.badRequest, "unknown request, perhaps from another version of hearth")))
    }
    let channel = context.channel
    reply.whenComplete { result in
      let reply =
        switch result {
        case .success(let reply): reply
        case .failure(let error): ControlReply(error: ControlError(.failed, "\(error)"))
        }
      guard let data = try? JSONEncoder().encode(reply) else { return }
      channel.writeAndFlush(ByteBuffer(bytes: Array(data) + [UInt8(ascii: "\n")]), promise: nil)
    }
  }
}
