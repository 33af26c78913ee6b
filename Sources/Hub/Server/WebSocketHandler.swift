internal import NIOCore
internal import NIOWebSocket

/// Passes the text messages of a client to the server, and answers control frames.
final class WebSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let server: HubServer
  private let number: Int

  init(_ server: HubServer, _ number: Int) { (self.server, self.number) = (server, number) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    let number = number
    let size = frame.data.readableBytes
    server.assumeIsolated { $0.noteFrame(of: number, size: size) }
    switch frame.opcode {
    case .text:
      let text = Array(frame.unmaskedData.readableBytesView)
      server.assumeIsolated { $0.received(text, from: number) }
    case .ping:
      let answer = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    case .pong: break
    case .connectionClose: server.assumeIsolated { $0.close(number, .normalClosure) }
    default: server.assumeIsolated { $0.close(number, .unacceptableData) }
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let (number, isWritable) = (number, context.channel.isWritable)
    server.assumeIsolated { $0.writabilityChanged(of: number, to: isWritable) }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let number = number
    server.assumeIsolated { $0.closed(number) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let number = number
    let isTooLarge =
      (error as? NIOWebSocketError) == .invalidFrameLength || error is NIOWebSocketFrameAggregator.Error
    server.assumeIsolated { $0.close(number, isTooLarge ? .messageTooLarge : .protocolError) }
  }
}
