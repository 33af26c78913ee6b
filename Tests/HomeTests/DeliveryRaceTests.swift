import Foundation
import MatterModel
import NIOPosix
import Testing

@testable import Home

/// What happens to deliveries while what is known of them is on its way from the database or into it.
@Suite("Races of deliveries", .timeLimit(.minutes(10))) struct DeliveryRaceTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let limits = DeliverySchedule.Limits(patience: .seconds(120), firstRetry: .milliseconds(30), strikes: 1)

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
