import NIOCore
import Runtime
import Testing

@Suite("Waiters", .timeLimit(.minutes(10))) struct WaitersTests {
  /// A number that callers wait for.
  private actor Counter: LoopActor {
    nonisolated let eventLoop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }
    private let waiters: Waiters
    private(set) var count = 0

    init() {
      eventLoop = HostMachine().nextEventLoop()
      waiters = Waiters(on: eventLoop)
    }

    func increment() {
      count += 1
      waiters.wakeUp()
    }

    func incrementLater() { schedule(in: .milliseconds(1)) { $0.increment() } }

    /// - Returns: the increments, to be canceled.
    func incrementRepeatedly() -> RepeatedTask { schedule(each: .milliseconds(1)) { $0.increment() } }

    /// - Returns: whether the number was reached.
    func reaches(_ value: Int, within time: TimeAmount = .hours(1)) async -> Bool {
      let deadline = eventLoop.now + time
      while count < value, !Task.isCancelled, eventLoop.now < deadline {
        await waiters.waitUnlessCanceled(until: deadline)
      }
      return count >= value
    }

    func becomesPositive() async {
      while count < 1 { await waiters.wait() }
    }
  }

  @Test func wakesAllCallers() async {
    let counter = Counter()
    async let first = counter.reaches(1)
    async let second = counter.reaches(2)
    async let third: Void = counter.becomesPositive()
    await counter.incrementLater()
    #expect(await first)
    await third
    await counter.increment()
    #expect(await second)
  }

  @Test func endsAtDeadline() async {
    let counter = Counter()
    #expect(await !counter.reaches(1, within: .milliseconds(1)))
    #expect(await !counter.reaches(1, within: .zero))
  }

  @Test func endsAtCancellation() async {
    let counter = Counter()
    let waiting = Task { await counter.reaches(1) }
    let other = Task { await counter.reaches(1) }
    waiting.cancel()
    #expect(await !waiting.value)
    await counter.increment()
    #expect(await other.value)
  }

  @Test func repeats() async {
    let counter = Counter()
    let increments = await counter.incrementRepeatedly()
    #expect(await counter.reaches(3))
    increments.cancel()
  }
}
