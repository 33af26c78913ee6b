internal import HomeModel
internal import NIOCore
internal import NIOHTTP1
internal import WebClient

/// Answers the HTTP requests that are not upgraded: `GET /health`, and errors for everything else. `HEAD` is answered like
/// `GET`, without the body.
final class HTTPHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private let server: HubServer
  private let kind: HubServer.ListenerKind
  private var head: HTTPRequestHead?
  /// Whether a request was answered, which closes the connection; further ones are ignored.
  private var isAnswered = false

  init(_ server: HubServer, _ kind: HubServer.ListenerKind) { (self.server, self.kind) = (server, kind) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isAnswered else { return }
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head else { return }
      isAnswered = true
      answer(head, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let (channel, method) = (context.channel, request.method)
    switch (HubServer.path(of: request), method) {
    case ("/health", .GET), ("/health", .HEAD):
      // Other listeners answer requests for the health without a token.
      let health: JSONValue = if case .loopback = kind { server.assumeIsolated { $0.health } } else { ["status": "ok"] }
      Self.send(.ok, health, to: method, on: channel)
    case ("/health", _):
      Self.send(.methodNotAllowed, ["error": "method not allowed"], ["Allow": "GET, HEAD"], to: method, on: channel)
    case (HubAddress.path, _):
      Self.send(
        .upgradeRequired, ["error": "WebSocket upgrade required"], ["Upgrade": "websocket"], to: method, on: channel)
    default: Self.send(.notFound, ["error": "not found"], to: method, on: channel)
    }
  }

  /// Refuses an upgrade. The body is the error, as in the replies to requests.
  static func refuse(_ error: HomeError, on channel: any Channel) {
    let body = (try? HubJSON.value(of: error)) ?? ["message": .string(error.message)]
    switch error.code {
    case .accessDenied: send(.unauthorized, body, ["WWW-Authenticate": "Bearer"], on: channel)
    case .refused: send(.serviceUnavailable, body, on: channel)
    default: send(.internalServerError, body, on: channel)
    }
  }

  /// Sends a response and closes the connection.
  /// - Parameter method: the method of the request; the response to `HEAD` has no body.
  static func send(
    _ status: HTTPResponseStatus, _ body: JSONValue, _ headers: HTTPHeaders = [:], to method: HTTPMethod = .GET,
    on channel: any Channel
  ) {
    let bytes = body.bytes
    var headers = headers
    headers.add(name: "Content-Type", value: "application/json")
    headers.add(name: "Content-Length", value: String(bytes.readableBytes))
    headers.add(name: "Connection", value: "close")
    let pipeline = channel.pipeline.syncOperations
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    pipeline.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    if method != .HEAD { pipeline.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil) }
    pipeline.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
