import ArgumentParser
import Home
import MatterModel

/// `hearth wait`.
struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Wait until something holds of a device; at once if it holds already.",
    discussion: """
      All that --for names has to hold at the same time. For example:
        hearth wait kitchen/lamp --for connectivity=online --for onOff=true --timeout 30s
        hearth wait kitchen/lamp --for levelControl.currentLevel=40%
      Besides attributes there are connectivity (online, offline, partiallyOnline, unknown), settledConnectivity, which \
      leaves breaks out that are shorter than `hearth home grace` says, and locality (peer, local, remote, mixed). Values are written as `hearth read` prints them. An attribute counts only while its device is online: \
      what an offline one said last may not be so any more.

      With --timeout: exit code 11 when the time is over, with what was the case instead. Without: as long as it takes.
      """)
  @OptionGroup var home: HomeOptions
  @Option(name: .customLong("for"), help: ArgumentHelp("What has to hold.", valueName: "name=value"))
  var conditions: [String]
  @Argument(help: "The device.", completion: .device) var target: String

  func validate() throws {
    if conditions.isEmpty { throw ValidationError("say what to wait for: --for onOff=true") }
  }

  func run() async throws {
    var options = try home.options()
    // --timeout is for all of it, not for each request.
    options.timeout = .seconds(10)
    // It ends as soon as it holds, in the midst of what that wakes.
    options.following.wakesObservers = false
    try await home.withHomeUntilInterrupted(options) { session in
      let registry = await session.registry
      let target = try registry.resolve(target)
      let conditions = try conditions.map { try DeviceCondition(parsing: $0, of: target, in: registry) }
      // Before it is looked: what happens in between is not missed.
      let updates = session.updates()
      try await session.follow()
      let device = target.device
      let notes = WaitingNotes(home.output)
      let note = notes.begin(
        "\(device.label): " + conditions.map { "\($0.name) to be \($0.value)" }.joined(separator: ", "))
      defer { if let note { notes.end(note) } }
      guard try await comesTrue(conditions, of: device, updates, session) else {
        let now = await DeviceCondition.check(conditions, of: device.id, in: session)
        let failed = zip(conditions, now).filter { !$1.holds }.map {
          "\($0.name) is \($1.actual), not \($1.wanted ?? $0.value)"
        }
        throw HomeError(
          .expectationFailed,
          failed.isEmpty ? "it did not hold in time, and does only now" : failed.joined(separator: "; "),
          device: device.name)
      }
      home.output.result(
        device.jsonNames.adding(
          "conditions",
          .array(conditions.map { ["name": .string($0.name), "value": .string($0.value), "holds": true] })),
        "\(device.label): " + conditions.map { "\($0.name) is \($0.value)" }.joined(separator: ", "))
    }
  }

  /// - Returns: false when the time is over.
  /// - Throws: `notFound` where the device is removed meanwhile.
  private func comesTrue(
    _ conditions: [DeviceCondition], of device: DeviceRecord, _ updates: HomeEvents, _ session: Home
  ) async throws -> Bool {
    @Sendable func isTrue() async throws -> Bool {
      guard await session.state.devices[device.id] != nil else {
        throw HomeError(.notFound, "it is not in the home any more", device: device.name)
      }
      return await DeviceCondition.check(conditions, of: device.id, in: session).allSatisfy(\.holds)
    }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        if try await isTrue() { return true }
        for await _ in updates where try await isTrue() { return true }
        return false
      }
      if let timeout = home.network.timeout {
        group.addTask {
          try await Task.sleep(for: timeout.duration)
          return false
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }
}
