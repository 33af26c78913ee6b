import HearthHome
import HomeModel
import MatterModel
import Synchronization
import Testing

@Suite struct BroadcastTests {
  private func reader(_ broadcast: Broadcast<Int>, first: Int = 0) -> Broadcast<Int>.Slot {
    let slot = Broadcast<Int>.Slot()
    broadcast.attach(slot, with: first)
    return slot
  }

  /// Reads until the broadcast is finished.
  private func all(from slot: Broadcast<Int>.Slot) async -> [Int] {
    var (elements, slot) = ([Int](), slot)
    while case .element(let element, let next) = await slot.content() {
      elements.append(element)
      slot = next
    }
    return elements
  }

  @Test func deliversElementsSinceAttachment() async {
    let broadcast = Broadcast<Int>()
    let early = reader(broadcast, first: -1)
    for number in 0..<10 { broadcast.send(number) }
    let late = reader(broadcast, first: -2)
    let waiting = Task { await all(from: reader(broadcast, first: -3)) }
    for number in 10..<20 { broadcast.send(number) }
    broadcast.finish()
    #expect(await all(from: early) == [-1] + Array(0..<20))
    #expect(await all(from: late) == [-2] + Array(10..<20))
    // The task attaches at an unknown time, but misses nothing after it.
    let seen = await waiting.value.dropFirst()
    #expect(Array(seen) == Array((seen.first ?? 20)..<20))
    #expect(await all(from: reader(broadcast, first: -4)) == [-4])
  }

  /// More than a few readers are woken through the owner's scheduler.
  @Test func wakesManyReadersThroughScheduler() async {
    let wakes = Mutex(0)
    let broadcast = Broadcast<Int> { body in
      wakes.withLock { $0 += 1 }
      Task { body() }
    }
    let readers = (0..<50).map { _ in reader(broadcast) }
    let tasks = readers.map { slot in Task { await all(from: slot) } }
    for number in 1...100 {
      broadcast.send(number)
      await Task.yield()
    }
    broadcast.finish()
    for task in tasks { #expect(await task.value == Array(0...100)) }
    #expect(wakes.withLock { $0 } > 0)
  }

  /// A long-lived reader retains only unread elements.
  @Test func releasesReadElements() async throws {
    let open = try await OpenHome(.lamp(5))
    var iterator = open.controller.reports(of: "5").makeAsyncIterator()
    weak let first = iterator.next
    #expect(await iterator.next() != nil)
    await open.process(.lost(5, .subscriptionLost))
    #expect(await iterator.next() != nil)
    #expect(iterator.next != nil)
    #expect(first == nil)
    await open.home.close()
  }

  @Test func cancellationEndsWait() async {
    let broadcast = Broadcast<Int>()
    let slot = reader(broadcast)
    let task = Task { await all(from: slot) }
    task.cancel()
    let seen = await task.value
    #expect(seen == [0] || seen.isEmpty)
    broadcast.send(1)
    broadcast.finish()
    // Other readers are not canceled.
    #expect(await all(from: slot) == [0, 1])
  }

  /// Recursive deallocation of a long list would overflow the stack.
  @Test func releasesLongListWithoutRecursion() async {
    let broadcast = Broadcast<Int>()
    var slow: Broadcast<Int>.Slot? = reader(broadcast)
    for number in 0..<100_000 { broadcast.send(number) }
    weak let first = slow
    #expect(first != nil)
    slow = nil
    #expect(first == nil)
  }
}
