import Home
import Hub
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOEmbedded

/// What a hub hears from somebody on the network: the handshake, records, frames and what they say.
extension FuzzTarget {
  static let hub = FuzzTarget(name: "hub", seeds: HubTape.seeds, run: HubTape.run)
}

/// The first byte of an input says who speaks, the second how much of it comes at a time; the rest is what is said.
private enum HubTape {
  enum Mode: UInt8, CaseIterable {
    /// To the hub, by nobody that it knows: the handshake itself.
    case stranger
    /// To the hub, with a handshake in which a byte may be another: its place and what is added are the first three bytes.
    case caller
    /// To the hub, by a client with a token: records as they should be, and anything in them.
    case client
    /// To the hub, by a client with a token: anything behind the handshake.
    case garbler
    /// To a client, by its hub.
    case hub
  }

  private static let token = InvitedClient.hash("fuzz")

  static func run(_ input: [UInt8]) {
    guard input.count >= 2, let mode = Mode(rawValue: input[0] % UInt8(Mode.allCases.count)) else { return }
    let (rest, step) = (Array(input.dropFirst(2)), Int(input[1]) + 1)
    switch mode {
    case .stranger:
      let ear = Ear()
      hearing(ear) { give(rest, by: step, to: $0) }
      if ear.isReady || !ear.frames.isEmpty { FuzzTarget.finding("a stranger was let in") }
    case .caller:
      let place = rest.count < 2 ? 0 : Int(rest[0]) << 8 | Int(rest[1])
      let change: UInt8 = rest.count < 3 ? 0 : rest[2]
      let ear = Ear()
      hearing(ear) { channel in
        guard var caller = Caller(channel, change: change, at: place, token) else { return }
        give(caller.seal(Array(rest.dropFirst(3))), by: step, to: channel)
      }
      if ear.isReady && change != 0 && place < Caller.byteCount {
        FuzzTarget.finding("a handshake in which a byte was altered was taken")
      }
    case .client, .garbler:
      let ear = Ear()
      hearing(ear) { channel in
        guard var caller = Caller(channel, change: 0, at: 0, token), ear.isReady else {
          FuzzTarget.finding("an honest handshake was refused")
        }
        give(mode == .client ? caller.seal(rest) : rest, by: step, to: channel)
      }
      for frame in ear.frames {
        if mode == .garbler { FuzzTarget.finding("what nobody sealed was taken") }
        message(frame)
      }
    case .hub:
      guard let news = try? HubNews(rest) else { return }
      guard let again = try? HubNews(news.bytes) else { FuzzTarget.finding("news that were written can't be read") }
      if again.bytes != news.bytes { FuzzTarget.finding("news change when they are written again") }
    }
  }

  /// What a client said.
  private static func message(_ frame: [UInt8]) {
    guard let message = try? HubMessage(frame) else { return }
    if case .request(_, let request, _) = message {
      // Who may do more may do what others may.
      let allowed = HomeRole.allCases.sorted().map { request.isAllowed(to: $0) }
      if allowed != allowed.sorted(by: { !$0 && $1 }) { FuzzTarget.finding("a guest may do more than its owner") }
    }
    guard let again = try? HubMessage(message.bytes) else {
      FuzzTarget.finding("a message that was written can't be read")
    }
    if "\(again)" != "\(message)" && again.bytes.count != message.bytes.count {
      FuzzTarget.finding("a message changes when it is written again")
    }
  }

  // MARK: The two ends

  /// What came through.
  private final class Ear {
    var isReady = false
    var frames: [[UInt8]] = []
  }

  /// A hub's end of a connection.
  private static func hearing(_ ear: Ear, _ body: (EmbeddedChannel) -> Void) {
    let channel = EmbeddedChannel()
    let loop = channel.embeddedEventLoop
    let known = InvitedClient(name: "fuzz", role: .guest, created: 0, tokenHash: token)
    let handler = SecureHandler(random: SeededRandomSource(seed: 2)) { id in
      loop.makeSucceededFuture(id == SecureHandshake.id(of: token) ? known : nil)
    } isReady: { _ in
      ear.isReady = true
    }
    do {
      try channel.pipeline.syncOperations.addHandlers([
        handler, ByteToMessageHandler(FrameDecoder(FrameLimit(Frame.longestMessage))), Collector(ear),
      ])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    } catch { FuzzTarget.finding("a connection could not be made: \(error)") }
    body(channel)
    _ = try? channel.finish()
  }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = [UInt8]
    private let ear: Ear

    init(_ ear: Ear) { self.ear = ear }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { ear.frames.append(unwrapInboundIn(data)) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  private static func give(_ bytes: [UInt8], by step: Int, to channel: EmbeddedChannel) {
    for start in stride(from: 0, to: bytes.count, by: step) where channel.isActive {
      _ = try? channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
    }
  }

  /// A client that keeps to the rules, but for one byte.
  private struct Caller {
    /// Of all that it says in the handshake, without the lengths.
    static let byteCount = 74 + 32
    private var stream: SecureStream

    /// Nil: it was not let in.
    init?(_ channel: EmbeddedChannel, change: UInt8, at place: Int, _ token: [UInt8]) {
      var random = SeededRandomSource(seed: 1)
      let client = SecureHandshake.Client(tokenHash: token, random: &random)
      var said = 0
      func say(_ bytes: [UInt8]) {
        var bytes = bytes
        if bytes.indices.contains(place - said) { bytes[place - said] ^= change }
        said += bytes.count
        _ = try? channel.writeInbound(Frame.buffer(bytes, channel.allocator))
      }
      say(client.hello)
      guard let answer = try? channel.readOutbound(as: ByteBuffer.self), answer.readableBytes > 4,
        let (proof, stream) = try? client.finish(Array(answer.readableBytesView.dropFirst(4)))
      else { return nil }
      say(proof)
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
      .edit([.choosePrimaryStructure("home"), .addRoom(name: "Den", structureID: nil), .moveDevice("5", roomID: "r")]),
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
      input(.stranger, 255, Array(Frame.buffer(hello, ByteBufferAllocator()).readableBytesView)),
      input(.stranger, 0, [0, 0, 0, 5, 1, 2, 3, 4, 5]), input(.caller, 255, [0, 20, 1] + frames[0]),
      input(.caller, 30, [0, 80, 128] + frames[0]), input(.garbler, 9, [0, 0, 0, 17] + Array(repeating: 7, count: 17)),
      input(.client, 40, frames.flatMap { $0 }),
    ] + frames.map { input(.client, 255, $0) } + news.map { input(.hub, 0, $0.bytes) }
  }
}
