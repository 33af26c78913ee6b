import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Home
@testable import HomeModel
@testable import Hub

@Suite("Encrypted connections", .timeLimit(.minutes(10))) struct SecureTests {
  private static let token = InvitedClient.hash("a token")

  /// Both streams after a successful handshake.
  private func pair(_ seed: UInt64 = 1) throws -> (client: SecureStream, hub: SecureStream) {
    var random = SeededRandomSource(seed: seed)
    let client = SecureHandshake.Client(tokenHash: Self.token, random: &random)
    let hub = try SecureHandshake.Server(client.hello, tokenHash: Self.token, random: &random)
    let (proof, stream) = try client.finish(hub.answer)
    return (stream, try hub.finish(proof))
  }

  /// The bodies of records, without their length prefixes.
  private func bodies(_ records: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var rest = records[...]
    while rest.count >= 4 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      result.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return result
  }

  @Test func sealsAndOpensRecords() throws {
    var (client, hub) = try pair()
    let text = Array("kitchen light on, please".utf8)
    for _ in 0..<3 {
      let sealed = try client.seal(text)
      #expect(!sealed.indices.contains { sealed[$0...].starts(with: text.prefix(8)) })
      #expect(try bodies(sealed).map { try hub.open($0) } == [text])
      #expect(try bodies(try hub.seal(text)).map { try client.open($0) } == [text])
    }
    // Equal plaintexts have different ciphertexts.
    #expect(try client.seal(text) != client.seal(text))
    let long = [UInt8](repeating: 7, count: SecureStream.longest * 2 + 1)
    var (one, other) = try pair()
    let parts = bodies(try one.seal(long))
    #expect(parts.count == 3)
    #expect(try parts.flatMap { try other.open($0) } == long)
  }

  @Test func rejectsReplayedReorderedAndModifiedRecords() throws {
    var (client, hub) = try pair()
    let first = bodies(try client.seal([1]))[0], second = bodies(try client.seal([2]))[0]
    var (copy, moved, mirrored) = (hub, hub, client)
    #expect(try hub.open(first) == [1])
    #expect(throws: SecureError.self) { try hub.open(first) }
    #expect(throws: SecureError.self) { try moved.open(second) }
    // Reflected to the sender.
    #expect(throws: SecureError.self) { try mirrored.open(first) }
    var altered = first
    altered[0] ^= 1
    #expect(throws: SecureError.self) { try copy.open(altered) }
    // On another connection with the same token.
    var (_, later) = try pair(2)
    #expect(throws: SecureError.self) { try later.open(first) }
  }

  @Test func rejectsWrongToken() throws {
    var random = SeededRandomSource(seed: 3)
    let client = SecureHandshake.Client(tokenHash: Self.token, random: &random)
    let impostor = try SecureHandshake.Server(client.hello, tokenHash: InvitedClient.hash("guess"), random: &random)
    #expect(throws: SecureError.self) { try client.finish(impostor.answer) }
    let stranger = SecureHandshake.Client(tokenHash: InvitedClient.hash("guess"), random: &random)
    let hub = try SecureHandshake.Server(stranger.hello, tokenHash: Self.token, random: &random)
    #expect(throws: SecureError.self) { try stranger.finish(hub.answer) }
    for proof in [[], [UInt8](repeating: 0, count: 32)] { #expect(throws: SecureError.self) { try hub.finish(proof) } }
    #expect(SecureHandshake.id(of: Self.token) != Array(Self.token.prefix(8)))
  }

  @Test func authenticatesEntireHandshake() throws {
    var random = SeededRandomSource(seed: 4)
    let client = SecureHandshake.Client(tokenHash: Self.token, random: &random)
    let hub = try SecureHandshake.Server(client.hello, tokenHash: Self.token, random: &random)
    for index in hub.answer.indices {
      var answer = hub.answer
      answer[index] ^= 0x10
      #expect(throws: SecureError.self) { try client.finish(answer) }
    }
    for index in client.hello.indices {
      var hello = client.hello
      hello[index] ^= 0x10
      // The hello is rejected, or the hub derives different keys.
      guard let other = try? SecureHandshake.Server(hello, tokenHash: Self.token, random: &random) else { continue }
      #expect(throws: SecureError.self) { try client.finish(other.answer) }
    }
    for count in 0..<client.hello.count {
      #expect(throws: SecureError.self) {
        try SecureHandshake.Server(Array(client.hello.prefix(count)), tokenHash: Self.token, random: &random)
      }
    }
  }

  // MARK: TCP

  private func port(_ served: ServedHome) async throws -> Int {
    let address = try #require(try await served.hub.status.addresses.last)
    return try #require(address.split(separator: ":").last.flatMap { Int($0) })
  }

  @Test func connectsOverTCP() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let far = HubRoute.remote(.host("127.0.0.1", port: try await port(served)))
    let token = try served.invite("Ada", .member)
    #expect(await code { _ = try await served.client(through: [far]) } == .accessDenied)
    let unknown = "0123456789abcdef0123456789abcdef"
    #expect(await code { _ = try await served.client(token: unknown, through: [far]) } == .accessDenied)
    let client = try await served.client(token: token, through: [far])
    #expect(try await client.devices().list().map(\.sourceConnectivity) == [.init(.online, .remote)])
    #expect(try await served.hub.status.clients.map(\.name) == ["Ada"])
    #expect(try await served.hub.status.clients.map(\.address) == ["127.0.0.1"])
    #expect(await code { _ = try await client.addRoom("Den") } == .accessDenied)
    try await served.report(level: 9)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    // More than one record, in both directions.
    let text = [UInt8](repeating: 3, count: 100_000)
    let data = AttributeData(.init(1, 0xFFF1_FC00, 0), dataVersion: 0, value: text)
    try await served.home.controller.take(.report(NodeReport(5, [data], isWhole: false)))
    #expect(await eventually { await client.state.value(5, .init(1, 0xFFF1_FC00, 0)) == text })
    let record = try #require(await client.registry.devices.first)
    let write = AttributeWrite(AttributePath(endpoint: 1, cluster: 8, attribute: 0x11), value: [0x04, 9])
    let writes = [AttributeWrite](repeating: write, count: 8000)
    #expect(await code { try await client.write(record, writes, isTimed: false) } == .notFound)
    // Resumption after a disconnection.
    let updates = await listening(to: client)
    try await served.hub.hangUp(andThen: (20...22).map { served.input(level: $0) })
    var levels: [UInt8] = []
    for await update in updates {
      for case .attribute(_, ServedHome.level, let value?) in update.changes { levels.append(value[1]) }
      if levels.last == 22 { break }
    }
    #expect(levels == [20, 21, 22])
    await client.close()
    await served.close()
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 1, 7], Array("GET / HTTP/1.1\r\n\r\n".utf8),
      // A hello without encryption, as on a Unix domain socket.
      Frame.buffer(HubMessage.hello(HubHello(name: "x")).bytes, .init()).readableBytesView.map { $0 },
    ] as [[UInt8]])
  func rejectsConnectionWithoutHandshake(_ bytes: [UInt8]) async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: try await port(served)).get()
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    try await channel.closeFuture.get()
    #expect(try await served.hub.status.clients.isEmpty)
    await served.close()
  }
}
