import Foundation
import HearthHome
import HomeAutomation
import HomeModel
import HomeStore
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing

/// Observer queries and background deliveries, in real time.
@Suite("Observers", .timeLimit(.minutes(10))) struct ObserverTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private static let quick = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .milliseconds(30))

  private func until(_ expectation: String, _ body: () async throws -> Bool) async throws {
    if try await !eventually(body) { throw HomeError(.timedOut, expectation) }
  }

  private func light(_ isOn: Bool, time: Int64 = 1) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [isOn ? 0x09 : 0x08])], at: time)
  }

  /// The JSON that a target receives.
  private struct Notice: Decodable, Equatable {
    var observer: Int64
    var type: SampleType
    var after: Anchor
    var until: Anchor
    var attempt: Int
  }

  private func center(
    _ database: HomeDatabase, _ limits: DeliverySchedule.Limits = quick
  ) throws -> ObserverCenter {
    ObserverCenter(database, on: loop, QueueWorker(), limits: limits)
  }

  @Test func queryNotifiesOfMatchingChanges() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let center = try center(database)
    try await center.start()
    let calls = Mutex(["lamp": 0, "event": 0, "all": 0])
    func query(_ name: String, _ type: SampleType, _ filter: SampleFilter = SampleFilter()) -> ObserverQuery {
      ObserverQuery(type, filter) { _, complete, _ in
        calls.withLock { $0[name, default: 0] += 1 }
        complete()
      }
    }
    let lamp = query("lamp", .attribute, SampleFilter(devices: ["5"], clusters: [6]))
    let (event, all) = (query("event", .event), query("all", .all))
    for query in [lamp, event, all] { await center.execute(query) }
    try await until("first notification") { calls.withLock { $0 } == ["lamp": 1, "event": 1, "all": 1] }
    try await center.commit(light(true), to: database)
    try await until("notification of a change") { calls.withLock { $0 } == ["lamp": 2, "event": 1, "all": 2] }
    // The query of all changes is the last one that the center notifies, and shows that it did.
    try await center.commit(
      HomeUpdate([.roomAdded(Room(id: "r", name: "R", structureID: "home"))], at: 3), to: database)
    try await until("notification of a room") { calls.withLock { $0["all"] } == 3 }
    try await until("the end of calls in progress") { await center.isIdle(lamp) == true }
    await center.stop(lamp)
    #expect(await center.isIdle(lamp) == nil)
    try await center.commit(light(true), to: database)
    try await until("notification after the query was stopped") { calls.withLock { $0["all"] } == 4 }
    try await until("the end of calls in progress") { await center.isIdle(event) == true }
    #expect(calls.withLock { $0 } == ["lamp": 2, "event": 1, "all": 4])
    await center.stop()
  }

  /// A query with any filter is notified, because it has a reset to read.
  @Test func restartedLogNotifiesAllQueries() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    // Notifications come only from this process.
    let center = ObserverCenter(
      database, on: loop, QueueWorker(), machine: ChangedMachine(sharesFiles: false))
    try await center.start()
    let rings = Mutex(0)
    await center.execute(
      ObserverQuery(.event) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    try await until("first notification") { rings.withLock { $0 } == 1 }
    let home = HomeReducer(try database.load().state)
    try database.restart(with: home, at: 1)
    await center.note(.wholeHome)
    try await until("notification of the reset") { rings.withLock { $0 } == 2 }
    await center.stop()
  }

  @Test func doesNotDeliverWithoutMatchingChange() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let file = scratch.directory + "/attempts"
    let id = try database.add(
      BackgroundDelivery(
        SampleFilter(.attribute), .every(.seconds(3600)), to: .command(["sh", "-c", "echo x >> \(file)"]),
        after: try database.anchor())
    ).id
    try database.commit([HomeUpdate([.structureRenamed(id: "home", name: "Nest")], at: 1)])
    let center = try center(database)
    try await center.start(inBackground: true)
    // A check without a matching change does not start the period.
    try await until("the end of the check") { await center.schedule(ofDelivery: id)?.isRunning == false }
    try await center.commit(light(true), to: database)
    try await until("delivery") { try database.backgroundDeliveries()[0].anchor == (try database.anchor()) }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "x\n")
    await center.stop()
  }

  @Test func commandGetsRangeAndAnchorAdvances() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let start = try database.anchor()
    let file = scratch.directory + "/attempts"
    let added = try database.add(
      BackgroundDelivery(
        SampleFilter(.attribute), .immediate,
        to: .command(["sh", "-c", "cat >> \(file); echo $HEARTH_AFTER $HEARTH_UNTIL $HEARTH_STATE >> \(file).env"]),
        after: start))
    try database.commit([light(true)])
    let center = try center(database)
    try await center.start(inBackground: true)
    try await until("delivery") { try database.backgroundDeliveries().first?.anchor == (try database.anchor()) }
    let line = try #require(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").first)
    let notice = try JSONDecoder().decode(Notice.self, from: Data(line.utf8))
    #expect(
      notice
        == Notice(
          observer: added.id, type: .attribute, after: start, until: try database.anchor(), attempt: 1))
    #expect(
      try String(contentsOfFile: file + ".env", encoding: .utf8)
        == "\(notice.after) \(notice.until) \(StateDirectory.root(ofDatabase: scratch.path))\n")
    #expect(try database.backgroundDeliveries().first?.delivered != nil)
    await center.stop()
  }

  @Test func suspendsAfterThreeFailuresAndResumesWithoutLoss() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let start = try database.anchor()
    let (file, gate) = (scratch.directory + "/attempts", scratch.directory + "/open")
    let id = try database.add(
      BackgroundDelivery(
        .all, .immediate, to: .command(["sh", "-c", "echo $HEARTH_ATTEMPT $HEARTH_AFTER >> \(file); test -e \(gate)"]),
        after: start)
    ).id
    var center = try center(database)
    try await center.start(inBackground: true)
    try await center.commit(light(true), to: database)
    try await until("suspension") { try database.backgroundDeliveries()[0].isSuspended }
    try await center.commit(light(false), to: database)
    let stuck = try database.backgroundDeliveries()[0]
    #expect(stuck.anchor == start && stuck.strikes == 3 && stuck.failure?.contains("ended with 1") == true)
    // The delivery stays suspended after a restart.
    await center.stop()
    center = try self.center(database)
    try await center.start(inBackground: true)
    let schedule = try #require(await center.schedule(ofDelivery: id))
    #expect(schedule.isSuspended && schedule.isPending && !schedule.isRunning)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == (1...3).map { "\($0) \(start)\n" }.joined())
    // Another process resumes it; a second resume has no effect.
    _ = FileManager.default.createFile(atPath: gate, contents: nil)
    let process = try scratch.open()
    #expect(try process.resumeBackgroundDelivery(id))
    await center.reloadDeliveries()
    #expect(try !process.resumeBackgroundDelivery(id))
    try await until("delivery") { try database.backgroundDeliveries()[0].anchor == (try database.anchor()) }
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix("3 \(start)\n1 \(start)\n"))
    let now = try database.backgroundDeliveries()[0]
    #expect(!now.isSuspended && now.strikes == 0 && now.failure == nil)
    try process.removeBackgroundDelivery(id)
    await center.reloadDeliveries()
    #expect(failure { () throws(HomeError) in try process.resumeBackgroundDelivery(id) }?.code == .notFound)
    #expect(try database.backgroundDeliveries().isEmpty)
    await center.stop()
  }

  /// A database with a delivery whose command counts its runs.
  private func delivery(
    _ frequency: BackgroundDelivery.Frequency, _ script: String
  ) throws -> (scratch: TestDatabase, database: HomeDatabase, attempts: () -> Int) {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let file = scratch.directory + "/attempts"
    try database.add(
      BackgroundDelivery(
        .all, frequency, to: .command(["sh", "-c", "echo x >> \(file); \(script)"]), after: try database.anchor()))
    return (
      scratch, database, { (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").count ?? 0 }
    )
  }

  @Test func periodContinuesAfterRestart() async throws {
    // Longer than any delay on a busy machine.
    let period = Duration.seconds(7200)
    let (scratch, database, attempts) = try delivery(.every(period), "true")
    var center = try center(database)
    let start = HostClock.unixMicroseconds()
    try await center.start(inBackground: true)
    try await center.commit(light(true), to: database)
    try await until("delivery") { try database.backgroundDeliveries()[0].delivered != nil }
    let delivery = try database.backgroundDeliveries()[0]
    let earliest = try #require(delivery.earliest)
    #expect(earliest >= start + 7_200_000_000 && earliest <= HostClock.unixMicroseconds() + 7_200_000_000)
    await center.stop()
    // Half of the period elapses between the two runs.
    let begin = HostClock.unixMicroseconds()
    try database.record(begun: nil, earliest: begin + 3_600_000_000, of: delivery.id)
    try database.commit([light(false)])
    // Reopen the database, as another process would.
    let again = try scratch.open()
    center = try self.center(again)
    try await center.start(inBackground: true)
    let pause = try #require(await center.pause(ofDelivery: delivery.id))
    let elapsed = Duration.microseconds(HostClock.unixMicroseconds() - begin)
    // The two clocks may differ by a second.
    #expect(pause <= .seconds(3601) && pause >= .seconds(3599) - elapsed)
    #expect(await center.schedule(ofDelivery: delivery.id)?.isRunning == false && attempts() == 1)
    await center.advance(delivery: delivery.id, by: .seconds(3602))
    try await until("second delivery") { attempts() == 2 }
    await center.stop()
  }

  @Test func backOffContinuesAfterRestart() async throws {
    let (scratch, database, attempts) = try delivery(.immediate, "false")
    let limits = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .seconds(3600))
    var center = try center(database, limits)
    try await center.start(inBackground: true)
    let begin = HostClock.unixMicroseconds()
    try await center.commit(light(true), to: database)
    try await until("first failure") { try database.backgroundDeliveries()[0].strikes == 1 }
    let stored = try database.backgroundDeliveries()[0]
    #expect(try #require(stored.earliest) >= begin + 3_600_000_000)
    await center.stop()
    let again = try scratch.open()
    center = try self.center(again, limits)
    try await center.start(inBackground: true)
    let pause = try #require(await center.pause(ofDelivery: stored.id))
    let elapsed = Duration.microseconds(HostClock.unixMicroseconds() - begin)
    // The two clocks may differ by a second.
    #expect(pause <= .seconds(3600) && pause >= .seconds(3599) - elapsed)
    #expect(await center.schedule(ofDelivery: stored.id)?.isRunning == false && attempts() == 1)
    await center.advance(delivery: stored.id, by: .seconds(3600))
    try await until("retry") { attempts() == 2 }
    try await until("second failure") { try again.backgroundDeliveries()[0].strikes == 2 }
    await center.stop()
  }

  /// The begin of the delivery is stored, in case the process is killed while the target runs.
  @Test func periodStartsBeforeTargetEnds() async throws {
    let (scratch, database, attempts) = try delivery(.every(.seconds(3600)), "sleep 100")
    let center = try center(database)
    try await center.start(inBackground: true)
    try await center.commit(light(true), to: database)
    try await until("the command runs") { attempts() == 1 }
    let one = try database.backgroundDeliveries()[0]
    #expect(try #require(one.earliest) > HostClock.unixMicroseconds() + 3_000_000_000)
    #expect(one.delivered == nil && one.begun != nil && one.strikes == 0)
    // An orderly stop withdraws the delivery, which is not a failure of the target.
    await center.stop()
    try await until("the delivery is withdrawn") { try database.backgroundDeliveries()[0].begun == nil }
    // After the clock was set back by a day, the delay is still limited to the period.
    try database.record(begun: nil, earliest: HostClock.unixMicroseconds() + 86_400_000_000, of: one.id)
    let later = try self.center(database)
    try await later.start(inBackground: true)
    #expect(try #require(await later.pause(ofDelivery: one.id)) <= .seconds(3600))
    await later.stop()
    // The delivery has not failed: a resume has no effect, and the period continues.
    #expect(try !scratch.open().resumeBackgroundDelivery(one.id))
    #expect(try database.backgroundDeliveries()[0].earliest != nil)
  }

  /// The delivering process was killed, so that the result of the delivery is unknown.
  @Test func countsInterruptedDeliveryAsFailure() async throws {
    let (scratch, database, attempts) = try delivery(.immediate, "true")
    try database.commit([light(true)])
    let id = try database.backgroundDeliveries()[0].id
    // The back-off is the same as after any failure.
    try database.record(begun: HostClock.unixMicroseconds(), earliest: nil, of: id)
    let longBackOff = try self.center(database, .init(timeout: .seconds(120), firstRetry: .seconds(3600)))
    try await longBackOff.start(inBackground: true)
    try await until("the failure is stored") { try database.backgroundDeliveries()[0].strikes == 1 }
    var stored = try database.backgroundDeliveries()[0]
    #expect(stored.begun == nil && !stored.isSuspended && stored.failure?.contains("process") == true)
    #expect(try #require(stored.earliest) > HostClock.unixMicroseconds() + 3_000_000_000)
    await longBackOff.stop()
    // A delivery during which three processes ended is suspended.
    let again = try scratch.open()
    for strikes in 2...3 {
      try again.record(begun: HostClock.unixMicroseconds(), earliest: nil, of: id)
      let center = try self.center(again, .init(timeout: .seconds(120), firstRetry: .seconds(3600)))
      try await center.start(inBackground: true)
      try await until("the failure is stored") { try again.backgroundDeliveries()[0].strikes == strikes }
      await center.stop()
    }
    stored = try again.backgroundDeliveries()[0]
    #expect(stored.isSuspended && attempts() == 0)
    let center = try self.center(again)
    try await center.start(inBackground: true)
    try scratch.open().resumeBackgroundDelivery(id)
    await center.reloadDeliveries()
    try await until("delivery") { attempts() == 1 }
    await center.stop()
  }

  /// The command gets SIGTERM first, and its exit status counts.
  @Test func acceptsCompletionAfterSIGTERM() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let file = scratch.directory + "/begun"
    let script = "trap 'exit 0' TERM; echo > \(file); while :; do sleep 0.1; done"
    let id = try database.add(
      BackgroundDelivery(.all, .immediate, to: .command(["sh", "-c", script]), after: try database.anchor())
    ).id
    try database.commit([light(true)])
    let center = try center(database, .init(timeout: .seconds(3600), firstRetry: .milliseconds(30)))
    await center.set(gracePeriod: .seconds(600))
    try await center.start(inBackground: true)
    try await until("the command handles SIGTERM") { FileManager.default.fileExists(atPath: file) }
    await center.advance(delivery: id, by: .seconds(3600))
    try await until("delivery") { try database.backgroundDeliveries()[0].delivered != nil }
    let stored = try database.backgroundDeliveries()[0]
    #expect(stored.strikes == 0 && !stored.isSuspended && stored.failure == nil)
    #expect(stored.anchor == (try scratch.open().anchor()))
    await center.stop()
  }

  @Test func killsHangingCommand() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let file = scratch.directory + "/pid"
    let id = try database.add(
      BackgroundDelivery(
        .all, .immediate, to: .command(["sh", "-c", "trap '' TERM; echo $$ > \(file); exec sleep 1000"]),
        after: try database.anchor())
    ).id
    try database.commit([light(true)])
    let center = try center(database, .init(timeout: .seconds(3600), strikes: 1))
    await center.set(gracePeriod: .milliseconds(100))
    try await center.start(inBackground: true)
    func number() -> Int32? {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { Int32($0) }
    }
    try await until("the command ignores SIGTERM") { number() != nil }
    await center.advance(delivery: id, by: .seconds(3600))
    try await until("suspension") { try database.backgroundDeliveries()[0].isSuspended }
    let process = try #require(number())
    try await until("the process ended") { kill(process, 0) != 0 }
    #expect(try database.backgroundDeliveries()[0].failure?.contains("longer") == true)
    await center.stop()
  }

  @Test func postsToWebhook() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    // The first request fails.
    let server = try await PostServer(answers: ["503 Not Now", "204 Done"])
    let start = try database.anchor()
    try database.add(
      BackgroundDelivery(
        .all, .every(.milliseconds(100)), to: .webhook("http://127.0.0.1:\(server.port)/bell"), after: start))
    try database.commit([light(true)])
    let center = try center(database)
    try await center.start(inBackground: true)
    try await until("delivery") { try database.backgroundDeliveries()[0].anchor == (try database.anchor()) }
    let requests = server.requests.withLock { $0 }
    #expect(requests.count == 2 && requests.allSatisfy { $0.hasPrefix("POST /bell HTTP/1.1\r\n") })
    let body = try #require(requests.last?.components(separatedBy: "\r\n\r\n").last)
    let notice = try JSONDecoder().decode(Notice.self, from: Data(body.utf8))
    #expect(notice.after == start && notice.attempt == 2)
    await center.stop()
    try await server.close()
  }

  @Test func rejectsInvalidTargets() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let anchor = try database.anchor()
    let addresses = ["ftp://x", "nonsense", "http://", "http://user@x/", "http://x:99999/"]
    for target in [.command([]), .command([""])] + addresses.map(BackgroundDelivery.Target.webhook) {
      let error = failure { () throws(HomeError) in
        _ = try database.add(BackgroundDelivery(.all, .immediate, to: target, after: anchor))
      }
      #expect(error?.code == .badArguments, "\(target)")
    }
    // The scheme of a URL has no case.
    _ = try database.add(BackgroundDelivery(.all, .immediate, to: .webhook("HTTPS://x/"), after: anchor))
  }
}

/// An HTTP server on loopback with prepared answers.
private final class PostServer: Sendable {
  let requests = Mutex<[String]>([])
  private let answers: Mutex<[String]>
  private let channel: Mutex<(any Channel)?>
  var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }

  init(answers: [String]) async throws {
    self.answers = Mutex(answers)
    channel = Mutex(nil)
    let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(self)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    channel.withLock { $0 = bound }
  }

  func close() async throws { try await channel.withLock { $0 }?.close() }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let server: PostServer
    private var text = ""

    init(_ server: PostServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      guard text.hasSuffix("}") else { return }
      server.requests.withLock { $0.append(text) }
      let answer = server.answers.withLock { $0.isEmpty ? "500 Enough" : $0.removeFirst() }
      let response = ByteBuffer(string: "HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      context.writeAndFlush(wrapOutboundOut(response), promise: nil)
      context.close(promise: nil)
    }
  }
}
