import MatterProtocol
import NIOCore
import Simulation
import Synchronization
import Testing

/// Timers of an event loop on virtual time.
@Suite struct EventLoopTests {
  private final class Log: NIOScheduledCallbackHandler, Sendable {
    private let entries = Mutex<[String]>([])
    var names: [String] { entries.withLock(\.self) }

    func add(_ name: String) { entries.withLock { $0.append(name) } }
    func handleScheduledCallback(eventLoop: some EventLoop) { add("callback") }
  }

  private let world = World(seed: 1)
  private let loop: SimulatedEventLoop
  private let log = Log()

  init() { loop = world.addMachine("loop").eventLoop }

  @discardableResult private func timer(_ name: String) -> Scheduled<Void> {
    loop.scheduleTask(in: .seconds(10)) { [log] in log.add(name) }
  }

  /// A new timer takes the position of one that has fired or was canceled.
  @Test func cancelsNoLaterTimer() throws {
    let (first, second) = (timer("first"), timer("second"))
    first.cancel()
    timer("third")
    first.cancel()
    try world.run(for: .seconds(11))
    #expect(log.names == ["second", "third"])
    timer("fourth")
    timer("fifth")
    second.cancel()
    try world.run(for: .seconds(11))
    #expect(log.names == ["second", "third", "fourth", "fifth"])
  }

  @Test func runsCallbacks() throws {
    let time = loop.now + .seconds(10)
    let callback = loop.scheduleCallback(at: time, handler: log)
    loop.scheduleCallback(at: time, handler: log).cancel()
    try world.run(for: .seconds(9))
    #expect(log.names.isEmpty)
    try world.run(for: .seconds(2))
    #expect(log.names == ["callback"])
    timer("next")
    callback.cancel()
    try world.run(for: .seconds(11))
    #expect(log.names == ["callback", "next"])
  }
}
