import ArgumentParser
import Home
import MatterController
import MatterModel

/// `hearth remove`.
struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Take a device out of the home.")
  @OptionGroup var home: HomeOptions
  @Flag(help: "Forget it even if it can't be told.") var force = false
  @Argument(help: "The device.", completion: .device) var device: String

  func run() async throws {
    let options = try home.controller(patience: force ? .seconds(4) : .seconds(10))
    let (device, wasTold) = try await home.output.tellingWaits {
      try await Home.remove(self.device, force: force, options)
    }
    let rest = Self.rest(of: device)
    let words =
      wasTold
      ? "removed \(device.label)" : "forgot \(device.label); it could not be told and still thinks that it is ours"
    home.output.result(
      device.jsonNames.adding("deviceWasTold", .bool(wasTold))
        .adding("remainingWays", .array(rest.map { .string("\($0)") })), words + Self.note(rest))
  }

  /// The ways by which a device stays in the home of which the node was removed.
  static func rest(of device: DeviceRecord) -> [SourceID] { device.ways.map(\.id).filter { $0.node != device.nodeID } }

  static func note(_ rest: [SourceID]) -> String {
    rest.isEmpty ? "" : "; it stays in the home, reached as \(rest.map { "\($0)" }.joined(separator: ", "))"
  }
}

extension HomeOptions {
  /// Opens the home for a command about one device.
  /// - Parameter text: how the user names it.
  func withDevice<R>(
    _ text: String, _ body: (Home, DeviceRecord) async throws -> R
  ) async throws -> R {
    try await withHome { session in try await body(session, try await session.registry.resolve(text).device) }
  }
}
