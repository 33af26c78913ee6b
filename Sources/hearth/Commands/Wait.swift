import ArgumentParser
import HearthHome
import HomeText
import MatterModel

/// `hearth wait`.
struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until devices meet conditions.",
    discussion: """
      All conditions of --for have to hold at the same time, on all devices. A room or a group stands for its devices that have \
      the attributes. For example:
        hearth wait kitchen/lamp --for connectivity=online --for onOff=true --timeout 30s
        hearth wait kitchen/lamp --for levelControl.currentLevel=40%
        hearth wait kitchen hall/lamp --for onOff=false
      A condition is about an attribute, connectivity (online, offline, partiallyOnline, unknown), settledConnectivity, which \
      ignores outages shorter than the grace time (`hearth home grace`), or locality (peer, local, remote, mixed). Values are \
      written as `hearth read` prints them. A condition about an attribute holds only while the device is online, as the last \
      value of an offline device may be stale.

      With --timeout, ends with exit code 11 and the actual values when the time has elapsed. Without, waits indefinitely.
      """)
  @OptionGroup var home: HomeOptions
  @Option(name: .customLong("for"), help: ArgumentHelp("A condition; repeatable.", valueName: "name=value"))
  var conditions: [String]
  @OptionGroup var arguments: TargetArguments

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
      let waited = try await session.registry.conditions(conditions, of: arguments.targets)
      try home.check(waited.map(\.device))
      // Created before the first check, so that no change in between is missed.
      let updates = session.updates()
      try await session.follow()
      let notes = WaitingNotes(home.output)
      let begun = waited.map { one in
        notes.begin(
          "\(one.device.label): " + one.conditions.map { "\($0.name) to be \($0.value)" }.joined(separator: ", "))
      }
      defer { for case let note? in begun { notes.end(note) } }
      if try await waitUntil(waited, updates, session) {
        return try home.report(waited.map { TargetResult(device: $0.device, result: .success(Self.met($0))) })
      }
      let findings = await DeviceConditions.check(waited, in: session)
      let areMet = findings.joined().allSatisfy(\.holds)
      try home.report(
        zip(waited, findings).map { one, findings in
          let failed = zip(one.conditions, findings).filter { !$1.holds }.map {
            "\($0.name) is \($1.actual), not \($1.wanted ?? $0.value)"
          }
          guard !failed.isEmpty || areMet else {
            return TargetResult(device: one.device, result: .success(Self.met(one)))
          }
          let text = areMet ? "conditions hold only after the timeout" : failed.joined(separator: "; ")
          return TargetResult(
            device: one.device, result: .failure(HomeError(.expectationFailed, text, device: one.device.name)))
        }, failingWith: .expectationFailed)
    }
  }

  /// The result for a device that meets its conditions.
  private static func met(_ one: DeviceConditions) -> (json: JSON, text: String) {
    (
      one.device.jsonNames.adding(
        "conditions",
        .array(one.conditions.map { ["name": .string($0.name), "value": .string($0.value), "holds": true] })),
      "\(one.device.label): " + one.conditions.map { "\($0.name) is \($0.value)" }.joined(separator: ", ")
    )
  }

  /// Waits until all conditions of all devices hold.
  /// - Returns: false if the timeout has elapsed.
  /// - Throws: `notFound` if a device is removed in the meantime.
  private func waitUntil(
    _ waited: [DeviceConditions], _ updates: HomeEvents, _ session: Home
  ) async throws -> Bool {
    @Sendable func hold() async throws -> Bool {
      let devices = await session.state.devices
      for one in waited where devices[one.device.id] == nil {
        throw HomeError(.notFound, "no longer in the home", device: one.device.name)
      }
      return await DeviceConditions.check(waited, in: session).joined().allSatisfy(\.holds)
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
