import ArgumentParser
import Home
import MatterController
import MatterModel

/// `hearth remove`.
struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Take a device out of the home.")
  @OptionGroup var home: HomeOptions
  @Flag(help: "Forget it even if it can't be told.") var force = false
  @Argument(help: "The device.") var device: String

  func run() async throws {
    let options = try home.controller(patience: force ? .seconds(4) : .seconds(10))
    let (device, wasTold) = try await HomeSession.remove(device, force: force, options)
    home.output.result(
      device.jsonNames.adding("deviceWasTold", .bool(wasTold)),
      wasTold
        ? "removed \(device.name)" : "forgot \(device.name); it could not be told and still thinks that it is ours")
  }
}

/// `hearth share`.
struct Share: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Open a commissioning window for another controller, and print its codes.")
  @OptionGroup var home: HomeOptions
  @Option(name: .customLong("for"), help: ArgumentHelp("How long: 3 to 15 minutes.", valueName: "time"))
  var time = TimeSpan(.seconds(180))
  @Flag(name: .customLong("no-qr"), help: "Don't draw the QR code.") var hidesPicture = false
  @Argument(help: "The device.") var device: String

  func validate() throws {
    guard (Duration.seconds(180)...Duration.seconds(900)).contains(time.duration) else {
      throw ValidationError("a window is open for 3 to 15 minutes")
    }
  }

  func run() async throws {
    try await home.withHome { session in
      let device = try session.registry.resolve(device).device
      let window = try await session.share(device, for: time.duration)
      let report = window.code.map { SetupCodeReport($0) }
      home.output.result(
        device.jsonNames.adding("seconds", .integer(window.duration.components.seconds))
          .adding("code", report?.json ?? .null),
        "\(device.name) can be commissioned for \(TimeSpan.text(window.duration))\n"
          + (report?.text(picture: !hidesPicture) ?? "with the code on its label"))
    }
  }
}
