internal import NIOCore
internal import NIOHTTP1

/// Answers the HTTP requests that are not upgraded: `GET /health`, and errors for everything else.
final class MatterHTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let server: MatterServer
  private var head: HTTPRequestHead?

  init(_ server: MatterServer) { self.server = server }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head else { return }
      self.head = nil
      answer(head, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
    switch (MatterServer.path(of: request), request.method) {
    case ("/health", .GET): send(.ok, server.assumeIsolated { $0.health }, [:], context)
    case ("/health", _): send(.methodNotAllowed, ["error": "method not allowed"], ["Allow": "GET"], context)
    case (MatterServer.path, _) where !MatterServer.isAllowed(request):
      send(.forbidden, ["error": "origin not allowed"], [:], context)
    case (MatterServer.path, _):
      send(.upgradeRequired, ["error": "WebSocket upgrade required"], ["Upgrade": "websocket"], context)
    default: send(.notFound, ["error": "not found"], [:], context)
    }
  }

  private func send(
    _ status: HTTPResponseStatus, _ body: JSONValue, _ headers: HTTPHeaders, _ context: ChannelHandlerContext
  ) {
    let bytes = body.bytes
    var headers = headers
    headers.add(name: "Content-Type", value: "application/json")
    headers.add(name: "Content-Length", value: String(bytes.readableBytes))
    headers.add(name: "Connection", value: "close")
    context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
