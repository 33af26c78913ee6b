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
    home.output.result(
      device.jsonNames.adding("deviceWasTold", .bool(wasTold)),
      wasTold
        ? "removed \(device.name)" : "forgot \(device.name); it could not be told and still thinks that it is ours")
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
