internal import NIOCore
internal import NIOHTTP1

/// Answers the HTTP requests that are not upgraded: `GET /health`, and errors for everything else.
final class MatterHTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

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
    let channel = context.channel
    switch (MatterServer.path(of: request), request.method) {
    case ("/health", .GET): Self.send(.ok, server.assumeIsolated { $0.health }, on: channel)
    case ("/health", _):
      Self.send(.methodNotAllowed, ["error": "method not allowed"], ["Allow": "GET"], on: channel)
    case (MatterServer.path, _):
      Self.send(.upgradeRequired, ["error": "WebSocket upgrade required"], ["Upgrade": "websocket"], on: channel)
    default: Self.refuse(request, on: channel)
    }
  }

  /// Answers a request for a WebSocket that is not served, or not to a page of this origin.
  static func refuse(_ request: HTTPRequestHead, on channel: any Channel) {
    if MatterServer.path(of: request) == MatterServer.path {
      send(.forbidden, ["error": "origin not allowed"], on: channel)
    } else {
      send(.notFound, ["error": "not found"], on: channel)
    }
  }

  /// Sends a response and closes the connection.
  private static func send(
    _ status: HTTPResponseStatus, _ body: JSONValue, _ headers: HTTPHeaders = [:], on channel: any Channel
  ) {
    let bytes = body.bytes
    var headers = headers
    headers.add(name: "Content-Type", value: "application/json")
    headers.add(name: "Content-Length", value: String(bytes.readableBytes))
    headers.add(name: "Connection", value: "close")
    let pipeline = channel.pipeline.syncOperations
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    pipeline.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil)
    pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
