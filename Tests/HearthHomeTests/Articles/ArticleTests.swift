import Foundation
import GRDB
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import Testing

/// The code samples of the documentation compile and run.
@Suite("Articles") struct ArticleTests {
  /// The nonempty lines of a text, without surrounding whitespace.
  private func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// - Parameter minimum: the minimum number of snippets.
  @Test(arguments: [
    ("ObservingAHome.md", "HomeExample.swift", 15), ("ReceivingChanges.md", "ClientExample.swift", 9),
  ])
  func snippetsMatchArticles(_ file: String, _ snippets: String, _ minimum: Int) throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appending(path: "Sources/HearthHome/HearthHome.docc/\(file)"), encoding: .utf8)
    let compiled = lines(try String(contentsOf: here.appending(path: snippets), encoding: .utf8))
    let blocks = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count >= minimum)
    for block in blocks {
      let wanted = lines(block)
      let isFound = compiled.indices.contains { start in compiled[start...].starts(with: wanted) }
      #expect(isFound, "not among the compiled snippets:\n\(block)")
    }
  }

  @Test func delegatesWorkAsDocumented() async throws {
    let directory = ScratchDirectory()
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let other = await RecordingClient(offline.home)
    let (screen, manager) = ClientExample.delegates(offline.home)
    #expect(await eventually { manager.isSynchronized })
    let device = try #require(manager.primaryHome?.accessories.first)
    try await ClientExample.changes(manager, device)
    #expect(await other.delegate.waits(for: "Lamp 5 in Hall"))
    #expect(manager.primaryHome?.accessories.first?.roomID == manager.primaryHome?.rooms.first?.id)
    ClientExample.ownDelegates(manager, screen)
    #expect(manager.primaryHome?.accessories.first?.delegate === screen)
    ClientExample.background(other.manager)
    #expect(await eventually { other.delegate.messages.last == "homes" })
    withExtendedLifetime(screen) {}
    await offline.home.close()
  }

  @Test func queriesWorkAsDocumented() async throws {
    let directory = ScratchDirectory()
    let offline = try await OfflineHome(directory)
    try await offline.make(HomeSamples.lamp(5))
    let filter = SampleFilter(devices: ["5"], clusters: [OnOff.id])
    let stored = "\(try await offline.home.anchor())"
    let reader = ClientExample.Reader(offline.home, filter, after: stored)
    let query = await ClientExample.query(offline.home, filter, reader)
    try await offline.make([.attribute(5, OnOff.onOff.path(on: 1), value: [0x09])])
    let end = try await offline.home.anchor()
    #expect("\(end)" != stored)
    #expect(await eventually { await reader.anchor == end })
    await offline.home.stop(query)
    await offline.home.close()
  }

  @Test func deliveriesWorkAsDocumented() async throws {
    let directory = ScratchDirectory()
    let offline = try await OfflineHome(directory, follows: false)
    let home = offline.home
    let delivery = try await ClientExample.deliver(home)
    #expect(delivery.id > 0 && delivery.frequency.period == .seconds(60))
    try await home.controller.withDatabase { database in
      try database.write {
        try $0.execute(sql: "UPDATE observer SET suspended = 1, strikes = 3, failure = 'it ended with 1'")
      }
    }
    #expect(try await home.backgroundDeliveries.map(\.isSuspended) == [true])
    try await ClientExample.resume(home)
    let resumed = try await home.backgroundDeliveries
    #expect(resumed.map(\.isSuspended) == [false] && resumed.map(\.strikes) == [0])
    #expect(resumed.map(\.anchor) == [delivery.anchor])
    // The application enables its delivery at each start.
    for _ in 0..<2 { try await home.stop(ClientExample.record(home)) }
    #expect(try await home.backgroundDeliveries == resumed)
    await home.close()
  }
}
