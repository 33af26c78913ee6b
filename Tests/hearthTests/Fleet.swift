import Foundation
import Testing

/// Virtual devices in a separate process.
struct Fleet: Sendable {
  let process: ChildProcess
  /// The QR codes of the devices, in the order of the definition.
  let codes: [String]
  /// The UDP ports of the devices, in the order of the definition.
  let ports: [UInt16]
  /// The QR code of the first device.
  let code: String

  init(_ hearth: Hearth, lamp name: String, type: String = "dimmable light") async throws {
    try await self.init(hearth, definition: "devices:\n  - name: \(name)\n    type: \(type)\n")
  }

  /// Starts a lamp with a random code, because other tests run devices with the same name at the same time.
  static func lampWithCode(_ hearth: Hearth) async throws -> Fleet {
    let (passcode, discriminator) = (Int.random(in: 1_000_000...9_999_999), Int.random(in: 0...4095))
    return try await Fleet(
      hearth,
      definition: "devices:\n  - { name: Lamp, type: dimmable light, passcode: \(passcode), "
        + "discriminator: \(discriminator) }\n")
  }

  /// - Parameter options: further arguments of `hearth run`.
  init(_ hearth: Hearth, definition text: String, options: [String] = []) async throws {
    let state = URL(filePath: hearth.state)
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    let (definition, ready) = (state.appending(path: "home.yaml"), state.appending(path: "ready"))
    try? FileManager.default.removeItem(at: ready)
    try text.write(to: definition, atomically: true, encoding: .utf8)
    let process = try hearth.start(
      ["run", definition.path, "--ready-file", ready.path] + options, output: state.appending(path: "fleet.out"),
      errors: state.appending(path: "fleet.err"))
    #expect(await eventually { FileManager.default.fileExists(atPath: ready.path) || !process.isRunning })
    let shown = try await hearth("sim", "ps", "--json").output
    func values(_ key: String, _ isPart: (Character) -> Bool) -> [String] {
      shown.split(separator: key).dropFirst().map { String($0.prefix(while: isPart)) }
    }
    codes = values("\"qrCode\":\"") { $0 != "\"" }
    ports = values("\"port\":") { $0.isNumber }.compactMap { UInt16($0) }
    code = try #require(codes.first { $0.hasPrefix("MT:") }, "no device is running: \(shown)")
    self.process = process
  }

  func stop() async { await process.stop() }
}
