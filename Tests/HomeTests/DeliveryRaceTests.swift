import Foundation
import GRDB
import MatterModel
import NIOPosix
import Testing

@testable import Home

/// What happens to deliveries while what is known of them is on its way from the database or into it.
@Suite("Races of deliveries", .timeLimit(.minutes(10))) struct DeliveryRaceTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let limits = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .milliseconds(30), strikes: 1)

  /// A database with one delivery that there is something for.
  private func database(in place: TestDatabase, _ script: String) throws -> (HomeDatabase, Int64) {
    let database = try place.open()
    let delivery = try database.add(
      BackgroundDelivery(.all, .immediate, to: .command(["sh", "-c", script]), after: try database.anchor()))
    try database.commit([HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x09])], at: 1)])
    return (database, delivery.id)
  }

  /// It is read, fails for the last time, and then what was read comes.
  @Test func anOldReadingOfTheDatabaseResumesNothing() async throws {
    let place = try TestDatabase()
    let gate = place.directory + "/gate"
    let (database, id) = try database(in: place, "while ! test -e \(gate); do sleep 0.05; done; false")
    let worker = SlowAnswers(of: [BackgroundDelivery].self)
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, worker, limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    worker.holdNext()
    async let restored: Void = center.restoreDeliveries()
    #expect(await eventually { worker.isHolding })
    _ = FileManager.default.createFile(atPath: gate, contents: nil)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].isSuspended) == true })
    worker.release()
    try await restored
    #expect(await center.entries[.delivery(id)]?.schedule.isSuspended == true)
    // Another process resumes it: that is read later, and counts. It waits at the gate again.
    try FileManager.default.removeItem(atPath: gate)
    try place.open().resumeBackgroundDelivery(id)
    try await center.restoreDeliveries()
    #expect(await center.entries[.delivery(id)]?.schedule.isSuspended == false)
    await center.stop()
  }

  /// The row says still that it is not suspended: nobody has resumed it for that.
  @Test func whatCouldNotBeStoredResumesNothing() async throws {
    let place = try TestDatabase()
    let gate = place.directory + "/gate"
    let (database, id) = try database(in: place, "while ! test -e \(gate); do sleep 0.05; done; false")
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    try await center.work { try $0.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") } }
    _ = FileManager.default.createFile(atPath: gate, contents: nil)
    #expect(await eventually { await center.entries[.delivery(id)]?.schedule.isSuspended == true })
    #expect(try database.backgroundDeliveries()[0].isSuspended == false)
    try await center.restoreDeliveries()
    #expect(await center.entries[.delivery(id)]?.schedule.isSuspended == true)
    await center.stop()
  }

  /// Another process resumes it while it waits for its next attempt, and while it fails once more.
  @Test func whoIsResumedInItsBackOffIsWokenAtOnce() async throws {
    let place = try TestDatabase()
    let file = place.directory + "/told"
    let (database, id) = try database(in: place, "echo x >> \(file); false")
    let patient = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .seconds(3600))
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: patient)
    try await center.start(inBackground: true)
    @Sendable func attempts() -> Int {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").count ?? 0
    }
    #expect(await eventually { (try? database.backgroundDeliveries()[0].strikes) == 1 })
    #expect(attempts() == 1)
    let process = try place.open()
    try process.resumeBackgroundDelivery(id)
    // It fails again, and that is the first failure.
    #expect(await eventually { attempts() == 2 })
    #expect(await eventually { (try? database.backgroundDeliveries()[0].strikes) == 1 })
    await center.stop()
    // What is stored late does not take it back.
    var late = try database.backgroundDeliveries()[0]
    try process.resumeBackgroundDelivery(id)
    (late.strikes, late.isSuspended, late.delivered) = (3, true, 7)
    try database.record(late)
    let stored = try database.backgroundDeliveries()[0]
    #expect(stored.strikes == 0 && !stored.isSuspended && stored.delivered == 7)
  }

  /// One attempt that was given up ends while the next one runs: that one is still a failure if we are killed.
  @Test func anAttemptThatEndsLateEndsNoOther() async throws {
    let place = try TestDatabase()
    let path = place.directory
    // Both wait, the first is asked to end and completes with that when it may.
    let script =
      "echo x > \(path)/$HEARTH_ATTEMPT; trap 'touch \(path)/$HEARTH_ATTEMPT.asked; while ! test -e \(path)/gate; do sleep 0.05; done; exit 0' TERM; "
      + "while :; do sleep 0.05; done"
    let (database, _) = try database(in: place, script)
    let brief = DeliverySchedule.Limits(timeout: .seconds(10), firstRetry: .milliseconds(10), strikes: 100)
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: brief)
    try await center.start(inBackground: true)
    #expect(await eventually { FileManager.default.fileExists(atPath: path + "/2") })
    let begun = try #require(try database.backgroundDeliveries()[0].begun)
    _ = FileManager.default.createFile(atPath: path + "/gate", contents: nil)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].delivered) != nil })
    let stored = try database.backgroundDeliveries()[0]
    // On a slow machine the second attempt may reach its timeout as well, which says nothing about the first.
    let isInconclusive = FileManager.default.fileExists(atPath: path + "/2.asked")
    #expect((stored.begun ?? 0) >= begun || stored.strikes > 0 || isInconclusive)
    await center.end()
  }

  /// Its observer was removed while it ran: it is ended all the same, and waited for.
  @Test func whatRunsForNobodyIsWaitedForToo() async throws {
    let place = try TestDatabase()
    let file = place.directory + "/pid"
    let (database, id) = try database(in: place, "trap '' TERM; echo $$ >> \(file); exec sleep 1000")
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    @Sendable func number() -> Int32? {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { Int32($0) }
    }
    #expect(await eventually { number() != nil })
    try database.removeBackgroundDelivery(id)
    try await center.restoreDeliveries()
    #expect(await center.entries.isEmpty)
    await center.end()
    #expect(kill(try #require(number()), 0) != 0)
  }

  /// It ends between the decision to wake and the waking.
  @Test func whatIsGivenUpBeforeItBeginsHasNotBegun() async throws {
    let place = try TestDatabase()
    let (database, _) = try database(in: place, "true")
    let worker = QueueWorker()
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, worker, limits: limits)
    try await center.start()
    try await center.restoreAndStop()
    // Whatever it still had to do.
    for _ in 0..<50 {
      try await center.work { _ in }
      #expect(try database.backgroundDeliveries()[0].begun == nil)
    }
  }

  /// Whoever wakes next would have it run twice.
  @Test func whatDoesNotEndIsMadeToBeforeAnybodyElseWakes() async throws {
    let place = try TestDatabase()
    let file = place.directory + "/pid"
    let (database, _) = try database(in: place, "trap '' TERM; echo $$ >> \(file); exec sleep 1000")
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    @Sendable func number() -> Int32? {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { Int32($0) }
    }
    #expect(await eventually { number() != nil })
    await center.end()
    #expect(kill(try #require(number()), 0) != 0)
    try await center.work { _ in }
    #expect(try database.backgroundDeliveries()[0].begun == nil)
  }

  /// As a loss of power does: nobody takes back that it was woken.
  @Test func whatIsAbandonedHasBegun() async throws {
    let place = try TestDatabase()
    let (database, _) = try database(in: place, "sleep 100")
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    await center.stop(recording: false)
    try await center.work { _ in }
    #expect(try database.backgroundDeliveries()[0].begun != nil)
  }
}

extension ObserverCenter {
  /// Nothing else happens in between.
  fileprivate func restoreAndStop() async throws {
    try await deliverInBackground()
    stop()
  }
}
