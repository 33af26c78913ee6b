internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The number of open connections.
final class ConnectionCounter: Sendable {
  private static let limit = 32
  private let count = Atomic(0)

  /// Counts a connection.
  /// - Returns: whether it is within the limit.
  func begin() -> Bool { count.add(1, ordering: .relaxed).newValue <= Self.limit }
  func end() { count.subtract(1, ordering: .relaxed) }
}

/// Answers one request and closes the connection.
final class MetricsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The time for a request and its response.
  private static let timeLimit = TimeAmount.seconds(10)
  /// The size of a request's body, which is ignored.
  private static let bodyLimit = 1 << 16

  private let source: MetricsServer.Source
  private let connections: ConnectionCounter
  private var head: HTTPRequestHead?
  private var bodySize = 0
  /// Whether a request is being answered; further ones are ignored.
  private var isAnswering = false
  private var timer: Scheduled<Void>?

  init(_ source: @escaping MetricsServer.Source, _ connections: ConnectionCounter) {
    (self.source, self.connections) = (source, connections)
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: Self.timeLimit) { channel.close(promise: nil) }
    if !connections.begin() { context.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    connections.end()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isAnswering else { return }
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let body):
      bodySize += body.readableBytes
      if bodySize > Self.bodyLimit { context.close(promise: nil) }
    case .end:
      guard let head else { return }
      isAnswering = true
      answer(head, context)
    }
  }

  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard head.uri.prefix(while: { $0 != "?" }) == "/metrics" else {
      return send(.notFound, "not found; the metrics are at /metrics\n", for: head, context)
    }
    guard head.method == .GET || head.method == .HEAD else {
      return send(.methodNotAllowed, "expected GET\n", ["Allow": "GET, HEAD"], for: head, context)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.makeFutureWithTask { [source] in await source() }.whenSuccess { families in
      let (handler, context) = bound.value
      handler.send(
        .ok, MetricFamily.text(families), ["Content-Type": MetricFamily.contentType, "Cache-Control": "no-store"],
        for: head, context)
    }
  }

  /// Sends a response and closes the connection.
  private func send(
    _ status: HTTPResponseStatus, _ text: String, _ headers: HTTPHeaders = [:], for request: HTTPRequestHead,
    _ context: ChannelHandlerContext
  ) {
    guard context.channel.isActive else { return }
    var headers = headers
    if !headers.contains(name: "Content-Type") { headers.add(name: "Content-Type", value: "text/plain; charset=utf-8") }
    headers.add(name: "Content-Length", value: "\(text.utf8.count)")
    headers.add(name: "Connection", value: "close")
    let head = HTTPResponseHead(version: request.version, status: status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
