import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

@testable import Home
@testable import Hub

/// What `hearth subscribe` tells, through a hub.
@Suite("Subscribing through a hub", .timeLimit(.minutes(10))) struct SubscriptionTests {
  private static let all = AttributePath(endpoint: 1, cluster: 8)

  /// Each of the news, in short.
  private func short(_ news: SubscriptionNews) -> String {
    switch news {
    case .established(let interval): "established \(interval.components.seconds)"
    case .attribute(let path, let value): "\(path.cluster.rawValue)/\(path.attribute.rawValue) = \(value.last ?? 0)"
    case .event(let event): "event \(event.number)"
    case .status(let path, let status): "\(path.attribute?.rawValue ?? 0): \(status.code)"
    case .reportEnd: "."
    case .lost(let error, _): "lost: \(error.message)"
    }
  }

  private func record(_ home: Home) async throws -> DeviceRecord { try #require(await home.registry.devices.first) }

  private func event(_ number: UInt64) -> EventData {
    EventData(
      ConcreteEventPath(0, 0x28, 0), number: number, priority: .critical, timestamp: .epoch(1), payload: [0x15, 0x18])
  }

  @Test func itTellsTheFirstValuesThenEachChangeAndThatTheDeviceIsGone() async throws {
    let served = try await ServedHome()
    let client = try await served.client(token: try served.invite("Gast", .guest))
    let controller = try served.home.controller
    await controller.take(.heard(5, deadline: HostClock.unixMicroseconds() + 30_000_000))
    await controller.take(.report(NodeReport(5, [], events: [event(1)], isWhole: false)))
    #expect(await eventually { await client.state.lastEvents[5] == 1 })
    let record = try await record(client)
    var news = client.subscribe(
      record, SubscriptionRequest(paths: [Self.all, AttributePath(ServedHome.access)], events: [EventPath()])
    ).makeAsyncIterator()
    func next(_ count: Int) async throws -> [String] {
      var told: [String] = []
      for _ in 0..<count { told.append(short(try #require(try await news.next()))) }
      return told
    }
    // The list of who may do what is not for guests: the hub says so, if it can ask the device.
    let first = try await next(4)
    #expect(first.first == "8/0 = 1" && first[1] == "event 1" && first[2] == "." && first[3].hasPrefix("established "))
    try await served.report(level: 7)
    #expect(try await next(2) == ["8/0 = 7", "."])
    // Of nothing else is it told.
    let data = AttributeData(ConcreteAttributePath(1, 6, 0), dataVersion: 0, value: [0x09])
    await controller.take(.report(NodeReport(5, [data], events: [event(2)], isWhole: false)))
    #expect(try await next(2) == ["event 2", "."])
    await controller.take(.lost(5, .timedOut))
    #expect(try await next(1) == ["lost: offline: timed out"])
    await controller.take(.established(5, deadline: .max))
    #expect(try await next(1) == ["established 60"])
    await served.stopHub()
    #expect(try await next(1) == ["lost: offline: hub unreachable"])
    try await served.report(level: 8)
    try await served.startHub()
    #expect(try await next(3) == ["8/0 = 8", ".", "established 60"])
    try await controller.change { _ throws(HomeError) in ([.sourceRemoved(SourceID(5)), .deviceRemoved(id: "5")], ()) }
    #expect(await code { _ = try await next(1) } == .notFound)
    await client.close()
    await served.close()
  }

  @Test func whatComesTooSoonIsToldTogether() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    var news = client.subscribe(
      try await record(client), SubscriptionRequest(paths: [Self.all], minInterval: .seconds(1))
    ).makeAsyncIterator()
    var told: [String] = []
    while told.count < 3, let one = try await news.next() { told.append(short(one)) }
    let begin = NIODeadline.now()
    for level in 2...30 { try await served.report(level: UInt8(level)) }
    while told.last != "8/0 = 30", let one = try await news.next() { told.append(short(one)) }
    // Some of them may have come after a stop of the machine, never all by themselves.
    #expect(told.count < 3 + 2 * 29)
    #expect(NIODeadline.now() - begin >= .milliseconds(500))
    await client.close()
    await served.close()
  }

  @Test func aDeviceThatIsAwayIsSaidToBe() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    try await served.home.controller.take(.lost(5, .poweredOffAnnounced))
    #expect(await eventually { await client.backend.device("5")?.offlineReason == .poweredOffAnnounced })
    var request = SubscriptionRequest(paths: [Self.all])
    let record = try await record(client)
    #expect(
      await code { for try await _ in client.subscribe(record, request) { Issue.record("it is away") } } == .unreachable
    )
    request.retriesFirstAttempt = true
    var news = client.subscribe(record, request).makeAsyncIterator()
    #expect(try await news.next().map(short) == "lost: offline: powered off announced")
    try await served.home.controller.take(.established(5, deadline: .max))
    #expect(try await news.next().map(short) == "8/0 = 1")
    await client.close()
    // Nothing is left of it.
    await served.close()
  }
}
