import Home
import Hub
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOEmbedded

// Bytes from a network peer to a hub: the handshake, records, frames and messages.
extension FuzzTarget {
  static let hub = FuzzTarget(name: "hub", seeds: HubInput.seeds, run: HubInput.run)
}

/// The first byte of an input selects the sender, the second the chunk size; the rest is the data.
private enum HubInput {
  enum Mode: UInt8, CaseIterable {
    /// To the hub, from an unknown peer: the handshake.
    case unknownPeer
    /// To the hub, a handshake with one altered byte, given by the first three bytes: its offset and the value to XOR.
    case alteredHandshake
    /// To the hub, from a client with a token: valid records with arbitrary contents.
    case client
    /// To the hub, from a client with a token: arbitrary bytes after the handshake.
    case unsealedClient
    /// To a client, from its hub.
    case hub
  }

  private static let token = InvitedClient.hash("fuzz")

  static func run(_ input: [UInt8]) {
    guard input.count >= 2, let mode = Mode(rawValue: input[0] % UInt8(Mode.allCases.count)) else { return }
    let (rest, step) = (Array(input.dropFirst(2)), Int(input[1]) + 1)
    switch mode {
    case .unknownPeer:
      let receiver = Receiver()
      withHub(receiver) { deliver(rest, by: step, to: $0) }
      if receiver.isReady || !receiver.frames.isEmpty { FuzzTarget.finding("an unauthenticated peer was accepted") }
    case .alteredHandshake:
      let place = rest.count < 2 ? 0 : Int(rest[0]) << 8 | Int(rest[1])
      let change: UInt8 = rest.count < 3 ? 0 : rest[2]
      let receiver = Receiver()
      withHub(receiver) { channel in
        guard var sender = ValidClient(channel, change: change, at: place, token) else { return }
        deliver(sender.seal(Array(rest.dropFirst(3))), by: step, to: channel)
      }
      if receiver.isReady && change != 0 && place < ValidClient.byteCount {
        FuzzTarget.finding("a handshake with an altered byte was accepted")
      }
    case .client, .unsealedClient:
      let receiver = Receiver()
      withHub(receiver) { channel in
        guard var sender = ValidClient(channel, change: 0, at: 0, token), receiver.isReady else {
          FuzzTarget.finding("a valid handshake was refused")
        }
        deliver(mode == .client ? sender.seal(rest) : rest, by: step, to: channel)
      }
      for frame in receiver.frames {
        if mode == .unsealedClient { FuzzTarget.finding("an unsealed record was accepted") }
        message(frame)
      }
    case .hub:
      guard let news = try? HubNews(rest) else { return }
      guard let again = try? HubNews(news.bytes) else { FuzzTarget.finding("encoded hub news can't be decoded") }
      if again.bytes != news.bytes { FuzzTarget.finding("hub news change when encoded again") }
    }
  }

  /// Checks a message of a client.
  private static func message(_ frame: [UInt8]) {
    guard let message = try? HubMessage(frame) else { return }
    if case .request(_, let request, _) = message {
      // A higher role must include the permissions of the lower ones.
      let allowed = HomeRole.allCases.sorted().map { request.isAllowed(to: $0) }
      if allowed != allowed.sorted(by: { !$0 && $1 }) { FuzzTarget.finding("a lower role has more permissions") }
    }
    guard let again = try? HubMessage(message.bytes) else {
      FuzzTarget.finding("an encoded message can't be decoded")
    }
    if "\(again)" != "\(message)" && again.bytes.count != message.bytes.count {
      FuzzTarget.finding("a message changes when encoded again")
    }
  }

  // MARK: The two ends

  /// Records the frames that the hub accepted.
  private final class Receiver {
    var isReady = false
    var frames: [[UInt8]] = []
  }

  /// Runs the body with the hub's end of a connection.
  private static func withHub(_ receiver: Receiver, _ body: (EmbeddedChannel) -> Void) {
    let channel = EmbeddedChannel()
    let loop = channel.embeddedEventLoop
    let known = InvitedClient(name: "fuzz", role: .guest, created: 0, tokenHash: token)
    let handler = SecureHandler(random: SeededRandomSource(seed: 2)) { id in
      loop.makeSucceededFuture(id == SecureHandshake.id(of: token) ? known : nil)
    } isReady: { _ in
      receiver.isReady = true
    }
    do {
      try channel.pipeline.syncOperations.addHandlers([
        handler, ByteToMessageHandler(FrameDecoder(FrameLimit(Frame.longestMessage))), Collector(receiver),
      ])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    } catch { FuzzTarget.finding("a connection could not be created: \(error)") }
    body(channel)
    _ = try? channel.finish()
  }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = [UInt8]
    private let receiver: Receiver

