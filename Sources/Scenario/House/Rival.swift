internal import Home
internal import Logging
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A second administrator, who is let into a device and opens one session after the other without closing any.
struct Rival {
  let machine: any Machine
  let interfaces: InterfaceSelection
  let state: StateDirectory
  let logger: Logger

  /// - Parameters:
  ///   - home: who lets it in.
  ///   - vanish: ends the rival's controller without a word to the device.
  func visit(
    _ device: String, of home: Home, times: Int, vanish: (HomeController) async throws -> Void
  ) async throws {
    let window = try await home.share(try await home.registry.resolve(device).device, for: .seconds(180))
    let request = try window.request(for: device)
    var options = HomeController.Options(state: state, logger: logger)
    options.access = .exclusive
    options.interfaces = interfaces
    options.discovery = .builtin
    options.machine = machine
    for turn in 0..<times {
      let rival = try await Home(options)
      if turn == 0 { _ = try await rival.pair(request) }
      guard let known = try await rival.devices().list().first, let record = known.record(room: nil) else {
        throw HomeError(.notFound, "the second administrator has lost \(device)")
      }
      // The device may have no room for it: that is its affair.
      _ = try? await rival.read(record, [AttributePath(OnOff.onOff.path(on: 1))])
      try await vanish(try rival.controller)
    }
  }
}
