import Foundation
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import MatterClusters
import MatterModel
import Testing

/// Background deliveries of an open home.
@Suite("Background deliveries of a home", .timeLimit(.minutes(10))) struct HomeDeliveryTests {
  @Test func homeEnablesAndDisablesDeliveries() async throws {
    let open = try await OpenHome(.lamp(5))
    let home = open.home
    try await home.follow()
    let file = FileManager.default.temporaryDirectory.appending(path: "enabled-\(UInt64.random(in: 0...(.max)))").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let start = try await home.anchor()
    let delivery = try await home.enableBackgroundDelivery(
      for: .attribute, predicate: SampleFilter(devices: ["5"]), frequency: .immediate,
      target: .command(["touch", file]), after: start)
    #expect(delivery.filter == SampleFilter(.attribute, devices: ["5"]) && delivery.anchor == start)
    // It is delivered by the process that enabled it, without a restart.
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), false.tlv))
    #expect(await eventually { FileManager.default.fileExists(atPath: file) })
    let other = try await home.enableBackgroundDelivery(
      for: .event, frequency: .every(.seconds(60)), target: .webhook("http://127.0.0.1:1/"))
    #expect(try await home.backgroundDeliveries.map(\.id) == [delivery.id, other.id])
    #expect(try await !home.resumeBackgroundDelivery(other.id))
    try await home.disableBackgroundDelivery(for: .attribute)
    #expect(try await home.backgroundDeliveries.map(\.id) == [other.id])
    try await home.disableAllBackgroundDelivery()
    #expect(try await home.backgroundDeliveries.isEmpty)
    await #expect(throws: HomeError.self) { try await home.disableBackgroundDelivery(other.id) }
    await #expect(throws: HomeError.self) {
      try await home.enableBackgroundDelivery(for: .all, frequency: .immediate, target: .command([]))
    }
    await home.close()
  }

  @Test func programsEnableTheirDeliveriesOnce() async throws {
    let open = try await OpenHome(.lamp(5))
    let home = open.home
    func enable(
      _ frequency: BackgroundDelivery.Frequency, _ command: String = "true", devices: Set<String>? = nil
    ) async throws -> BackgroundDelivery.ID {
      try await home.enableBackgroundDelivery(
        for: .event, predicate: SampleFilter(devices: devices), frequency: frequency, target: .command([command])
      ).id
    }
    let first = try await enable(.hourly)
    let anchor = try await home.backgroundDeliveries.map(\.anchor)
    try await home.addRoom("Hall")
    #expect(try await enable(.hourly) == first)
    #expect(try await enable(.every(.seconds(3600))) == first)
    #expect(try await home.backgroundDeliveries.map(\.anchor) == anchor)
    let others = [
      try await enable(.daily), try await enable(.weekly), try await enable(.immediate),
      try await enable(.hourly, "false"), try await enable(.hourly, devices: ["5"]),
    ]
    #expect(try await home.backgroundDeliveries.map(\.id) == [first] + others)
    // Another program has its own delivery, which only it disables.
    let request = HomeRequest.addDelivery(
      filter: SampleFilter(.event), frequency: .hourly, target: .command(["true"]), after: nil, program: "hearth")
    for _ in 0..<2 { _ = try await home.backend.perform(request) }
    try await home.disableBackgroundDelivery(for: .event)
    #expect(try await home.backgroundDeliveries.map(\.program) == ["hearth"])
    try await home.disableAllBackgroundDelivery()
    #expect(try await home.backgroundDeliveries.map(\.filter.type) == [.event])
    await home.close()
  }
}
