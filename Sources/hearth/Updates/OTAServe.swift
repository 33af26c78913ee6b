import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import MatterProtocol
import VirtualDevices

extension OTA {
  /// The failure that a provider simulates.
  struct FaultOption: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "A failure of the provider: busy, unavailable, refused, delayed, interrupted or digest.",
        discussion: "`hearth sim fault DEVICE --update` sets those of the device.", valueName: "failure"))
    var fault: String?
  }

  /// `hearth ota serve`.
  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Provide software images to the devices of the home until interrupted.",
      discussion: """
        Runs a virtual device “Software Provider”, which is a device of the home meanwhile, and announces it to all devices that \
        an image is for, or to those of --to. Uses the loopback interface only unless --interface is given.
        """)
    @OptionGroup var home: HomeOptions
    @OptionGroup var failure: FaultOption
    @Option(help: ArgumentHelp("Announce the provider to this device only; repeatable.", valueName: "device"))
    var to: [String] = []
    @Argument(help: ArgumentHelp("The images.", valueName: "file"), completion: .file(extensions: ["ota"]))
    var files: [String]

    func run() async throws {
      let images = try files.map { try NamedFile.image($0) }
      let (home, fault, names) = (home, failure.fault, to)
      try await home.withHomeUntilInterrupted(try home.options()) { session in
        let registry = await session.registry
        let named = try names.map { try registry.resolve($0).device }
        try await ProviderDevice.run(images, fault: fault, home, in: session) { provider in
          let devices =
            names.isEmpty
            ? registry.devices.filter { device in images.contains { $0.header.isFor(device) } } : named
          home.output.progress(
            "\(provider.label) provides \(images.count) image\(images.count == 1 ? "" : "s"); Ctrl-C stops it")
          for device in devices {
            do throws(HomeError) {
              try await session.announce(provider, to: device)
              home.output.progress("\(device.label): announced")
            } catch {
              home.output.failure(error.about(device))
            }
          }
          try await Task.sleep(for: .seconds(86_400 * 365))
        }
      }
    }
  }

  /// `hearth ota update`.
  struct Update: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "update", abstract: "Update the software of a device with an image.",
      discussion: """
        Runs a provider like `hearth ota serve`, announces it to the device, and waits until the device has restarted with the \
        version of the image. Uses the loopback interface only unless --interface is given.
        """)
    @OptionGroup var home: HomeOptions
    @OptionGroup var failure: FaultOption
    @Flag(help: "Announce the image even if it is not for the device.") var force = false
    @Argument(help: "The device.", completion: .device) var device: String
    @Argument(help: ArgumentHelp("The image.", valueName: "file"), completion: .file(extensions: ["ota"]))
    var file: String

    func run() async throws {
      let image = try NamedFile.image(file)
      let (home, fault, name, file, force) = (home, failure.fault, device, file, force)
      try await home.withHomeUntilInterrupted(try home.options()) { session in
        let device = try await session.registry.resolve(name).device
        let before = try await session.softwareStatus(of: device)
        let header = image.header
        guard force || header.isFor(device) else {
          throw HomeError(.badArguments, "\(file) is for another product", device: device.name)
        }
        guard force || header.isApplicable(to: before.version) else {
          throw HomeError(
            .badArguments,
            "\(file) has version \(header.softwareVersion) and does not update version \(before.version)",
            device: device.name)
        }
        let after = try await ProviderDevice.update(device, with: image, fault: fault, home, in: session)
        home.output.result(
          device.jsonNames.adding("previousVersion", .int(before.version))
            .adding("softwareVersion", .int(after.version))
            .adding("softwareVersionString", .string(after.text)),
          "\(device.label): updated from version \(before.version) to \(after.version) (\(after.text))")
      }
    }
  }
}

extension SoftwareImageHeader {
  /// Returns whether the image is for the product of a device.
  func isFor(_ device: DeviceRecord) -> Bool {
    !device.isBridged && device.identity.vendorID?.rawValue == vendorID && device.identity.productID == productID
  }
}
