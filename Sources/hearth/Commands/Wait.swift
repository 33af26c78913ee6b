import ArgumentParser
import HearthHome
import HomeText
import MatterModel

/// `hearth wait`.
struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Wait until a device meets conditions.",
    discussion: """
      All conditions of --for have to hold at the same time. For example:
        hearth wait kitchen/lamp --for connectivity=online --for onOff=true --timeout 30s
        hearth wait kitchen/lamp --for levelControl.currentLevel=40%
      A condition is about an attribute, connectivity (online, offline, partiallyOnline, unknown), settledConnectivity, which \
      ignores outages shorter than the grace time (`hearth home grace`), or locality (peer, local, remote, mixed). Values are \
      written as `hearth read` prints them. A condition about an attribute holds only while the device is online, as the last \
      value of an offline device may be stale.

      With --timeout, ends with exit code 11 and the actual values when the time has elapsed. Without, waits indefinitely.
      """)
  @OptionGroup var home: HomeOptions
  @Option(name: .customLong("for"), help: ArgumentHelp("A condition; repeatable.", valueName: "name=value"))
  var conditions: [String]
  @Argument(help: "The device.", completion: .device) var target: String

  func validate() throws {
    if conditions.isEmpty { throw ValidationError("missing condition, such as --for onOff=true") }
  }

  func run() async throws {
    var options = try home.options()
    // --timeout limits the whole command, not each request.
    options.timeout = .seconds(10)
    // The command ends as soon as the conditions hold, which would interrupt deliveries to observers.
    options.following.wakesObservers = false
    try await home.withHomeUntilInterrupted(options) { session in
      let registry = await session.registry
      let target = try registry.resolve(target)
      let conditions = try conditions.map { try DeviceCondition(parsing: $0, of: target) }
      // Created before the first check, so that no change in between is missed.
      let updates = session.updates()
      try await session.follow()
      let device = target.device
      let notes = WaitingNotes(home.output)
      let note = notes.begin(
        "\(device.label): " + conditions.map { "\($0.name) to be \($0.value)" }.joined(separator: ", "))
      defer { if let note { notes.end(note) } }
      guard try await waitUntil(conditions, holdFor: device, updates, session) else {
        let now = await DeviceCondition.check(conditions, of: device.id, in: session)
        let failed = zip(conditions, now).filter { !$1.holds }.map {
          "\($0.name) is \($1.actual), not \($1.wanted ?? $0.value)"
        }
        throw HomeError(
          .expectationFailed,
          failed.isEmpty ? "conditions hold only after the timeout" : failed.joined(separator: "; "),
          device: device.name)
      }
      home.output.result(
        device.jsonNames.adding(
          "conditions",
          .array(conditions.map { ["name": .string($0.name), "value": .string($0.value), "holds": true] })),
        "\(device.label): " + conditions.map { "\($0.name) is \($0.value)" }.joined(separator: ", "))
    }
  }

  /// Waits until all conditions hold.
  /// - Returns: false if the timeout has elapsed.
  /// - Throws: `notFound` if the device is removed in the meantime.
  private func waitUntil(
    _ conditions: [DeviceCondition], holdFor device: DeviceRecord, _ updates: HomeEvents, _ session: Home
  ) async throws -> Bool {
    @Sendable func hold() async throws -> Bool {
      guard await session.state.devices[device.id] != nil else {
        throw HomeError(.notFound, "no longer in the home", device: device.name)
      }
      return await DeviceCondition.check(conditions, of: device.id, in: session).allSatisfy(\.holds)
    }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        if try await hold() { return true }
        for await _ in updates where try await hold() { return true }
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
