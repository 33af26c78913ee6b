import ArgumentParser
import HearthHome
import HomeText
import MatterController
import MatterModel

/// `hearth remove`.
struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove devices from the home.",
    discussion: """
      A room stands for all of its devices; the room itself remains. A bridged device is removed with its bridge only.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Remove a device even if it is unreachable or refuses.") var force = false
  @OptionGroup var arguments: TargetArguments

  func run() async throws {
    let options = try home.options(timeout: force ? .seconds(4) : .seconds(10))
    let (targets, force) = (arguments.targets, force)
    let results = try await home.withHome(options) { session throws(HomeError) in
      try await session.remove(targets, force: force)
    }
    try home.report(
      results.map { device, result in
        TargetResult(
          device: device,
          result: result.map { removal in
            let rest = Self.rest(of: device)
            return (
              device.jsonNames.adding("deviceWasTold", .bool(removal == .confirmed))
                .adding("removal", .string(removal.rawValue))
                .adding("remainingWays", .array(rest.map { .string("\($0)") })),
              Self.words(device, removal) + Self.note(rest)
            )
          })
      })
  }

  private static func words(_ device: DeviceRecord, _ removal: Removal) -> String {
    switch removal {
    case .confirmed: "removed \(device.label)"
    case .notMember: "removed \(device.label); it had already left this home's fabric"
    case .unconfirmed: "removed \(device.label); it was not reached and may still be in this home's fabric"
    }
  }

  /// Returns the sources through which a device remains in the home after its node was removed.
  static func rest(of device: DeviceRecord) -> [SourceID] {
    device.entry.sources.map(\.id).filter { $0.node != device.nodeID }
  }

  static func note(_ rest: [SourceID]) -> String {
    rest.isEmpty ? "" : "; it remains in the home as \(rest.map { "\($0)" }.joined(separator: ", "))"
  }
}

extension HomeOptions {
  /// Opens the home for a command about one device.
  /// - Parameter text: the target as the user wrote it.
  func withDevice<R>(
    _ text: String, _ body: (Home, DeviceRecord) async throws -> R
  ) async throws -> R {
    try await withHome { session in try await body(session, try await session.registry.resolve(text).device) }
  }
}
