internal import HomeModel
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// Passes the messages of a hub to its link, and answers control frames.
final class LinkHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let link: HubLink
  private let attempt: Int

  init(_ link: HubLink, _ attempt: Int) { (self.link, self.attempt) = (link, attempt) }

  func handlerAdded(context: ChannelHandlerContext) {
    let (channel, attempt) = (context.channel, attempt)
    // After the upgrade handler is removed.
    context.eventLoop.execute { [link] in link.assumeIsolated { $0.opened(channel, attempt) } }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (frame, attempt) = (unwrapInboundIn(data), attempt)
    link.assumeIsolated { $0.noteActivity(attempt) }
    switch frame.opcode {
    case .text:
      let text = Array(frame.data.readableBytesView)
      link.assumeIsolated { $0.received(text, attempt) }
    case .ping:
      let answer = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.data)
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    case .connectionClose:
      var data = frame.unmaskedData
      if data.readWebSocketErrorCode() == .goingAway { link.assumeIsolated { $0.ended(attempt) } }
      context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Reads the response to an upgrade that the hub refused.
final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let link: HubLink
  private let attempt: Int
  private var status = HTTPResponseStatus.ok
  private var body: [UInt8] = []
  private static let longestBody = 1 << 16

  init(_ link: HubLink, _ attempt: Int) { (self.link, self.attempt) = (link, attempt) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): status = head.status
    case .body(let part): if body.count < Self.longestBody { body += Array(part.readableBytesView) }
    case .end:
      let code: HomeError.Code = status == .unauthorized ? .accessDenied : .unreachable
      let error =
        (try? HubJSON.decode(HomeError.self, from: body))
        ?? HomeError(code, "the hub refused the connection: \(status)")
      let attempt = attempt
      link.assumeIsolated { $0.refused(error, attempt) }
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
