import HearthHome
import NIOCore
import NIOPosix

/// A client of the standard API over TLS: upgrades the connection, starts to listen, and reports the values of an attribute.
final class NetworkClient: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let beginning = Array(#"{"event":"attribute_updated","data":["#.utf8)

  private let token: String
  private let listening: EventLoopPromise<Void>
  /// The separators around the path of the attribute in an event, such as `,"1/6/0",`.
  private let path: [UInt8]
  private let report: (_ node: UInt64, _ value: Int) -> Void
  private var isUpgraded = false
  /// The bytes after the last complete frame.
  private var rest: [UInt8] = []

  /// - Parameters:
  ///   - listening: completes when the client receives events.
  ///   - report: receives the number in each event of the attribute.
  init(
    token: String, path: String, _ listening: EventLoopPromise<Void>,
    _ report: @escaping (_ node: UInt64, _ value: Int) -> Void
  ) {
    (self.token, self.path, self.listening, self.report) = (token, Array(",\"\(path)\",".utf8), listening, report)
  }

  /// Connects clients one after another, and waits until each receives events.
  /// - Parameter report: receives the number of the client, and the node and the number in each event of the attribute.
  static func connect(
    _ count: Int, _ invitation: HubInvitation, path: String, on loop: any EventLoop,
    _ report: @escaping @Sendable (_ client: Int, _ node: UInt64, _ value: Int) -> Void
  ) throws -> [any Channel] {
    let trust = HubTrust(fingerprint: invitation.fingerprint)
    guard case .host(let host, let port)? = invitation.addresses.first,
      let tls = try ClientTLS(.host(host, port: port), trust)
    else { throw BenchError("the hub has no TLS port") }
    return try (0..<count).map { client in
      let listening = loop.makePromise(of: Void.self)
      let channel = try ClientBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(tls.makeHandler())
            try pipeline.addHandler(
              NetworkClient(token: invitation.token, path: path, listening) { report(client, $0, $1) })
          }
        }
        .connect(host: host, port: port).wait()
      try listening.futureResult.wait()
      return channel
    }
  }

  func channelActive(context: ChannelHandlerContext) {
    let head =
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Authorization: Bearer \(token)\r\n\r\n"
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    rest += Array(unwrapInboundIn(data).readableBytesView)
    if !isUpgraded {
      guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
      guard rest.starts(with: Array("HTTP/1.1 101 ".utf8)) else {
        return listening.fail(BenchError("the hub refused a client: \(String(decoding: rest, as: UTF8.self))"))
      }
      rest.removeSubrange(..<end.upperBound)
      isUpgraded = true
      let command = Array(#"{"message_id":"1","command":"start_listening","args":null}"#.utf8)
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: ServerFrame.masked(command))), promise: nil)
    }
    var bytes = rest[...]
    while let frame = ServerFrame(bytes) {
      received(frame)
      bytes = bytes[frame.payload.endIndex...]
    }
    rest = Array(bytes)
  }

  private func received(_ frame: ServerFrame) {
    guard frame.opcode == ServerFrame.text else { return }
    guard frame.payload.starts(with: Self.beginning) else {
      if frame.payload.firstRange(of: Array("\"message_id\":\"1\"".utf8)) != nil { listening.succeed() }
      return
    }
    let data = frame.payload.dropFirst(Self.beginning.count)
    guard let range = data.firstRange(of: path), let node = Self.number(data[..<range.lowerBound]),
      let value = Self.number(data[range.upperBound...].prefix { $0 != UInt8(ascii: "]") })
    else { return }
    report(UInt64(node), value)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? { Int(String(decoding: digits, as: UTF8.self)) }

  func channelInactive(context: ChannelHandlerContext) { listening.fail(BenchError("the hub disconnected a client")) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    listening.fail(error)
    context.close(promise: nil)
  }
}
