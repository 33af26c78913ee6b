import HearthHome
import HomeControl
import HomeModel
import Hub
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

/// The output of `hearth subscribe` through a hub.
@Suite("Subscriptions through a hub", .timeLimit(.minutes(10))) struct SubscriptionTests {
  private static let all = AttributePath(endpoint: 1, cluster: 8)

  /// A short text for each of the news.
  private func short(_ news: SubscriptionEvent) -> String {
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

  @Test func reportsInitialValuesChangesAndLoss() async throws {
    let served = try await ServedHome()
    let client = try await served.client(token: try await served.invite("Gast", .guest))
    let controller = try served.home.controller
    await controller.process(.heard(5, deadline: HostClock.unixMicroseconds() + 30_000_000))
    await controller.process(.report(NodeReport(5, [], events: [event(1)], isWhole: false)))
    #expect(await eventually { await client.state.lastEvents[5] == 1 })
    let record = try await record(client)
    var news = client.backend.subscribe(
      record.nodeID, SubscriptionRequest(paths: [Self.all, AttributePath(ServedHome.access)], events: [EventPath()])
    ).makeAsyncIterator()
    func next(_ count: Int) async throws -> [String] {
      var texts: [String] = []
      for _ in 0..<count { texts.append(short(try #require(try await news.next()))) }
      return texts
    }
    // The access control list is not visible to guests; the hub reports an error status if it can ask the device.
    let first = try await next(4)
    #expect(first.first == "8/0 = 1" && first[1] == "event 1" && first[2] == "." && first[3].hasPrefix("established "))
    try await served.report(level: 7)
    #expect(try await next(2) == ["8/0 = 7", "."])
    // Other attributes are not reported.
    let data = AttributeData(ConcreteAttributePath(1, 6, 0), dataVersion: 0, value: [0x09])
    await controller.process(.report(NodeReport(5, [data], events: [event(2)], isWhole: false)))
    #expect(try await next(2) == ["event 2", "."])
    await controller.process(.lost(5, .timedOut))
    #expect(try await next(1) == ["lost: offline: timed out"])
    await controller.process(.established(5, deadline: .max))
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

  @Test func combinesReportsWithinMinimumInterval() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let record = try await record(client)
    let begin = NIODeadline.now()
    var news = client.backend.subscribe(record.nodeID, SubscriptionRequest(paths: [Self.all], minInterval: .seconds(1)))
      .makeAsyncIterator()
    var received: [String] = []
    while received.count < 3, let one = try await news.next() { received.append(short(one)) }
    // In one turn of the event loop, so that the reports can't arrive separately on a busy machine.
    try await served.hub.process((2...30).map { served.input(level: $0) })
    while received.last != "8/0 = 30", let one = try await news.next() { received.append(short(one)) }
    #expect(received.count < 3 + 2 * 29)
    #expect(NIODeadline.now() - begin >= .seconds(1))
    await client.close()
    await served.close()
  }

  @Test func reportsOfflineDevice() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    try await served.home.controller.process(.lost(5, .poweredOffAnnounced))
    #expect(await eventually { await client.backend.device("5")?.offlineReason == .poweredOffAnnounced })
    var request = SubscriptionRequest(paths: [Self.all])
    let record = try await record(client)
    #expect(
      await code {
        for try await _ in client.backend.subscribe(record.nodeID, request) {
          Issue.record("a value of an offline device")
        }
      } == .unreachable
    )
    request.retriesFirstAttempt = true
    var news = client.backend.subscribe(record.nodeID, request).makeAsyncIterator()
    #expect(try await news.next().map(short) == "lost: offline: powered off announced")
    try await served.home.controller.process(.established(5, deadline: .max))
    #expect(try await news.next().map(short) == "8/0 = 1")
    await client.close()
    // The subscription holds no resources.
    await served.close()
  }
}
