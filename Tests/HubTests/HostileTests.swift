import Foundation
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOEmbedded
import NIOPosix
import Runtime
import Testing

@testable import Home
@testable import HomeModel
@testable import HomeStore
@testable import Hub

/// Attacks on a hub by clients with an invitation and without one.
@Suite("Hostile clients", .timeLimit(.minutes(10))) struct HostileTests {
  // MARK: Without an invitation

  @Test func silentConnectionsDoNotBlockClients() async throws {
    let served = try await ServedHome()
    var silent: [RawClient] = []
    for _ in 0..<Hub.mostStrangers + 20 { silent.append(try await RawClient(served.scratch.state.hubSocket)) }
    let client = try await served.client()
    #expect(try await client.devices().list().count == 1)
    #expect(await eventually { try await served.hub.strangers <= Hub.mostStrangers })
    let all = silent
    #expect(await eventually { all.filter(\.isClosed).count >= 20 })
    // The newest connections remain open.
    all.last?.send(.hello(HubHello(name: "late")))
    #expect(await eventually { all.last?.kinds.contains("synchronized") == true })
    await client.close()
    await served.close()
  }

  @Test func limitsConnectionsPerAddress() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let port = try #require(try await served.hub.status.addresses.last?.split(separator: ":").last.flatMap { Int($0) })
    var silent: [RawClient] = []
    for _ in 0..<Hub.mostNeighbours + 10 {
      silent.append(try await RawClient { try await $0.connect(host: "127.0.0.1", port: port).get() })
    }
    let all = silent
    #expect(await eventually { all.filter(\.isClosed).count >= 10 })
    #expect(try await served.hub.strangers <= Hub.mostNeighbours)
    let far = HubRoute.remote(.host("127.0.0.1", port: port))
    let client = try await served.client(token: try served.invite("Ada", .guest), through: [far])
    #expect(try await client.devices().list().count == 1)
    await client.close()
    await served.close()
  }

  @Test func limitsFirstFrame() async throws {
    let served = try await ServedHome()
    let raw = try await RawClient(served.scratch.state.hubSocket)
    // An excessive length closes the connection.
    raw.send([0, 0, 0x10, 1])
    #expect(await eventually { raw.isClosed })
    let client = try await RawClient(served.scratch.state.hubSocket)
    client.send(.hello(HubHello(name: "raw")))
    #expect(await eventually { client.kinds.contains("synchronized") })
    let paths = Array(repeating: AttributePath(ServedHome.level), count: 5000)
    client.send(.request(1, .read(5, paths, isFabricFiltered: true, timeout: nil), origin: nil))
    #expect(await eventually { client.kinds.contains("reply") })
    await served.close()
  }

  @Test func limitsInputDuringLookup() throws {
    let channel = EmbeddedChannel()
    let promise = channel.eventLoop.makePromise(of: InvitedClient?.self)
    let handler = SecureHandler(random: SeededRandomSource(seed: 1)) { _ in
      promise.futureResult
    } isReady: { _ in
    }
    try channel.pipeline.syncOperations.addHandlers([handler, Closer()])
    try channel.connect(to: try NIOCore.SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    var random = SeededRandomSource(seed: 2)
    let hello = SecureHandshake.Client(tokenHash: [1], random: &random).hello
    try channel.writeInbound(Frame.buffer(hello, channel.allocator))
    #expect(channel.isActive)
    for _ in 0..<100 where channel.isActive { _ = try? channel.writeInbound(ByteBuffer(repeating: 7, count: 100)) }
    #expect(!channel.isActive)
    promise.succeed(nil)
    _ = try? channel.finish()
  }

  private final class Closer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  // MARK: With an invitation

  @Test func closesConnectionThatDoesNotRead() async throws {
    let served = try await ServedHome {
      $0.backlog = 1 << 14
      $0.heartbeat = .milliseconds(50)
      $0.timeout = .milliseconds(400)
    }
    let slow = try await RawClient(served.scratch.state.hubSocket, reads: false)
    slow.send(.hello(HubHello(name: "slow")))
    let other = try await served.client()
    #expect(await eventually { try await served.hub.status.clients.count == 2 })
    let path = ConcreteAttributePath(1, 0xFFF1_FC00, 0)
    for count in 0..<2000 where try await !served.hub.isAnybodyBehind {
      let text = [UInt8](repeating: UInt8(count % 100), count: 8000)
      let data = AttributeData(path, dataVersion: 0, value: text)
      try await served.home.controller.take(.report(NodeReport(5, [data], isWhole: false)))
    }
    // The other client reconnects if it was closed on a busy machine.
    #expect(
      await eventually {
        let (status, count) = (try await served.hub.status, try await served.hub.connectionCount)
        return status.clients.map(\.name) == ["test"] && count == 1
      })
    await other.close()
    await served.close()
  }

  @Test func closesRevokedConnectionThatDoesNotRead() async throws {
    let served = try await ServedHome { $0.backlog = 1 << 14 }
    let token = try served.invite("Gast", .member)
    let slow = try await RawClient(served.scratch.state.hubSocket, reads: false)
    slow.send(.hello(HubHello(name: "slow", token: token)))
    #expect(await eventually { try await served.hub.status.clients.count == 1 })
    let path = ConcreteAttributePath(1, 0xFFF1_FC00, 0)
    for count in 0..<2000 where try await !served.hub.isAnybodyBehind {
      let text = [UInt8](repeating: UInt8(count % 100), count: 8000)
      let data = AttributeData(path, dataVersion: 0, value: text)
      try await served.home.controller.take(.report(NodeReport(5, [data], isWhole: false)))
    }
    let owner = try await served.client()
    try StoredNames(served.scratch.state).withDatabase { database throws(HomeError) in _ = try database.revoke("Gast") }
    try await owner.tellHubOfClients()
    #expect(await eventually { try await served.hub.connectionCount == 1 })
    await owner.close()
    await served.close()
  }

  /// The invitation is revoked between the handshake and the hello.
  @Test(arguments: [false, true]) func refusesTheHelloOfARevokedClient(isNotified: Bool) async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let port = try #require(try await served.hub.status.addresses.last?.split(separator: ":").last.flatMap { Int($0) })
    let token = InvitedClient.hash(try served.invite("Ada", .member))
    let raw = try await RawClient(tokenHash: token) { try await $0.connect(host: "127.0.0.1", port: port).get() }
    #expect(await eventually { try await served.hub.proved == 1 })
    try StoredNames(served.scratch.state).withDatabase { database throws(HomeError) in _ = try database.revoke("Ada") }
    if isNotified {
      let owner = try await served.client()
      try await owner.tellHubOfClients()
      await owner.close()
    }
    raw.send(.hello(HubHello(name: "raw")))
    #expect(await eventually { raw.isClosed })
    #expect(raw.kinds == ["refused"])
    #expect(await eventually { try await served.hub.status.clients.isEmpty })
    await served.close()
  }

  @Test func limitsConnectionsPerInvitation() async throws {
    let served = try await ServedHome()
    let token = try served.invite("Gast", .guest)
    var all: [RawClient] = []
    for _ in 0..<Hub.mostWithOneToken + 3 {
      let raw = try await RawClient(served.scratch.state.hubSocket)
      raw.send(.hello(HubHello(name: "raw", token: token)))
      #expect(await eventually { !raw.kinds.isEmpty })
      all.append(raw)
    }
    #expect(all.filter { $0.kinds.first == "welcome" }.count == Hub.mostWithOneToken)
    #expect(all.filter { $0.kinds.first == "refused" }.count == 3)
    // The owner can still connect.
    let owner = try await served.client()
    #expect(try await owner.hubStatus.clients.count == Hub.mostWithOneToken + 1)
    await owner.close()
    await served.close()
  }

  @Test func limitsSizeOfRequests() async throws {
    let served = try await ServedHome()
    let raw = try await RawClient(served.scratch.state.hubSocket)
    raw.send(.hello(HubHello(name: "raw", token: try served.invite("Gast", .guest))))
    #expect(await eventually { raw.kinds.contains("synchronized") })
    let paths = Array(repeating: AttributePath(ServedHome.level), count: HubConnection.mostItems + 1)
    let devices = Set((0...HubConnection.mostItems).map { "\($0)" })
    raw.send(.request(1, .read(5, paths, isFabricFiltered: true, timeout: nil), origin: nil))
    raw.send(.request(2, .samples(after: nil, SampleFilter(.all, devices: devices), limit: 1), origin: nil))
    raw.send(.request(3, .anchor, origin: String(repeating: "x", count: HubConnection.longestOrigin + 1)))
    raw.send(.request(4, .anchor, origin: nil))
    // A timeout that overflows.
    raw.send(
      .request(5, .read(5, [AttributePath()], isFabricFiltered: true, timeout: .nanoseconds(Int64.max)), origin: nil))
    #expect(await eventually { raw.kinds.count { $0 == "reply" } == 5 })
    var codes: [UInt64: HomeError.Code?] = [:]
    for case .reply(let id, let result) in raw.news {
      if case .failure(let error) = result { codes[id] = error.code } else { codes[id] = .some(nil) }
    }
    #expect(codes[1] == .badArguments && codes[2] == .badArguments && codes[3] == .badArguments)
    #expect(codes[4] == .some(nil) && codes[5] == .notFound)
    await served.close()
  }

  @Test func pagesLogForConcurrentReaders() async throws {
    let served = try await ServedHome()
    let client = try await served.client(token: try served.invite("Gast", .member))
    let start = try await client.anchor()
    let path = ConcreteAttributePath(1, 0xFFF1_FC00, 0)
    for count in 0..<40 {
      let data = AttributeData(path, dataVersion: 0, value: [UInt8](repeating: UInt8(count), count: 300_000))
      try await served.home.controller.take(.report(NodeReport(5, [data], isWhole: false)))
    }
    // Each reader gets all samples.
    let counts = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var (anchor, pages) = (start, [Int]())
          while case .samples(let samples, let next, let isComplete) = try await client.samples(after: anchor) {
            pages.append(samples.count)
            anchor = next
            if isComplete { break }
          }
          return pages
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.allSatisfy { $0.reduce(0, +) == 40 && $0.count >= 3 })
    await client.close()
    await served.close()
  }

  @Test func hidesPathsInErrorsFromGuests() async throws {
    let served = try await ServedHome()
    let (guest, owner) = (
      try await served.client(token: try served.invite("Gast", .guest)), try await served.client()
    )
    let foreign = try #require(Anchor("h1-1"))
    func message(_ home: Home) async -> String {
      do {
        _ = try await home.samples(after: foreign)
        return ""
      } catch { return HomeError(error).message }
    }
    #expect(await message(owner).contains(served.scratch.state.root))
    let text = await message(guest)
    #expect(text.contains("of another home") && !text.contains(served.scratch.state.root))
    await guest.close()
    await owner.close()
    await served.close()
  }

  // MARK: Files

  @Test func keepsFilesThatAreNoSockets() async throws {
    let scratch = Scratch()
    try FileManager.default.createDirectory(atPath: scratch.state.root, withIntermediateDirectories: true)
    let notes = scratch.state.root + "/notes"
    try "dear diary".write(toFile: notes, atomically: true, encoding: .utf8)
    #expect(await code { _ = try await ServedHome(scratch) { $0.addresses = [.socket(notes)] } } == .badArguments)
    #expect(try String(contentsOfFile: notes, encoding: .utf8) == "dear diary")
    // The socket of a killed hub is replaced.
    let served = try await ServedHome()
    let socket = served.scratch.state.hubSocket
    #expect(link(socket, socket + ".left") == 0)
    await served.stopHub()
    #expect(rename(socket + ".left", socket) == 0)
    try await served.startHub()
    let client = try await served.client()
    await client.close()
    await served.close()
  }
}

extension Hub {
  /// Number of connections without a hello.
  var strangers: Int { connections.values.count { $0.isStranger } }
  var connectionCount: Int { connections.count }
  /// Number of connections that completed the handshake.
  var proved: Int { connections.values.count { $0.invited != nil } }
}
