internal import HomeControl
internal import HomeModel
internal import NIOCore
internal import NIOSSL
internal import NIOWebSocket
internal import Runtime
internal import WebClient

/// A connection before its upgrade to WebSocket. Confined to the event loop of the server.
final class HubHandshake {
  let channel: any Channel
  let kind: HubServer.ListenerKind
  /// `local` or the remote address.
  let address: String
  /// The client of the upgrade request, once it is identified.
  var client: Client?

  /// An identified client.
  struct Client {
    var name: String
    var role: HomeRole
    /// The hash of its token; nil for processes of the hub's own user and loopback clients.
    var tokenHash: [UInt8]?
    /// Whether it is a process of the hub's own user, which may have programs started.
    var isSameUser = false
  }

  /// Closes the connection without the end of TLS, which would wait for the peer.
  func abort() {
    if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
      tls.close(mode: .all, promise: nil)
    } else {
      channel.close(promise: nil)
    }
  }

  init(_ channel: any Channel, _ kind: HubServer.ListenerKind) {
    (self.channel, self.kind) = (channel, kind)
    address = kind.isNetwork ? channel.remoteAddress?.ipAddress ?? "?" : "local"
  }
}

/// A WebSocket client. Confined to the event loop of the server.
final class HubConnection {
  let channel: any Channel
  var client: HubHandshake.Client
  let address: String
  /// The id of the connection, which is the prefix of the origin of each change that the client makes.
  let id = Identifiers.new()
  let since: Int64
  /// The time since which the socket accepts no bytes.
  var stalled: NIODeadline?
  /// The number of pings since the last frame of the client.
  var unansweredPings = 0
  private(set) var isClosed = false
  /// The tokens for further messages of the client.
  var tokens: TokenBucket
  /// Whether nothing is read because there are no tokens.
  var isDelayed = false {
    didSet { if isDelayed != oldValue { updateReading() } }
  }

  /// Whether the invitation of the client was revoked. No more requests are performed; the connection is closed after the
  /// reply to its own revocation.
  var isRevoked = false

  // The standard API.
  /// Whether node events are sent to the client.
  var isListening = false
  /// The number of requests without a result.
  var outstanding = 0

  // The additions.
  /// Whether the home and its changes are sent to the client.
  var isFollowing = false
  /// The last update that was sent to the client; nil: none.
  var position: HubPosition?
  /// Whether updates after the position or contacts were skipped because the client did not read; they are sent when it
  /// reads again.
  var isBehind = false
  var isCatchingUp = false
  /// The number of requests without a reply.
  var ownOutstanding = 0
  /// The number of requests without a reply that revoke an invitation.
  var revocations = 0
  /// The requests that were not started yet, in order of arrival.
  var requests: [Request] = []
  /// The running requests that can be canceled, by id.
  var running: [String: (task: Task<Void, Never>, isEndless: Bool)] = [:]
  /// The requests for the log. They are performed one after another, each when the client has read the reply to the one
  /// before, because replies are large.
  var reads: SerialWork

  struct Request {
    var id: String
    var request: HomeRequest
    var origin: String?
    var options: RequestOptions
  }

  /// The time for sending a close frame.
  private static let closeTime = TimeAmount.seconds(2)

  init(_ channel: any Channel, _ client: HubHandshake.Client, address: String, on machine: any Machine) {
    (self.channel, self.client, self.address) = (channel, client, address)
    (since, reads) = (machine.unixMicroseconds(), SerialWork(machine))
    tokens = TokenBucket(client.tokenHash == nil ? .local : .invited)
  }

  var role: HomeRole { client.role }

  /// Starts or stops reading. A client that does not take results sends no further requests.
  func updateReading() { channel.setOption(.autoRead, value: channel.isWritable && !isDelayed).whenFailure { _ in } }

  // MARK: Sending

  /// Sends a text message.
  /// - Returns: a future that completes when the message is written to the socket, or the connection closed.
  @discardableResult
  func send(_ text: ByteBuffer) -> EventLoopFuture<Void> {
    guard !isClosed else { return channel.eventLoop.makeSucceededVoidFuture() }
    return channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: text))
  }

  func send(_ value: JSONValue) { send(value.bytes) }

  /// Queues a result or event of the standard API until the next flush, or closes the connection if too much is queued
  /// for the client.
  func write(_ text: ByteBuffer) {
    guard !isClosed else { return }
    // The look-up is slow, and not needed below the watermark.
    guard channel.isWritable || queuedBytes <= HubServer.Limits.queuedBytes else { return close(.policyViolation) }
    channel.write(WebSocketFrame(fin: true, opcode: .text, data: text), promise: nil)
  }

  /// The number of bytes that were not written to the socket yet.
  private var queuedBytes: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

  func ping() {
    guard !isClosed else { return }
    unansweredPings += 1
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()), promise: nil)
  }

  // MARK: Closing

  /// Closes the connection; a client that does not read the code is not waited for.
  func close(_ code: WebSocketErrorCode) {
    guard !isClosed else { return }
    isClosed = true
    (isListening, isFollowing) = (false, false)
    let channel = channel
    guard channel.isWritable else { return channel.close(promise: nil) }
    var reason = ByteBuffer()
    reason.write(webSocketErrorCode: code)
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: reason)).whenComplete { _ in
      channel.close(promise: nil)
    }
    channel.eventLoop.scheduleTask(in: Self.closeTime) { channel.close(promise: nil) }
  }
}
