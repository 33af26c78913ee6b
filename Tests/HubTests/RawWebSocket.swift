import Hub
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import WebClient

/// A WebSocket client that sends arbitrary bytes, and answers pings.
final class RawWebSocket: Sendable {
  struct Received {
    var bytes: [UInt8] = []
    /// The head of the HTTP response.
    var head: String?
    /// The complete text messages.
    var messages: [JSONValue] = []
    /// Those of the additions.
    var news: [HubNews] = []
    var pings = 0
    var answersPings = true
    /// The code of the close frame.
    var closeCode: UInt16?
    var isClosed = false
  }

  let channel: any Channel
  private let received: Mutex<Received>

  /// Connects over TCP and sends an upgrade request.
  /// - Parameters:
  ///   - url: the address of the server.
  ///   - path: the path; nil: that of the URL.
  convenience init(_ url: String, path: String? = nil, headers: [String] = [], isUpgrade: Bool = true) async throws {
    let parts = url.dropFirst("ws://".count).split(separator: "/", maxSplits: 1)
    let port = Int(parts[0].split(separator: ":").last ?? "") ?? 0
    try await self.init { try await $0.connect(host: "127.0.0.1", port: port).get() }
    request(path ?? "/\(parts[1])", ["Host: 127.0.0.1:\(port)"] + headers, isUpgrade: isUpgrade)
  }

  /// Connects to a Unix socket.
  /// - Parameters:
  ///   - isUpgrade: whether an upgrade request is sent, and its response awaited.
  ///   - reads: whether anything is read after the response.
  convenience init(socket: String, token: String? = nil, isUpgrade: Bool = true, reads: Bool = true) async throws {
    try await self.init { bootstrap in
      try await SocketPath.withShort(socket) { try await bootstrap.connect(unixDomainSocketPath: $0).get() }
    }
    guard isUpgrade else { return }
    upgrade(token: token)
    _ = await eventually { now.head != nil || now.isClosed }
    if !reads { try await channel.setOption(.autoRead, value: false).get() }
  }

  init(_ connect: @Sendable (ClientBootstrap) async throws -> any Channel) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: [UInt8]?.self)
    received = Mutex(Received())
    channel = try await connect(
      ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(RawBytesHandler { continuation.yield($0) })
          }
        })
    Task { [weak self] in
      for await bytes in stream { self?.receive(bytes) }
    }
  }

  /// Sends an upgrade request.
  func upgrade(token: String? = nil) {
    request("/ws", ["Host: localhost"] + (token.map { ["Authorization: Bearer \($0)"] } ?? []), isUpgrade: true)
  }

  private func request(_ path: String, _ headers: [String], isUpgrade: Bool) {
    var lines = ["GET \(path) HTTP/1.1"] + headers
    if isUpgrade {
      lines += [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ]
    }
    send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
  }

  var now: Received { received.withLock { $0 } }
  var messages: [JSONValue] { now.messages }
  var news: [HubNews] { now.news }
  var isClosed: Bool { now.isClosed }
  /// The status of the HTTP response.
  var status: String? { now.head?.split(separator: " ").dropFirst().first.map { String($0) } }

  /// The kinds of the received news, without contacts, which may arrive at any time.
  var kinds: [String] {
    news.map { Mirror(reflecting: $0).children.first?.label ?? "\($0)" }
      .filter { $0 != "contacts" && $0 != "other" }
  }

  func read() { channel.setOption(.autoRead, value: true).whenComplete { _ in } }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Answers no pings from now on.
  func ignorePings() { received.withLock { $0.answersPings = false } }

  /// Sends one frame.
  func send(opcode: UInt8, isFinal: Bool = true, _ payload: [UInt8]) {
    send(Self.frame(opcode: opcode, isFinal: isFinal, payload))
  }

  /// Returns a frame, masked with zeros.
  static func frame(opcode: UInt8, isFinal: Bool = true, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
    switch payload.count {
    case ..<126: frame.append(0x80 | UInt8(payload.count))
    case ..<65536: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return frame + [0, 0, 0, 0] + payload
  }

  func send(_ message: HubMessage) {
    if let text = try? message.text { send(opcode: 1, Array(text.readableBytesView)) }
  }

  func send(_ text: String) { send(opcode: 1, Array(text.utf8)) }

  /// Sends a command with its name as message id.
  func command(_ name: String, _ arguments: String = "null") {
    send(#"{"message_id":"\#(name)","command":"\#(name)","args":\#(arguments)}"#)
  }

  /// Waits for the result of a command.
  func result(_ name: String, _ arguments: String = "null") async -> JSONValue? {
    let count = messages.count { $0["message_id"] == .string(name) }
    command(name, arguments)
    _ = await eventually { messages.count { $0["message_id"] == .string(name) } > count }
    return messages.last { $0["message_id"] == .string(name) }
  }

  /// Waits for the first event with this name.
  func event(_ name: String) async -> JSONValue? {
    _ = await eventually { messages.contains { $0["event"] == .string(name) } }
    return messages.first { $0["event"] == .string(name) }?["data"]
  }

  private func receive(_ bytes: [UInt8]?) {
    let pings: [[UInt8]] = received.withLock { received in
      var pings: [[UInt8]] = []
      guard let bytes else {
        received.isClosed = true
        return pings
      }
      received.bytes += bytes
      if received.head == nil {
        let end = received.bytes.firstRange(of: Array("\r\n\r\n".utf8))
        guard let end else { return pings }
        received.head = String(decoding: received.bytes[..<end.lowerBound], as: UTF8.self)
        received.bytes.removeSubrange(..<end.upperBound)
      }
      guard received.head?.contains(" 101 ") == true else { return pings }
      while let (opcode, payload, count) = Self.frame(received.bytes) {
        received.bytes.removeFirst(count)
        if opcode == 1, let message = try? JSONParser.parse(payload) { received.messages.append(message) }
        if opcode == 1, let news = try? HubNews(payload) { received.news.append(news) }
        if opcode == 8, payload.count >= 2 { received.closeCode = UInt16(payload[0]) << 8 | UInt16(payload[1]) }
        if opcode == 9 { pings.append(payload) }
      }
      received.pings += pings.count
      return received.answersPings ? pings : []
    }
    for ping in pings { send(opcode: 10, ping) }
  }

  private static func frame(_ bytes: [UInt8]) -> (opcode: UInt8, payload: [UInt8], count: Int)? {
    guard bytes.count >= 2 else { return nil }
    let extra = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0
    guard bytes.count >= 2 + extra else { return nil }
    let length = extra == 0 ? Int(bytes[1]) : bytes[2..<(2 + extra)].reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 2 + extra + length else { return nil }
    return (bytes[0] & 0xF, Array(bytes[(2 + extra)..<(2 + extra + length)]), 2 + extra + length)
  }
}

private final class RawBytesHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let receive: @Sendable ([UInt8]?) -> Void

  init(_ receive: @escaping @Sendable ([UInt8]?) -> Void) { self.receive = receive }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    receive(Array(unwrapInboundIn(data).readableBytesView))
  }
  func channelInactive(context: ChannelHandlerContext) { receive(nil) }
}
