import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Testing
import WebClient

@testable import Hub

/// Attacks on a hub by clients with an invitation and without one.
@Suite("Hostile clients", .timeLimit(.minutes(10))) struct HostileTests {
  // MARK: Without an invitation

  @Test func silentConnectionsDoNotBlockClients() async throws {
    let served = try await ServedHome()
    var silent: [RawWebSocket] = []
    for _ in 0..<HubServer.Limits.handshakes + 20 {
      silent.append(try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false))
    }
    let all = silent
    // The newest connections remain open, for the time that a handshake may take.
    all.last?.upgrade()
    #expect(await eventually { all.last?.status == "101" })
    let client = try await served.client()
    #expect(try await client.devices().list().count == 1)
    #expect(await eventually { try await served.hub.handshakeCount <= HubServer.Limits.handshakes })
    #expect(await eventually { all.filter(\.isClosed).count >= 20 })
    await client.close()
    await served.close()
  }

  @Test func limitsConnectionsPerAddress() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let port = try #require(try await served.hub.status.addresses.last?.split(separator: ":").last.flatMap { Int($0) })
    var silent: [RawWebSocket] = []
    for _ in 0..<HubServer.Limits.handshakesOfAddress + 10 {
      silent.append(try await RawWebSocket { try await $0.connect(host: "127.0.0.1", port: port).get() })
    }
    let all = silent
    #expect(await eventually { all.filter(\.isClosed).count >= 10 })
    #expect(try await served.hub.handshakeCount <= HubServer.Limits.handshakesOfAddress)
    let far = HubRoute.remote(.host("127.0.0.1", port: port))
    let client = try await served.client(token: try await served.invite("Ada", .guest), through: [far])
    #expect(try await client.devices().list().count == 1)
    await client.close()
    await served.close()
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], Array("GET / HTTP/9.9\r\n\r\n".utf8),
      Array("GET /ws HTTP/1.1\r\nX: \(String(repeating: "x", count: 1 << 17))\r\n\r\n".utf8),
    ] as [[UInt8]])
  func rejectsConnectionWithoutUpgrade(_ bytes: [UInt8]) async throws {
    let served = try await ServedHome { $0.handshakeTime = .milliseconds(500) }
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false)
    raw.send(bytes)
    #expect(await eventually { raw.isClosed })
    #expect(try await served.hub.status.clients.isEmpty)
    await served.close()
  }

  @Test func limitsSizeOfMessages() async throws {
    let served = try await ServedHome()
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    // An excessive length closes the connection before the message is received.
    raw.send([0x81, 0xFF, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0])
    #expect(await eventually { raw.isClosed })
    let client = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    client.send(.start(HubStart(name: "raw")))
    let paths = Array(repeating: AttributePath(ServedHome.level), count: 5000)
    client.send(.request(id: "1", .read(node: 5, paths: paths, isFabricFiltered: true, timeout: nil), origin: nil))
    #expect(await eventually { client.kinds.contains("reply") })
    await served.close()
  }

  @Test func answersHealthChecksWithoutTheHome() async throws {
    let served = try await ServedHome { $0.loopback = .init(host: "127.0.0.1", port: 0) }
    let unknown = try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false)
    unknown.send(Array("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(await eventually { unknown.isClosed })
    #expect(try JSONParser.parse(unknown.now.bytes) == ["status": "ok"])
    let url = try #require(try await served.webSocketURL)
    let local = try await RawWebSocket(url, path: "/health", isUpgrade: false)
    #expect(await eventually { local.isClosed })
    #expect(try JSONParser.parse(local.now.bytes) == ["version": "0", "node_count": 1])
    await served.close()
  }

  @Test(
    "answers HEAD without a body",
    arguments: [("/health", false, "200"), ("/other", false, "404"), ("/ws", false, "426"), ("/ws", true, "405")])
  func answersHeadWithoutBody(path: String, isUpgrade: Bool, status: String) async throws {
    let served = try await ServedHome()
    let client = try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false)
    var lines = ["HEAD \(path) HTTP/1.1", "Host: localhost"]
    if isUpgrade {
      lines += [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ]
    }
    client.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    #expect(await eventually { client.isClosed })
    #expect(client.status == status && client.now.bytes.isEmpty)
    // The length is that of the body for GET.
    #expect(client.now.head?.lowercased().contains("content-length: 0") == false)
    await served.close()
  }

  // MARK: With an invitation

  /// All requests are in one segment, and none of the results is read.
  @Test(arguments: ["start_listening", "get_nodes", "diagnostics"])
  func closesConnectionThatRequestsMoreThanItReads(command: String) async throws {
    let served = try await ServedHome { $0.timeout = .seconds(3600) }
    let owner = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    let dump = #"{\"data\":{\"node\":{\"attributes\":{\"0/40/1\":\"\#(String(repeating: "x", count: 1 << 20))\"}}}}"#
    for _ in 0..<2 { _ = await owner.result("import_test_node", #"{"dump":"\#(dump)"}"#) }
    let token = try await served.invite("Gast", .guest)
    let guest = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    #expect(await eventually { guest.messages.count == 1 })
    try await guest.channel.setOption(.autoRead, value: false).get()
    let request = RawWebSocket.frame(opcode: 1, Array(#"{"command":"\#(command)"}"#.utf8))
    guest.send(Array(repeatElement(request, count: 24).joined()))
    #expect(await eventually { try await served.hub.connectionCount == 1 })
    #expect(await owner.result("get_fabric_label")?["result"] != nil)
    await served.close()
  }

  @Test func delaysClientThatExceedsItsRate() async throws {
    let served = try await ServedHome()
    let socket = served.scratch.state.hubSocket
    let count = Int(TokenBucket.Limit.invited.burst + 2 * TokenBucket.Limit.invited.rate)
    let request = RawWebSocket.frame(opcode: 1, Array(#"{"message_id":"x","command":"get_loglevel"}"#.utf8))
    func flood(_ client: RawWebSocket) async -> Bool {
      client.send(Array(repeatElement(request, count: count).joined()))
      return await eventually { client.messages.count { $0["message_id"] == "x" } == count }
    }
    let owner = try await RawWebSocket(socket: socket)
    #expect(await flood(owner))
    #expect(try await !served.hub.hasDelayedClients)
    let member = try await RawWebSocket(socket: socket, token: try await served.invite("Kind", .member))
    let start = ContinuousClock.now
    // All requests are answered, some with an error because too many are running.
    #expect(await flood(member))
    #expect(await member.result("get_fabric_label")?["result"] != nil)
    #expect(start.duration(to: .now) > .milliseconds(1900))
    #expect(await owner.result("get_fabric_label")?["result"] != nil)
    #expect(await eventually { try await !served.hub.hasDelayedClients })
    await served.close()
  }

  @Test func delaysExpensiveRequestsSooner() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Gast", .guest)
    let guest = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    let count = Int(TokenBucket.Limit.invited.burst / (HubServer.expense + 1)) + 20
    let request = RawWebSocket.frame(opcode: 1, Array(#"{"message_id":"x","command":"get_nodes"}"#.utf8))
    let start = ContinuousClock.now
    guest.send(Array(repeatElement(request, count: count).joined()))
    #expect(await eventually { guest.messages.count { $0["message_id"] == "x" } == count })
    #expect(await guest.result("get_fabric_label")?["result"] != nil)
    #expect(start.duration(to: .now) > .milliseconds(1900))
    await served.close()
  }

  @Test func limitsRateByTokens() {
    let limit = TokenBucket.Limit.invited
    var tokens = TokenBucket(limit)
    let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    for _ in 0..<limit.burst { tokens.consume(1, at: start) }
    #expect(tokens.delay(at: start) == nil)
    tokens.consume(2 * limit.rate, at: start)
    #expect(tokens.delay(at: start) == .seconds(2))
    #expect(tokens.delay(at: start + .seconds(2)) == nil)
    tokens.consume(limit.rate, at: start + .seconds(2))
    #expect(tokens.delay(at: start + .seconds(2)) == .seconds(1))
    // The whole burst is available again after a rest.
    let later = start + .seconds(60)
    tokens.consume(limit.burst, at: later)
    #expect(tokens.delay(at: later) == nil)
    tokens.consume(1 << 20, at: later)
    #expect(tokens.delay(at: later) == TokenBucket.longestDelay)
  }

  @Test("a local client has a larger bucket, which suffices for 20,000 requests a second")
  func delaysLocalClientsLater() async throws {
    let served = try await ServedHome()
    let client = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    #expect(await eventually { client.messages.count == 1 })
    let (hub, limit) = (try served.hub, TokenBucket.Limit.local)
    #expect(limit.rate >= 20_000)
    await hub.charge(20_000)
    #expect(await !hub.hasDelayedClients)
    await hub.charge(2 * limit.burst)
    #expect(await hub.hasDelayedClients)
    await served.close()
  }

  @Test func closesConnectionThatAnswersNoPing() async throws {
    let served = try await ServedHome { ($0.heartbeat, $0.timeout) = (.milliseconds(20), .seconds(1)) }
    let silent = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    silent.ignorePings()
    #expect(await eventually { silent.isClosed })
    #expect(silent.now.pings > 0 && silent.now.closeCode == 1008)
    await served.close()
  }

  @Test func keepsConnectionThatAnswersPings() async throws {
    let served = try await ServedHome { ($0.heartbeat, $0.timeout) = (.milliseconds(20), .seconds(3600)) }
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    #expect(await eventually { raw.now.pings >= 5 })
    #expect(await eventually { try await served.hub.unansweredPings < 5 })
    await served.close()
  }

  @Test func closesConnectionThatDoesNotRead() async throws {
    let served = try await ServedHome {
      $0.backlog = 1 << 14
      $0.heartbeat = .milliseconds(50)
      $0.timeout = .seconds(5)
    }
    let slow = try await RawWebSocket(socket: served.scratch.state.hubSocket, reads: false)
    slow.send(.start(HubStart(name: "slow")))
    let other = try await served.client()
    let path = ConcreteAttributePath(1, 0xFFF1_FC00, 0)
    for count in 0..<2000 where try await !served.hub.isAnybodyBehind {
      let text = [UInt8](repeating: UInt8(count % 100), count: 8000)
      let data = AttributeData(path, dataVersion: 0, value: text)
      try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
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
    let token = try await served.invite("Gast", .member)
    let slow = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token, reads: false)
    slow.send(.start(HubStart(name: "slow")))
    #expect(await eventually { try await served.hub.status.clients.count == 1 })
    // LabelList of UserLabel, which members may read.
    let path = ConcreteAttributePath(1, 0x41, 0)
    for count in 0..<2000 where try await !served.hub.isAnybodyBehind {
      let text = [UInt8](repeating: UInt8(count % 100), count: 8000)
      let data = AttributeData(path, dataVersion: 0, value: text)
      try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    }
    let owner = try await served.client()
    try await owner.revoke("Gast")
    #expect(await eventually { try await served.hub.connectionCount == 1 })
    await owner.close()
    await served.close()
  }

  /// The invitation is revoked between the upgrade and the start.
  @Test func closesRevokedConnectionBeforeStart() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Ada", .member)
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    #expect(await eventually { try await served.hub.status.clients.map(\.name) == ["Ada"] })
    let owner = try await served.client()
    try await owner.revoke("Ada")
    #expect(await eventually { raw.isClosed })
    #expect(raw.now.closeCode == 1008 && raw.kinds.isEmpty)
    await owner.close()
    await served.close()
  }

  /// The invitation is revoked between the connection and the upgrade.
  @Test func rejectsClientRevokedBeforeUpgrade() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Ada", .member)
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false)
    try await served.home.revoke("Ada")
    raw.upgrade(token: token)
    #expect(await eventually { raw.isClosed })
    #expect(raw.status == "401")
    await served.close()
  }

  @Test func limitsConnections() async throws {
    let served = try await ServedHome { $0.clients = 3 }
    let socket = served.scratch.state.hubSocket
    let listening = try await RawWebSocket(socket: socket)
    #expect(await listening.result("start_listening")?["result"]?.array?.count == 1)
    let following = try await RawWebSocket(socket: socket)
    following.send(.start(HubStart(name: "raw")))
    #expect(await eventually { following.kinds.contains("synchronized") })
    let last = try await RawWebSocket(socket: socket)
    #expect(last.status == "101")
    for _ in 0..<5 {
      let refused = try await RawWebSocket(socket: socket)
      #expect(await eventually { refused.isClosed })
      #expect(refused.status == "503")
      let body = try JSONParser.parse(refused.now.bytes)
      #expect(body["message"] == "the hub has too many clients; try again later", "\(body)")
    }
    #expect(await code { _ = try await served.client() } == .refused)
    // The others still receive everything, and nothing else.
    let (messages, kinds) = (listening.messages.count, following.kinds.count)
    try await served.report(level: 7)
    #expect(await listening.event("attribute_updated") != nil)
    #expect(await eventually { following.kinds.last == "update" })
    #expect(listening.messages.count == messages + 1 && following.kinds.count == kinds + 1)
    #expect(try await served.hub.connectionCount == 3)
    // A client that leaves makes room for another one.
    try await last.channel.close().get()
    #expect(await eventually { try await RawWebSocket(socket: socket).status == "101" })
    await served.close()
  }

  @Test func limitsConnectionsPerInvitation() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Gast", .guest)
    var all: [RawWebSocket] = []
    for _ in 0..<HubServer.Limits.clientsOfInvitation + 3 {
      all.append(try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token))
    }
    #expect(all.filter { $0.status == "101" }.count == HubServer.Limits.clientsOfInvitation)
    #expect(all.filter { $0.status == "503" }.count == 3)
    // The owner can still connect.
    let owner = try await served.client()
    #expect(try await owner.hubStatus.clients.count == HubServer.Limits.clientsOfInvitation + 1)
    await owner.close()
    await served.close()
  }

  @Test func limitsSizeOfRequests() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Gast", .guest)
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    raw.send(.start(HubStart(name: "raw")))
    #expect(await eventually { raw.kinds.contains("synchronized") })
    let paths = Array(repeating: AttributePath(ServedHome.level), count: HubServer.Limits.items + 1)
    let devices = Set((0...HubServer.Limits.items).map { "\($0)" })
    raw.send(.request(id: "1", .read(node: 5, paths: paths, isFabricFiltered: true, timeout: nil), origin: nil))
    raw.send(
      .request(id: "2", .samples(after: nil, filter: SampleFilter(.all, devices: devices), limit: 1), origin: nil))
    raw.send(.request(id: "3", .anchor, origin: String(repeating: "x", count: HubServer.Limits.originSize + 1)))
    raw.send(.request(id: "4", .anchor, origin: nil))
    // A timeout that overflows.
    raw.send(
      .request(
        id: "5",
        .read(node: 5, paths: [AttributePath()], isFabricFiltered: true, timeout: .seconds(Int64.max / 1_000_000)),
        origin: nil))
    #expect(await eventually { raw.kinds.count { $0 == "reply" } == 5 })
    var codes: [String: HomeError.Code?] = [:]
    for case .reply(let id, let result) in raw.news {
      if case .failure(let error) = result { codes[id] = error.code } else { codes[id] = .some(nil) }
    }
    #expect(codes["1"] == .badArguments && codes["2"] == .badArguments && codes["3"] == .badArguments)
    #expect(codes["4"] == .some(nil) && codes["5"] == .notFound)
    await served.close()
  }

  @Test func pagesLogForConcurrentReaders() async throws {
    let served = try await ServedHome()
    let client = try await served.client(token: try await served.invite("Ada", .owner))
    let start = try await client.anchor()
    let path = ConcreteAttributePath(1, 0xFFF1_FC00, 0)
    // More than a page of 4 MB.
    for count in 0..<16 {
      let data = AttributeData(path, dataVersion: 0, value: [UInt8](repeating: UInt8(count), count: 300_000))
      try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    }
    // Each reader gets all samples.
    let counts = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<3 {
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
    #expect(counts.allSatisfy { $0.reduce(0, +) == 16 && $0.count >= 2 })
    await client.close()
    await served.close()
  }

  @Test func hidesPathsInErrorsFromGuests() async throws {
    let served = try await ServedHome()
    let (guest, owner) = (
      try await served.client(token: try await served.invite("Gast", .guest)), try await served.client()
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

  @Test func keepsSocketOfAnotherServer() async throws {
    let (served, scratch) = (try await ServedHome(), Scratch())
    await served.stopHub()
    try Files.makeDirectory(scratch.state.root)
    let path = scratch.state.root + "/other.sock"
    let other = try await SilentHub(path, greeting: [])
    #expect(await code { try await served.startHub { $0.addresses = [.socket(path)] } } == .badArguments)
    #expect(try await RawWebSocket(socket: path).status == "101")
    // Its file remains, without a server.
    await other.close()
    try await served.startHub { $0.addresses = [.socket(path)] }
    #expect(try await RawWebSocket(socket: path).status == "101")
    await served.close()
  }
}

extension HubServer {
  var unansweredPings: Int { connections.values.reduce(0) { $0 + $1.unansweredPings } }
  var handshakeCount: Int { handshakes.count }
  var hasDelayedClients: Bool { connections.values.contains { $0.isDelayed } }
  var connectionCount: Int { connections.count }
  fileprivate func charge(_ cost: Int64) {
    for (number, connection) in connections { charge(cost, to: connection, number) }
  }
}