    init(_ receiver: Receiver) { self.receiver = receiver }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { receiver.frames.append(unwrapInboundIn(data)) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private static func deliver(_ bytes: [UInt8], by step: Int, to channel: EmbeddedChannel) {
    for start in stride(from: 0, to: bytes.count, by: step) where channel.isActive {
      _ = try? channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
    }
  }

  /// A client that follows the protocol except for one byte of its handshake.
  private struct ValidClient {
    /// The number of bytes it sends in the handshake, without the lengths.
    static let byteCount = 74 + 32
    private var stream: SecureStream

    /// Nil if the client was refused.
    init?(_ channel: EmbeddedChannel, change: UInt8, at place: Int, _ token: [UInt8]) {
      var random = SeededRandomSource(seed: 1)
      let client = SecureHandshake.Client(tokenHash: token, random: &random)
      var sent = 0
      func send(_ bytes: [UInt8]) {
        var bytes = bytes
        if bytes.indices.contains(place - sent) { bytes[place - sent] ^= change }
        sent += bytes.count
        _ = try? channel.writeInbound(Frame.buffer(bytes, channel.allocator))
      }
      send(client.hello)
      guard let answer = try? channel.readOutbound(as: ByteBuffer.self), answer.readableBytes > 4,
        let (proof, stream) = try? client.finish(Array(answer.readableBytesView.dropFirst(4)))
      else { return nil }
      send(proof)
      self.stream = stream
    }

    mutating func seal(_ text: [UInt8]) -> [UInt8] { (try? stream.seal(text)) ?? [] }
  }

  // MARK: Seeds

  @Sendable static func seeds() -> [[UInt8]] {
    var random = SeededRandomSource(seed: 3)
    let hello = SecureHandshake.Client(tokenHash: token, random: &random).hello
    let path = AttributePath(endpoint: 1, cluster: 8, attribute: 0)
    let requests: [HubRequest] = [
      .edit([
        .choosePrimaryStructure(id: "home"), .addRoom(name: "Den", structureID: nil), .moveDevice(id: "5", roomID: "r"),
      ]),
      .read(5, [path, AttributePath()], isFabricFiltered: true, timeout: .seconds(1)),
      .write(5, [AttributeWrite(path, value: [0x04, 9])], isTimed: false),
      .writeDevice(
        "5", by: SourceID(7, 3), [AttributeWrite(path, .append, dataVersion: 1, value: [0x04, 9])], isTimed: true,
        timeout: nil),
      .invoke(5, CommandData(CommandPath(endpoint: 1, cluster: 6, command: 1), fields: [0x15, 0x18]), isTimed: false),
      .samples(after: Anchor("h1-2"), SampleFilter(.attribute, devices: ["5"]), limit: 10), .status, .lookAgain,
      .anchor,
    ]
    let messages =
      [HubMessage.hello(HubHello(name: "fuzz", token: nil, position: HubPosition(hub: 1, count: 2)))]
      + requests.enumerated().map { .request(UInt64($0), $1, origin: "me") }
    let frames = messages.map { Array(Frame.buffer($0.bytes, ByteBufferAllocator()).readableBytesView) }
    let change = HomeChange.attribute(5, ConcreteAttributePath(1, 8, 0), value: [0x04, 9])
    let news: [HubNews] =
      [
        .welcome(.guest, client: "c", isResumed: true), .refused(HomeError(.accessDenied, "no")), .part([change]),
        .update(HomeUpdate([change], at: 1), [5: Contact(last: 1)], HubPosition(hub: 1, count: 1)),
        .settling(
          DebouncerState(
            grace: .seconds(5), trials: ["5": .init(settled: .init(.online, .peer), remaining: .seconds(1))])),
      ] + (Anchor("h1-2").map { [.reply(1, .success(.anchor($0)))] } ?? [])
    func input(_ mode: Mode, _ step: UInt8, _ bytes: [UInt8]) -> [UInt8] { [mode.rawValue, step] + bytes }
    return [
      input(.unknownPeer, 255, Array(Frame.buffer(hello, ByteBufferAllocator()).readableBytesView)),
      input(.unknownPeer, 0, [0, 0, 0, 5, 1, 2, 3, 4, 5]), input(.alteredHandshake, 255, [0, 20, 1] + frames[0]),
      input(.alteredHandshake, 30, [0, 80, 128] + frames[0]),
      input(.unsealedClient, 9, [0, 0, 0, 17] + Array(repeating: 7, count: 17)),
      input(.client, 40, frames.flatMap { $0 }),
    ] + frames.map { input(.client, 255, $0) } + news.map { input(.hub, 0, $0.bytes) }
  }
}
