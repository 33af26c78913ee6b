import ArgumentParser
import HearthHome
import MatterClusters
import MatterController
import MatterModel

/// `hearth share`.
struct Share: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Open a commissioning window for another controller and print its codes.",
    discussion: """
      An enhanced window has its own passcode, which is invalid once the window is closed. A basic window (--basic) uses the \
      passcode on the device's label.
      """)
  @OptionGroup var home: HomeOptions
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("The time that the window stays open: 3 to 15 minutes.", valueName: "time"))
  var time = TimeSpan(.seconds(180))
  @Flag(help: "Use the code on the device's label.") var basic = false
  @Flag(help: "Show whether a window is open.") var status = false
  @Flag(help: "Close the window.") var revoke = false
  @Flag(name: .customLong("no-qr"), help: "Don't draw the QR code.") var hidesPicture = false
  @Argument(help: "The device.", completion: .device) var device: String

  func validate() throws {
    guard (Duration.seconds(180)...Duration.seconds(900)).contains(time.duration) else {
      throw ValidationError("--for: expected 3 to 15 minutes")
    }
    guard [basic, status, revoke].count(where: { $0 }) <= 1 else {
      throw ValidationError("--basic, --status and --revoke are mutually exclusive")
    }
  }

  func run() async throws {
    try await home.withDevice(device) { session, device in
      if status {
        let window = try await session.window(of: device)
        return home.output.result(json(window, device), "\(device.label): \(text(window))")
      }
      if revoke {
        try await session.closeWindow(of: device)
        return home.output.result(device.jsonNames.adding("window", "windowNotOpen"), "\(device.label): window closed")
      }
      let window = try await session.share(device, for: time.duration, isEnhanced: !basic)
      let report = window.code.map { SetupCodeReport($0) }
      home.output.result(
        device.jsonNames.adding("seconds", .int(window.duration.components.seconds))
          .adding("code", report?.json ?? .null),
        "\(device.label) can be commissioned for \(TimeSpan.text(window.duration))\n"
          + (report?.text(picture: !hidesPicture) ?? "with the code on the device's label"))
    }
  }

  private func json(_ window: WindowState, _ device: DeviceRecord) -> JSON {
    device.jsonNames.adding("window", .string(NormalizedName.camelCase("\(window.status)")))
      .adding("fabricIndex", .optional(window.fabricIndex?.rawValue))
      .adding("vendorID", .optional(window.vendorID?.rawValue))
  }

  private func text(_ window: WindowState) -> String {
    switch window.status {
    case .windowNotOpen: "no window is open"
    case .enhancedWindowOpen: "an enhanced window is open" + opener(window)
    case .basicWindowOpen: "a basic window is open" + opener(window)
    default: "\(window.status)"
    }
  }

  private func opener(_ window: WindowState) -> String {
    window.fabricIndex.map { ", opened by fabric \($0)" } ?? ""
  }
}
