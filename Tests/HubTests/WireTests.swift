import Foundation
import HearthHome
import HomeModel
import HomeStore
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing
import WebClient

@testable import HomeControl
@testable import Hub

@Suite("Wire protocol", .timeLimit(.minutes(10))) struct WireTests {
  @Test(
    arguments: [
      // A reserved opcode, a binary message, an unmasked frame that is too long, and a continuation of nothing.
      [0x83, 0x80, 0, 0, 0, 0], [0x82, 0x80, 0, 0, 0, 0], [0x81, 0x7F, 0, 0, 0, 0, 0x7F, 0, 0, 0],
      [0x80, 0x80, 0, 0, 0, 0],
    ] as [[UInt8]])
  func invalidFrameClosesOnlyItsConnection(_ bytes: [UInt8]) async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    raw.send(bytes)
    #expect(await eventually { raw.isClosed })
    #expect(!raw.kinds.contains("welcome"))
    // Also after the start.
    let second = try await started(served)
    second.send(bytes)
    #expect(await eventually { second.isClosed })
    try await served.report(level: 3)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 3] })
    await client.close()
    await served.close()
  }

  /// Returns a client that has received the home.
  private func started(_ served: ServedHome) async throws -> RawWebSocket {
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    raw.send(.start(HubStart(name: "raw")))
    #expect(await eventually { raw.kinds.contains("synchronized") })
    return raw
  }

  @Test(
    arguments: [
      ("unknown", "{}", 9, "unknown command hearth_unknown"), ("read", "{}", 8, "hearth_read: node: missing"),
      ("read", "3", 8, "hearth_read: args is not an object"), ("start", "null", 8, "hearth_start: version: missing"),
      ("cancel", "{}", 8, "hearth_cancel: id: missing"),
      ("openWindow", #"{"node":"2","duration":1,"isEnhanced":true}"#, 8, "hearth_openWindow: node: expected a number"),
      ("samples", #"{"filter":{"type":"no"},"limit":0}"#, 8, "hearth_samples: filter.type: invalid value"),
      ("samples", #"{"filter":{"type":"all"},"limit":-1}"#, 8, "a limit of -1 samples; expected 0 (all) or more"),
      ("createGroup", #"{"id":70000,"name":"Den"}"#, 8, "hearth_createGroup: id: invalid value"),
      ("edit", #"{"edits":[{"addRoom":{}}]}"#, 8, "hearth_edit: edits.0.addRoom.name: missing"),
      (
        "edit", #"{"edits":[{"paint":{}}]}"#, 8,
        "hearth_edit: edits.0: expected an object with one of the known members"
      ),
      ("edit", #"{"edits":3}"#, 8, "hearth_edit: edits: expected an array"),
    ])
  func malformedRequestGetsError(name: String, arguments: String, code: Int, details: String) async throws {
    let served = try await ServedHome()
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    let result = await raw.result("hearth_\(name)", arguments)
    #expect(
      result?["error_code"] == .int(code) && result?["details"] == .string(details), "\(String(describing: result))")
    // The connection remains.
    #expect(await raw.result("hearth_anchor")?["result"]?["anchor"] != nil)
    await served.close()
  }

  @Test func sendsAdditionsOnlyAfterStart() async throws {
    let served = try await ServedHome()
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    #expect(await raw.result("start_listening")?["result"]?.array?.count == 1)
    try await served.report(level: 3)
    #expect(await raw.event("attribute_updated") == [5, "1/8/0", 3])
    #expect(raw.kinds.isEmpty)
    raw.send(.start(HubStart(name: "raw")))
    #expect(await eventually { raw.kinds == ["welcome", "reset", "part", "debouncer", "synchronized"] })
    try await served.report(level: 4)
    #expect(await eventually { raw.kinds.last == "update" })
    await served.close()
  }

  @Test func reportsVersionMismatch() async throws {
    let served = try await ServedHome()
    let raw = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    raw.send(.start(HubStart(version: 1, name: "raw")))
    #expect(await eventually { raw.kinds == ["refused"] })
    guard case .refused(let error)? = raw.news.last else {
      Issue.record("not refused: \(raw.kinds)")
      return
    }
    #expect(error.code == .badArguments && error.message.contains("version \(hubVersion)"))
    await served.close()
  }

  @Test func answersEveryPipelinedRequest() async throws {
    let served = try await ServedHome()
    let raw = try await started(served)
    for id in 0..<500 { raw.send(.request(id: "\(id)", .anchor, origin: nil)) }
    #expect(await eventually { raw.kinds.count { $0 == "reply" } == 500 })
    await served.close()
  }

  /// Injects large reports until a client falls behind its backlog, and beyond; finally the level is 77.
  /// - Returns: the values that were reported before the level.
  private func fill(_ served: ServedHome) async throws -> [[UInt8]] {
    var reported: [[UInt8]] = []
    var rest = 60
    while rest > 0, reported.count < 1500 {
      if try await served.hub.isAnybodyBehind { rest -= 1 }
      reported.append([UInt8](repeating: UInt8(reported.count % 100), count: 8000))
      let data = AttributeData(Self.text, dataVersion: 0, value: reported[reported.count - 1])
      try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    }
    #expect(rest == 0)
    try await served.report(level: 77)
    return reported
  }

  private static let text = ConcreteAttributePath(1, 0xFFF1_FC00, 0)

  /// A connected client that does not read.
  private func slowClient(of served: ServedHome) async throws -> RawWebSocket {
    let slow = try await RawWebSocket(socket: served.scratch.state.hubSocket, reads: false)
    slow.send(.start(HubStart(name: "slow")))
    #expect(await eventually { try await served.hub.status.clients.contains { $0.name == "slow" } })
    return slow
  }

  @Test func slowClientGetsEveryUpdateWithoutDelayingOthers() async throws {
    let served = try await ServedHome { $0.backlog = 1 << 14 }
    let quick = try await served.client()
    let slow = try await slowClient(of: served)
    let reported = try await fill(served)
    #expect(await eventually { await quick.state.value(5, ServedHome.level) == [0x04, 77] })
    #expect(try await served.hub.backlog < 1 << 20)
    // The client reads again: the missed updates in parts, and then the new ones.
    slow.read()
    #expect(await eventually { slow.kinds.count { $0 == "synchronized" } == 2 })
    try await served.report(level: 78)
    #expect(await eventually { slow.kinds.last == "update" })
    #expect(slow.kinds.count { $0 == "reset" } == 1)
    var (values, levels, positions): ([[UInt8]], [UInt8], [UInt64]) = ([], [], [])
    for case .update(let update) in slow.news {
      positions.append(update.position.count)
      for case .attribute(_, let path, let value?) in update.update.changes {
        if path == Self.text { values.append(value) } else { levels.append(value[1]) }
      }
    }
    #expect(values == reported && levels == [77, 78])
    #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 + 1 == $1 })
    // Contacts were sent separately.
    let contacts = slow.news.compactMap { if case .contacts(let contacts) = $0 { contacts[5] } else { nil } }
    #expect(contacts.count >= 2)
    await quick.close()
    await served.close()
  }

  /// Contacts change while the client does not read, but no update is missed.
  @Test func slowClientGetsContacts() async throws {
    let served = try await ServedHome {
      ($0.backlog, $0.heartbeat, $0.timeout) = (1 << 14, .milliseconds(20), .seconds(3600))
    }
    let slow = try await slowClient(of: served)
    let quick = try await started(served)
    let data = AttributeData(Self.text, dataVersion: 0, value: [UInt8](repeating: 7, count: 1 << 20))
    try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    try await served.home.controller.process(.heard(5, deadline: 77))
    @Sendable func isKnown(to client: RawWebSocket) -> Bool {
      client.news.contains { if case .contacts(let contacts) = $0 { contacts[5]?.nextReport == 77 } else { false } }
    }
    #expect(await eventually { isKnown(to: quick) })
    slow.read()
    #expect(await eventually { isKnown(to: slow) })
    await served.close()
  }

  @Test func reloadsClientBehindJournal() async throws {
    let served = try await ServedHome { ($0.backlog, $0.journal) = (1 << 14, 1) }
    let slow = try await slowClient(of: served)
    _ = try await fill(served)
    try await served.report(level: 79)
    slow.read()
    #expect(await eventually { slow.kinds.count { $0 == "reset" } == 2 && slow.kinds.last == "synchronized" })
    try await served.report(level: 78)
    #expect(await eventually { slow.kinds.last == "update" })
    var level: UInt8?
    for case .part(let changes) in slow.news {
      for case .attribute(_, ServedHome.level, let value?) in changes { level = value[1] }
    }
    #expect(level == 79)
    await served.close()
  }

  // MARK: Encodings

  @Test(
    arguments: [
      .edit(edits: [
        .addStructure(name: "a"), .renameStructure(id: "b", name: "ü"), .removeStructure(id: "c"),
        .addRoom(name: "d", structureID: nil), .addRoom(name: "d", structureID: "s"), .renameRoom(id: "e", name: "f"),
        .removeRoom(id: "g"), .choosePrimaryStructure(id: "s"), .renameDevice(id: "5", name: "h"),
        .moveDevice(id: "5", roomID: nil),
        .moveDevice(id: "5", roomID: "r"),
      ]),
      .read(
        node: NodeID(.max), paths: [AttributePath(), AttributePath(endpoint: 1, cluster: 6, attribute: 0)],
        isFabricFiltered: false,
        timeout: .milliseconds(1500)),
      .write(
        node: 1,
        writes: [
          AttributeWrite(AttributePath(endpoint: 1, cluster: 6, attribute: 1), .append, dataVersion: .max, value: [9]),
          AttributeWrite(AttributePath(cluster: 6), .item(0), value: []),
        ], isTimed: true),
      .invoke(
        node: 1, command: CommandData(CommandPath(endpoint: nil, cluster: 6, command: 2), fields: nil), isTimed: false),
      .writeDevice(device: "7/3", source: SourceID(7, 3), writes: [], isTimed: false, timeout: .zero),
      .invokeDevice(
        device: "5", source: nil, command: CommandData(CommandPath(endpoint: 1, cluster: 6, command: 2)), isTimed: true,
        timeout: nil),
      .anchor, .status, .revoke(name: "Ada"),
      .samples(after: Anchor("h1f-12"), filter: SampleFilter(.event, devices: ["5"], endpoints: [1]), limit: 3),
      .samples(after: nil, filter: .all, limit: 0),
    ] as [HomeRequest])
  func roundTripsRequests(_ request: HomeRequest) throws {
    let text = try HubMessage.request(id: "7", request, origin: "me").text
    let bytes = Array(text.readableBytesView)
    guard case .request("7", let read, "me", RequestOptions()) = try HubMessage(bytes) else {
      Issue.record("another message")
      return
    }
    #expect(try HubMessage.request(id: "7", read, origin: "me").text == text)
    for count in 0..<bytes.count { #expect(throws: (any Error).self) { try HubMessage(Array(bytes.prefix(count))) } }
    #expect(throws: (any Error).self) { try HubMessage(bytes + [0]) }
  }

  @Test func requestHasNameAndArgumentsOfItsCase() throws {
    let request = HomeRequest.read(
      node: 5, paths: [AttributePath(endpoint: 1, cluster: 6)], isFabricFiltered: true, timeout: .seconds(2))
    let text = try HubMessage.request(id: "1", request, origin: nil).text
    let message = try JSONParser.parse(Array(text.readableBytesView))
    #expect(message["command"] == "hearth_read" && message["message_id"] == "1" && message["origin"] == nil)
    #expect(message["args"]?["timeout"] == 2000 && message["args"]?["isFabricFiltered"] == true)
    // Octets are base64, and a command without arguments may omit them.
    let write = HomeRequest.write(
      node: 5, writes: [AttributeWrite(AttributePath(ServedHome.level), value: [4, 9])], isTimed: false)
    #expect(String(buffer: try HubMessage.request(id: "1", write, origin: nil).text).contains("\"BAk=\""))
    let short = Array(#"{"message_id":"1","command":"hearth_anchor"}"#.utf8)
    guard case .request("1", .anchor, nil, _) = try HubMessage(short) else {
      Issue.record("another message")
      return
    }
  }

  @Test func requestHasOptionsOfClient() throws {
    let address = SocketAddress(.loopback6, port: 5540)
    let options = RequestOptions(timeout: .seconds(2), address: address, addresses: [5: address])
    let text = try HubMessage.request(id: "1", .anchor, origin: nil, options: options).text
    let message = try JSONParser.parse(Array(text.readableBytesView))
    #expect(message["options"]?["timeout"] == 2000 && message["options"]?["address"]?["ip"] == "::1")
    #expect(message["options"]?["addresses"]?["5"]?["port"] == 5540)
    guard case .request("1", .anchor, nil, options) = try HubMessage(message) else {
      Issue.record("another message")
      return
    }
    // Only owners may set addresses, to which the hub sends.
    #expect(options.limited(to: .member) == RequestOptions(timeout: .seconds(2)))
    #expect(options.limited(to: .owner) == options && options.limited(to: nil) == options)
    #expect(RequestOptions(timeout: .seconds(9999)).limited(to: .owner).timeout == .seconds(600))
  }

  @Test func roundTripsNewsAndReplies() throws {
    let contact = Contact(last: -1, nextReport: nil)
    let home = StoredHome(state: ServedHome.state, contacts: [5: contact], anchor: try #require(Anchor("h1-9")))
    let sample = HomeSample(
      anchor: home.anchor, time: 7, change: .deviceRemoved(id: "5"), device: "5", name: "x", origin: nil, update: 8)
    let position = HubPosition(hub: .max, count: 3)
    let status = HubStatus(
      process: 7, isFollowing: true, since: 1, devices: 2, devicesOnline: 1, addresses: ["a"],
      clients: [.init(name: "n", role: .guest, address: "local", since: 2)], drops: ["duplicate": 3, "oversized": 1])
    let answer = CommandData(CommandPath(endpoint: 1, cluster: 6, command: 2), fields: [0x15, 0x18])
    let refused = AttributeStatus(
      AttributePath(endpoint: 1), .append, status: Status(.unsupportedAccess, clusterCode: 4))
    let error = HomeError(.ambiguousTarget, "which?", device: "Lamp", candidates: ["a", "b"])
    let all: [HubNews] = [
      .welcome(HubWelcome(.member, home: "h", client: "c", isResumed: true)), .refused(error), .reset,
      .part(ServedHome.lamp),
      .contacts([5: contact]),
      .debouncer(
        DebouncerState(
          grace: .seconds(30), trials: ["5": DebounceTrial(settled: .init(.online, .peer), since: 5)], time: 7)),
      .debouncer(DebouncerState()), .synchronized(position),
      .update(HubUpdate(HomeUpdate(ServedHome.lamp, at: -5, origin: "o"), [5: contact], position)),
      .reply(id: "1", .failure(error)), .reply(id: "2", .success(.done)),
      .reply(
        id: "3",
        .success(
          .edited(results: [
            .init(structure: Structure(id: "s", name: "S")), .init(room: Room(id: "r", name: "R", structureID: "s")),
            .init(wasCut: true),
          ]))),
      .reply(
        id: "4",
        .success(
          .report(
            attributes: [AttributeData(ServedHome.level, dataVersion: 3, value: [1])], statuses: [refused]))),
      .reply(id: "5", .success(.written(statuses: [refused]))), .reply(id: "6", .success(.invoked(response: nil))),
      .reply(id: "7", .success(.invoked(response: answer))), .reply(id: "8", .success(.anchor(anchor: home.anchor))),
      .reply(id: "9", .success(.samples(result: .samples([sample], next: home.anchor, isComplete: false)))),
      .reply(id: "10", .success(.samples(result: .reset(home)))), .reply(id: "11", .success(.status(status: status))),
    ]
    for news in all {
      let text = try news.text
      let again = try HubNews(Array(text.readableBytesView))
      #expect(try again.text == text)
      if case .other = again { Issue.record("not recognized: \(news)") }
      for count in 0..<text.readableBytes {
        #expect(throws: (any Error).self) { try HubNews(Array(text.readableBytesView.prefix(count))) }
      }
    }
    // An error is encoded without its cause.
    let text = try HubNews.reply(id: "1", .failure(error)).text
    guard case .reply(_, .failure(let read)) = try HubNews(Array(text.readableBytesView)) else { return }
    #expect(read.code == error.code && read.message == error.message && read.device == "Lamp")
    #expect(read.candidates == error.candidates)
  }

  @Test func decodesRandomBytesWithoutCrash() throws {
    var random = SeededRandomSource(seed: 11)
    let request = HubMessage.request(id: "1", .edit(edits: [.addRoom(name: "d", structureID: "s")]), origin: nil)
    let seeds = [
      Array(try request.text.readableBytesView), Array(try HubNews.part(ServedHome.lamp).text.readableBytesView),
    ]
    for _ in 0..<20_000 {
      var bytes =
        Bool.random(using: &random)
        ? seeds[Int.random(in: 0...1, using: &random)] : random.bytes(Int.random(in: 0...40, using: &random))
      if !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? HubMessage(bytes)
      _ = try? HubNews(bytes)
    }
  }

  @Test func journalReturnsEntriesAfterPosition() {
    var journal = HubJournal(hub: 7, limit: 4)
    func entry(_ number: Int) -> HubJournal.Entry {
      .init(update: HomeUpdate([.deviceRemoved(id: "\(number)")], at: 0), contacts: [:])
    }
    #expect(journal.entries(after: HubPosition(hub: 7, count: 0))?.isEmpty == true)
    for number in 1...20 { journal.append(entry(number)) }
    #expect(journal.position == HubPosition(hub: 7, count: 20))
    let missed = journal.entries(after: HubPosition(hub: 7, count: 17))
    #expect(missed?.map { $0.0.update.changes } == [18, 19, 20].map { [.deviceRemoved(id: "\($0)")] })
    #expect(missed?.map(\.1.count) == [18, 19, 20])
    #expect(journal.entries(after: HubPosition(hub: 7, count: 16)) != nil)
    #expect(journal.entries(after: HubPosition(hub: 7, count: 10)) == nil)
    #expect(journal.entries(after: HubPosition(hub: 7, count: 21)) == nil)
    #expect(journal.entries(after: HubPosition(hub: 8, count: 20)) == nil)
    for _ in 0..<100 {
      journal.append(
        .init(update: HomeUpdate(Array(repeating: .deviceRemoved(id: "x"), count: 30), at: 0), contacts: [:]))
    }
    #expect(journal.entries(after: HubPosition(hub: 7, count: 117)) == nil)
    journal.restart(as: 9)
    #expect(journal.position == HubPosition(hub: 9, count: 0))
    #expect(journal.entries(after: HubPosition(hub: 7, count: 0)) == nil)
    // Few but large entries.
    var long = HubJournal(hub: 1, limit: 100, byteLimit: 10_000)
    for _ in 0..<50 {
      long.append(
        .init(
          update: HomeUpdate([.attribute(5, ServedHome.level, value: [UInt8](repeating: 0, count: 1000))], at: 0),
          contacts: [:]))
    }
    #expect(long.entries(after: HubPosition(hub: 1, count: 46)) != nil)
    #expect(long.entries(after: HubPosition(hub: 1, count: 36)) == nil)
  }
}

extension ServedHome {
  static var state: HomeState {
    var state = HomeState()
    for change in lamp { state.apply(change) }
    return state
  }
}

extension HubServer {
  var isAnybodyBehind: Bool { connections.values.contains { $0.isBehind } }
  /// Bytes that are queued for the slowest client.
  var backlog: Int {
    connections.values.map { (try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }.max() ?? 0
  }
}
