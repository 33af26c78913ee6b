import Foundation
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing

@testable import Home
@testable import Hub

@Suite("Wire protocol", .timeLimit(.minutes(10))) struct WireTests {
  @Test(
    arguments: [
      // Too long, empty, of an unknown kind, truncated, with trailing bytes, and a request before the hello.
      [0x7F, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 99], [0, 0, 0, 2, 0, 1],
      [0, 0, 0, 8, 0, 1, 1, 0x61, 0, 0, 0xFF, 0xFF], [0, 0, 0, 4, 1, 1, 0, 6],
    ] as [[UInt8]])
  func invalidFrameClosesOnlyItsConnection(_ bytes: [UInt8]) async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let raw = try await RawClient(served.scratch.state.hubSocket)
    raw.send(bytes)
    #expect(await eventually { raw.isClosed })
    #expect(!raw.kinds.contains("welcome"))
    // Also after the hello.
    let second = try await RawClient(served.scratch.state.hubSocket)
    second.send(.hello(HubHello(name: "raw")))
    #expect(await eventually { second.kinds.contains("synchronized") })
    second.send(bytes == [0, 0, 0, 4, 1, 1, 0, 6] ? [0, 0, 0, 4, 1, 1, 0, 66] : bytes)
    #expect(await eventually { second.isClosed })
    try await served.report(level: 3)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 3] })
    await client.close()
    await served.close()
  }

  @Test func reportsVersionMismatch() async throws {
    let served = try await ServedHome()
    let raw = try await RawClient(served.scratch.state.hubSocket)
    raw.send(.hello(HubHello(version: 1, name: "raw")))
    #expect(await eventually { raw.isClosed })
    guard case .refused(let error)? = raw.news.first else {
      Issue.record("not refused: \(raw.kinds)")
      return
    }
    #expect(error.code == .badArguments && error.message.contains("version \(hubWireVersion)"))
    await served.close()
  }

  @Test func answersEveryPipelinedRequest() async throws {
    let served = try await ServedHome()
    let raw = try await RawClient(served.scratch.state.hubSocket)
    raw.send(.hello(HubHello(name: "raw")))
    #expect(await eventually { raw.kinds.contains("synchronized") })
    for id in 0..<500 { raw.send(.request(UInt64(id), .anchor, origin: nil)) }
    #expect(await eventually { raw.kinds.count { $0 == "reply" } == 500 })
    await served.close()
  }

  /// Injects large reports until a client falls behind its backlog, and beyond; finally the level is 77.
  /// - Returns: the values that were reported before the level.
  private func fill(_ served: ServedHome) async throws -> [[UInt8]] {
    var reported: [[UInt8]] = []
    var rest = 200
    while rest > 0, reported.count < 1500 {
      if try await served.hub.isAnybodyBehind { rest -= 1 }
      reported.append([UInt8](repeating: UInt8(reported.count % 100), count: 8000))
      let data = AttributeData(Self.text, dataVersion: 0, value: reported[reported.count - 1])
      try await served.home.controller.take(.report(NodeReport(5, [data], isWhole: false)))
    }
    #expect(rest == 0)
    try await served.report(level: 77)
    return reported
  }

  private static let text = ConcreteAttributePath(1, 0xFFF1_FC00, 0)

  /// A connected client that does not read.
  private func slowClient(of served: ServedHome) async throws -> RawClient {
    let slow = try await RawClient(served.scratch.state.hubSocket, reads: false)
    slow.send(.hello(HubHello(name: "slow")))
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
    for case .update(let update, _, let position) in slow.news {
      positions.append(position.count)
      for case .attribute(_, let path, let value?) in update.changes {
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
      .edit([
        .addStructure(name: "a"), .renameStructure(id: "b", name: "ü"), .removeStructure(id: "c"),
        .addRoom(name: "d", structureID: nil), .addRoom(name: "d", structureID: "s"), .renameRoom(id: "e", name: "f"),
        .removeRoom(id: "g"), .choosePrimaryStructure(id: "s"), .renameDevice(id: "5", name: "h"),
        .moveDevice(id: "5", roomID: nil),
        .moveDevice(id: "5", roomID: "r"),
      ]),
      .read(
        NodeID(.max), [AttributePath(), AttributePath(endpoint: 1, cluster: 6, attribute: 0)], isFabricFiltered: false,
        timeout: .milliseconds(1500)),
      .write(
        1,
        [
          AttributeWrite(AttributePath(endpoint: 1, cluster: 6, attribute: 1), .append, dataVersion: .max, value: [9]),
          AttributeWrite(AttributePath(cluster: 6), .item(0), value: []),
        ], isTimed: true),
      .invoke(1, CommandData(CommandPath(endpoint: nil, cluster: 6, command: 2), fields: nil), isTimed: false),
      .writeDevice("7/3", by: SourceID(7, 3), [], isTimed: false, timeout: .zero),
      .invokeDevice(
        "5", by: nil, CommandData(CommandPath(endpoint: 1, cluster: 6, command: 2)), isTimed: true, timeout: nil),
      .anchor, .status, .lookAgain,
      .samples(after: Anchor("h1f-12"), SampleFilter(.event, devices: ["5"], endpoints: [1]), limit: 3),
      .samples(after: nil, .all, limit: 0),
    ] as [HubRequest])
  func roundTripsRequests(_ request: HubRequest) throws {
    let bytes = HubMessage.request(.max, request, origin: "me").bytes
    guard case .request(.max, let read, "me") = try HubMessage(bytes) else {
      Issue.record("another message")
      return
    }
    #expect(read == request)
    for count in 0..<bytes.count { #expect(throws: DamagedBlob.self) { try HubMessage(Array(bytes.prefix(count))) } }
    #expect(throws: DamagedBlob.self) { try HubMessage(bytes + [0]) }
  }

  @Test func roundTripsNewsAndReplies() throws {
    let contact = Contact(last: -1, nextReport: nil)
    let home = StoredHome(state: ServedHome.state, contacts: [5: contact], anchor: try #require(Anchor("h1-9")))
    let sample = HomeSample(
      anchor: home.anchor, time: 7, change: .deviceRemoved(id: "5"), device: "5", name: "x", origin: nil, update: 8)
    let position = HubPosition(hub: .max, count: 3)
    let status = HubStatus(
      process: 7, isFollower: true, since: 1, devices: 2, devicesOnline: 1, addresses: ["a"],
      clients: [.init(name: "n", role: .guest, address: "local", since: 2)], drops: ["duplicate": 3, "oversized": 1])
    let answer = CommandData(CommandPath(endpoint: 1, cluster: 6, command: 2), fields: [0x15, 0x18])
    let refused = AttributeStatus(
      AttributePath(endpoint: 1), .append, status: Status(.unsupportedAccess, clusterCode: 4))
    let error = HomeError(.ambiguousTarget, "which?", device: "Lamp", candidates: ["a", "b"])
    let all: [HubNews] = [
      .welcome(.member, client: "c", isResumed: true), .refused(error), .reset, .part(ServedHome.lamp),
      .contacts([5: contact]),
      .settling(
        DebouncerState(
          grace: .seconds(30), trials: ["5": .init(settled: .init(.online, .peer), remaining: .milliseconds(1500))])),
      .settling(DebouncerState()), .synchronized(position),
      .update(HomeUpdate(ServedHome.lamp, at: -5, origin: "o"), [5: contact], position),
      .reply(1, .failure(error)), .reply(2, .success(.done)),
      .reply(
        3,
        .success(
          .edited([
            .init(structure: Structure(id: "s", name: "S")), .init(room: Room(id: "r", name: "R", structureID: "s")),
            .init(wasCut: true),
          ]))),
      .reply(4, .success(.report([AttributeData(ServedHome.level, dataVersion: 3, value: [1])], [refused]))),
      .reply(5, .success(.written([refused]))), .reply(6, .success(.invoked(nil))),
      .reply(7, .success(.invoked(answer))), .reply(8, .success(.anchor(home.anchor))),
      .reply(9, .success(.samples(.samples([sample], next: home.anchor, isComplete: false)))),
      .reply(10, .success(.samples(.reset(home)))), .reply(11, .success(.status(status))),
    ]
    for news in all {
      let again = try HubNews(news.bytes)
      #expect("\(again)" == "\(news)" || again.bytes == news.bytes)
      #expect(again.bytes == news.bytes)
      for count in 0..<news.bytes.count {
        #expect(throws: DamagedBlob.self) { try HubNews(Array(news.bytes.prefix(count))) }
      }
    }
    // An error is encoded without its cause.
    guard case .reply(_, .failure(let read)) = try HubNews(HubNews.reply(1, .failure(error)).bytes) else { return }
    #expect(read.code == error.code && read.message == error.message && read.device == "Lamp")
    #expect(read.candidates == error.candidates)
  }

  @Test func decodesRandomBytesWithoutCrash() {
    var random = SeededRandomSource(seed: 11)
    let seeds = [HubMessage.request(1, .edit([.addRoom(name: "d", structureID: "s")]), origin: nil).bytes]
    for _ in 0..<20_000 {
      var bytes = Bool.random(using: &random) ? seeds[0] : random.bytes(Int.random(in: 0...40, using: &random))
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

extension Hub {
  var isAnybodyBehind: Bool { connections.values.contains { $0.isBehind } }
  /// Bytes that are queued for the slowest client.
  var backlog: Int {
    connections.values.map { (try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }.map { max(0, -$0) }
      .max() ?? 0
  }
}
