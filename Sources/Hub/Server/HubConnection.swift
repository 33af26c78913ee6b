internal import Home
internal import MatterModel
internal import NIOCore

/// A client that is connected, or is about to be. Confined to the hub.
final class HubConnection {
  enum State {
    /// It has not said who it is.
    case new
    /// It is looked up who it is.
    case identifying
    case open(HomeRole)
    case closed
  }

  let channel: any Channel
  /// Whether it is on this machine, where the system knows whose process it is.
  let isLocal: Bool
  /// Who it is, where its connection has proved it.
  var invited: InvitedClient?
  let address: String
  /// The origin of its own changes.
  let id = Identifiers.new()
  let since: Int64
  var state = State.new
  var name = ""
  /// The token that it came with, if it did.
  var tokenHash: [UInt8]?
  /// How long the frames may be that it sends.
  let frameLimit = FrameLimit(Frame.longestGreeting)
  /// Requests that are not answered yet.
  var outstanding = 0
  /// Those that are not begun yet, the first that came first.
  var requests: [Asked] = []
  /// What it asks of the log, one after another: each answer is long, and the next is read when this one was taken.
  var reads: [Asked] = []
  var isReading = false
  /// Since when it takes nothing.
  var stalled: NIODeadline?
  /// How far it was told what happened; nil: nothing yet.
  var position: HubPosition?
  /// Whether there is more to tell than it takes: it is told the rest when it takes again.
  var isBehind = false
  var isCatchingUp = false

  struct Asked {
    var id: UInt64
    var request: HubRequest
    var origin: String
  }

  /// What a client may ask at a time.
  static let mostRequests = 64
  /// How long the name of a client's client may be, in bytes, and how much may be in one request.
  static let longestOrigin = 64, mostItems = 10_000
  private static let partingTime = TimeAmount.seconds(5)

  init(_ channel: any Channel, isLocal: Bool, address: String, at time: Int64) {
    self.channel = channel
    self.isLocal = isLocal
    self.address = address
    since = time
  }

  /// Whether it has not said yet who it is, or was refused.
  var isStranger: Bool { role == nil }

  var role: HomeRole? { if case .open(let role) = state { role } else { nil } }

  func send(_ news: HubNews) { send(Frame.buffer(news.bytes, channel.allocator)) }

  func send(_ frame: ByteBuffer) { channel.writeAndFlush(frame, promise: nil) }

  /// Answers, and is told when that was taken, or can't be any more.
  func send(_ news: HubNews, then done: @escaping @Sendable () -> Void) {
    channel.writeAndFlush(Frame.buffer(news.bytes, channel.allocator)).whenComplete { _ in done() }
  }

  /// Says why, and hangs up.
  func refuse(_ error: HomeError) {
    state = .closed
    (requests, reads) = ([], [])
    let channel = channel
    channel.writeAndFlush(Frame.buffer(HubNews.refused(error).bytes, channel.allocator)).whenComplete { _ in
      channel.close(promise: nil)
    }
    // Who does not even take that is not waited for.
    channel.eventLoop.scheduleTask(in: Self.partingTime) { channel.close(promise: nil) }
  }
}

/// Carries what comes on a connection to its hub.
final class HubHandler: ChannelInboundHandler {
  typealias InboundIn = [UInt8]

  private let hub: Hub
  private let connection: Int

  init(_ hub: Hub, _ connection: Int) { (self.hub, self.connection) = (hub, connection) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (bytes, connection) = (unwrapInboundIn(data), connection)
    hub.assumeIsolated { $0.received(bytes, from: connection) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // Who does not take answers need not ask.
    context.channel.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
    guard context.channel.isWritable else { return }
    let connection = connection
    hub.assumeIsolated { $0.canTakeMore(connection) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let connection = connection
    hub.assumeIsolated { $0.closed(connection) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
