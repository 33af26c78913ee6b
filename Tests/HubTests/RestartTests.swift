import Foundation
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import Hub
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

/// How clients continue after a restart of the hub, or a compaction of the log.
@Suite("Restart and compaction", .timeLimit(.minutes(10))) struct RestartTests {
  private func levels(_ samples: [HomeSample]) -> [UInt8] {
    samples.compactMap { if case .attribute(_, ServedHome.level, let value?) = $0.change { value[1] } else { nil } }
  }

  @Test func anchorRemainsValidAfterHubRestart() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let recorded = await RecordedClient(client)
    let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
    let query = ObserverQuery(.attribute) { _, completion, _ in
      continuation.yield()
      completion()
    }
    await client.execute(query)
    var rings = calls.makeAsyncIterator()
    _ = await rings.next()
    try await served.report(level: 2)
    _ = await rings.next()
    let anchor = try await client.anchor()
    await served.stopHub()
    #expect(await recorded.recorder.waits(for: "hub notAvailable"))
    // The final state is the previous one, so that only the log shows the changes.
    for level in [3, 4, 2] as [UInt8] { try await served.report(level: level) }
    try await served.startHub()
    #expect(await recorded.recorder.waits(for: "homes", times: 2))
    _ = await rings.next()
    guard case .samples(let samples, let next, true) = try await client.samples(after: anchor) else {
      Issue.record("no samples")
      return
    }
    #expect(levels(samples) == [3, 4, 2])
    // One reload, and the device is not reported as reachable before the new hub reports it.
    let messages = recorded.recorder.messages.filter { !$0.hasPrefix("hub") && !$0.contains("currentLevel") }
    #expect(messages == ["homes", "reachable false", "homes"])
    #expect(recorded.manager.primaryHome?.accessories.first?.isReachable == true)
    try await served.report(level: 5)
    #expect(await recorded.recorder.waits(for: "1/levelControl.currentLevel = 5"))
    #expect(levels(try await client.samples(after: next).added) == [5])
    await client.stop(query)
    await client.close()
    await served.close()
  }

  @Test func servesAgainAfterFailedStart() async throws {
    let served = try await ServedHome()
    let run = served.scratch.state.run
    await served.stopHub()
    // A file in the place of the directory of the socket.
    try FileManager.default.removeItem(atPath: run)
    try "in the way".write(toFile: run, atomically: true, encoding: .utf8)
    let failure = await code { try await served.startHub() }
    #expect(failure == .internalError)
    try FileManager.default.removeItem(atPath: run)
    try await served.startHub()
    // The process still serves its home if the hub can't listen on another address.
    await served.stopHub()
    #expect(await code { try await served.startHub { $0.addresses = [.socket(run)] } } == .badArguments)
    let client = try await Home(through: ServedHome.clientOptions("test", [.local(served.socket)]))
    #expect(try await client.devices().list().map(\.name) == ["Lamp"])
    await client.close()
    await served.close()
  }

  /// Localities in samples are relative to the reader, not to the hub.
  @Test func samplesHaveLocalityOfReader() async throws {
    let served = try await ServedHome()
    let client = try await served.client()
    let anchor = try await client.anchor()
    try await served.home.controller.process(.lost(5, .timedOut))
    try await served.home.controller.process(.established(5, deadline: .max))
    var connectivities: [SourceConnectivity] = []
    let (own, theirs) = (try await served.home.samples(after: anchor), try await client.samples(after: anchor))
    for case .connectivity(_, let status) in (own.added + theirs.added).map(\.change) {
      connectivities.append(status.connectivity)
    }
    #expect(
      connectivities == [
        .init(.offline, .peer), .init(.online, .peer), .init(.offline, .local), .init(.online, .local),
      ])
    #expect(try await served.home.controller.withDatabase { try $0.compact(keeping: 0) } > 0)
    guard case .reset(let home) = try await client.samples(after: anchor) else {
      Issue.record("no reset")
      return
    }
    #expect(home.state.devices["5"]?.sources.map(\.status.connectivity) == [.init(.online, .local)])
    await client.close()
    await served.close()
  }

  @Test func compactionResetsClientAnchors() async throws {
    let served = try await ServedHome()
    let (client, guest) = (
      try await served.client(), try await served.client(token: try await served.invite("Gast", .guest))
    )
    let anchor = try await client.anchor()
    for level in 2...5 { try await served.report(level: UInt8(level)) }
    #expect(levels(try await client.samples(after: anchor).added) == [2, 3, 4, 5])
    #expect(try await served.home.controller.withDatabase { try $0.compact(keeping: 0) } > 0)
    for (home, isOwner, last) in [(client, true, 5), (guest, false, 7)] as [(Home, Bool, UInt8)] {
      guard case .reset(let stored) = try await home.samples(after: anchor) else {
        Issue.record("no reset")
        return
      }
      #expect(stored.state.value(5, ServedHome.level) == [0x04, last] && stored.state.devices["5"]?.name == "Lamp")
      #expect((stored.state.value(5, ServedHome.access) != nil) == isOwner)
      #expect(stored.contacts[5]?.last != nil)
      try await served.report(level: isOwner ? 7 : 8)
      #expect(levels(try await home.samples(after: stored.anchor).added) == [isOwner ? 7 : 8])
    }
    await client.close()
    await guest.close()
    await served.close()
  }
}
