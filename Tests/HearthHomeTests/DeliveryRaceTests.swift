import Foundation
import GRDB
import HearthHome
import HomeModel
import MatterModel
import NIOPosix
import Testing

@testable import HomeAutomation
@testable import HomeStore

/// Races between deliveries and the reads and writes of their rows.
@Suite("Delivery races", .timeLimit(.minutes(10))) struct DeliveryRaceTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let limits = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .milliseconds(30), strikes: 1)

  /// Opens a database with one delivery that has a change pending.
  private func database(in scratch: TestDatabase, _ script: String) throws -> (HomeDatabase, Int64) {
    let database = try scratch.open()
    let delivery = try database.add(
      BackgroundDelivery(.all, .immediate, to: .command(["sh", "-c", script]), after: try database.anchor()))
    try database.commit([HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x09])], at: 1)])
    return (database, delivery.id)
  }

  /// The row is read, the delivery fails for the last time, and then the outdated row arrives.
  @Test func outdatedReadDoesNotResumeDelivery() async throws {
    let scratch = try TestDatabase()
    let gate = scratch.directory + "/gate"
    let (database, id) = try database(in: scratch, "while ! test -e \(gate); do sleep 0.05; done; false")
    let worker = ResultHoldingWorker(of: [BackgroundDelivery].self)
    let center = ObserverCenter(database, on: loop, worker, limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    worker.holdNext()
    async let restored: Void = center.restoreDeliveries()
    #expect(await eventually { worker.isHolding })
    _ = FileManager.default.createFile(atPath: gate, contents: nil)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].isSuspended) == true })
    worker.release()
    try await restored
    #expect(await center.entries[id]?.schedule.isSuspended == true)
    // A resume by another process is read later and takes effect; the delivery waits at the gate again.
    try FileManager.default.removeItem(atPath: gate)
    try scratch.open().resumeBackgroundDelivery(id)
    try await center.restoreDeliveries()
    #expect(await center.entries[id]?.schedule.isSuspended == false)
    await center.stop()
  }

  /// The row still says that the delivery is not suspended, which must not be taken for a resume.
  @Test func failedWriteDoesNotResumeDelivery() async throws {
    let scratch = try TestDatabase()
    let gate = scratch.directory + "/gate"
    let (database, id) = try database(in: scratch, "while ! test -e \(gate); do sleep 0.05; done; false")
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    try await center.work { try $0.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") } }
    _ = FileManager.default.createFile(atPath: gate, contents: nil)
    #expect(await eventually { await center.entries[id]?.schedule.isSuspended == true })
    #expect(try database.backgroundDeliveries()[0].isSuspended == false)
    try await center.restoreDeliveries()
    #expect(await center.entries[id]?.schedule.isSuspended == true)
    await center.stop()
  }

  /// Another process resumes the delivery during its back-off, and during its next failure.
  @Test func resumeDuringBackOffDeliversAtOnce() async throws {
    let scratch = try TestDatabase()
    let file = scratch.directory + "/attempts"
    let (database, id) = try database(in: scratch, "echo x >> \(file); false")
    let longBackOff = DeliverySchedule.Limits(timeout: .seconds(120), firstRetry: .seconds(3600))
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: longBackOff)
    try await center.start(inBackground: true)
    @Sendable func attempts() -> Int {
      (try? String(contentsOfFile: file, encoding: .utf8))?.split(separator: "\n").count ?? 0
    }
    #expect(await eventually { (try? database.backgroundDeliveries()[0].strikes) == 1 })
    #expect(attempts() == 1)
    let process = try scratch.open()
    try process.resumeBackgroundDelivery(id)
    await center.reloadDeliveries()
    // It fails again, which counts as the first failure.
    #expect(await eventually { attempts() == 2 })
    #expect(await eventually { (try? database.backgroundDeliveries()[0].strikes) == 1 })
    await center.stop()
    // A late write does not undo the resume.
    var late = try database.backgroundDeliveries()[0]
    try process.resumeBackgroundDelivery(id)
    (late.strikes, late.isSuspended, late.delivered) = (3, true, 7)
    try database.record(late)
    let stored = try database.backgroundDeliveries()[0]
    #expect(stored.strikes == 0 && !stored.isSuspended && stored.delivered == 7)
  }

  /// An abandoned attempt ends while the next one runs: that one still counts as failed if the process is killed.
  @Test func abandonedAttemptDoesNotCompleteNextOne() async throws {
    let scratch = try TestDatabase()
    let path = scratch.directory
    // Both attempts wait; the first one gets SIGTERM and completes as soon as the gate opens.
    let script =
      "trap 'while ! test -e \(path)/gate; do sleep 0.05; done; exit 0' TERM; echo x > \(path)/$HEARTH_ATTEMPT; "
      + "while :; do sleep 0.05; done"
    let (database, id) = try database(in: scratch, script)
    let longTimeout = DeliverySchedule.Limits(timeout: .seconds(3600), firstRetry: .milliseconds(10), strikes: 100)
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: longTimeout)
    await center.set(gracePeriod: .seconds(600))
    try await center.start(inBackground: true)
    #expect(await eventually { FileManager.default.fileExists(atPath: path + "/1") })
    // The first attempt times out, and the second one begins.
    await center.advance(delivery: id, by: .seconds(3600))
    await center.advance(delivery: id, by: .seconds(3601))
    #expect(await eventually { FileManager.default.fileExists(atPath: path + "/2") })
    let begun = try #require(try database.backgroundDeliveries()[0].begun)
    _ = FileManager.default.createFile(atPath: path + "/gate", contents: nil)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].delivered) != nil })
    #expect(try database.backgroundDeliveries()[0].begun == begun)
    await center.end()
  }

  /// A command whose observer is removed is terminated and waited for.
  @Test func waitsForCommandOfRemovedObserver() async throws {
    let scratch = try TestDatabase()
    let file = scratch.directory + "/pid"
    let (database, id) = try database(in: scratch, "trap '' TERM; echo $$ >> \(file); exec sleep 1000")
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: limits)
    await center.set(gracePeriod: .milliseconds(100))
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

  /// The center stops between the decision to deliver and the delivery.
  @Test func stopBeforeStartRecordsNoBegin() async throws {
    let scratch = try TestDatabase()
    let (database, _) = try database(in: scratch, "true")
    let worker = QueueWorker()
    let center = ObserverCenter(database, on: loop, worker, limits: limits)
    try await center.start()
    try await center.restoreAndStop()
    // Drain the worker's queue.
    for _ in 0..<50 {
      try await center.work { _ in }
      #expect(try database.backgroundDeliveries()[0].begun == nil)
    }
  }

  /// Otherwise the next process would run the command a second time.
  @Test func killsCommandThatIgnoresSIGTERM() async throws {
    let scratch = try TestDatabase()
    let file = scratch.directory + "/pid"
    let (database, _) = try database(in: scratch, "trap '' TERM; echo $$ >> \(file); exec sleep 1000")
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: limits)
    await center.set(gracePeriod: .milliseconds(100))
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

  /// As in a power loss: the begin of the delivery stays recorded.
  @Test func stopWithoutRecordingKeepsBegin() async throws {
    let scratch = try TestDatabase()
    let (database, _) = try database(in: scratch, "sleep 100")
    let center = ObserverCenter(database, on: loop, QueueWorker(), limits: limits)
    try await center.start(inBackground: true)
    #expect(await eventually { (try? database.backgroundDeliveries()[0].begun) != nil })
    await center.stop(recording: false)
    try await center.work { _ in }
    #expect(try database.backgroundDeliveries()[0].begun != nil)
  }
}

extension ObserverCenter {
  /// Restores and stops without a suspension in between.
  fileprivate func restoreAndStop() async throws {
    try await start(inBackground: true)
    stop()
  }
}
