import Foundation
import Testing

/// A session with virtual devices and commands in separate processes on loopback.
@Suite("A session on loopback", .serialized) struct SessionTests {
  @Test(.timeLimit(.minutes(10))) func pairsControlsAndRemovesDevice() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    // A unique name, from which the codes are derived, because other runs may use the network at the same time.
    let name = "Probe " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)
    defer { fleet.stop() }

    // Discovered, and paired with its code.
    let discovered = try hearth("discover", "--json")
    #expect(discovered.status == 0)
    #expect(discovered.output.contains("\"name\":\"\(name)\""))
    let paired = try hearth("pair", fleet.code, "--name", "Lamp", "--room", "Den", "--json")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.output.contains(#""types":["Dimmable Light"]"#))
    #expect(paired.output.contains(#""step":"verifyAttestation""#))
    #expect(paired.errors.contains("connectOperationally"))

    // A subscription runs during other commands.
    let follower = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "lamp.levelControl.currentLevel", "--json")
    defer { follower.process.terminate() }
    #expect(await follower.waits(for: "\"initial\":true", times: 2))
    #expect(try hearth("on", "den/lamp").output == "Lamp: on\n")
    #expect(try hearth("level", "Lam", "40%").output == "Lamp: 40%\n")
    #expect(try hearth("read", "lamp.levelControl.currentLevel").output == "40%\n")
    #expect(try hearth("read", "1/1/8/0", "--raw").output == "102\n")
    #expect(try hearth("toggle", "lamp").output == "Lamp: off\n")
    #expect(await follower.waits(for: "\"initial\":false", times: 3))
    follower.process.interrupt()
    follower.process.waitUntilExit()
    #expect(follower.process.terminationStatus == 130)

    // Added to a group, controlled through it, and removed from it.
    #expect(try hearth("group", "add", "Crowd", "lamp").status == 3)
    #expect(try hearth("group", "create", "Crowd").output == "created group 1 (Crowd)\n")
    #expect(try hearth("group", "add", "crowd", "lamp").output == "Crowd: Den/Lamp/1\n")
    let off = try hearth("read", "lamp.onOff.onOff").output
    #expect(try hearth("group", "invoke", "1", "onOff.on").output == "Crowd: onOff.on sent\n")
    #expect(try await waits { try hearth("read", "lamp.onOff.onOff").output != off })
    #expect(try hearth("group", "invoke", "Crowd", "onOff.off").status == 0)
    #expect(try await waits { try hearth("read", "lamp.onOff.onOff").output == off })
    #expect(try hearth("group", "list").output.contains("Den/Lamp/1"))
    #expect(try hearth("group", "remove", "Crowd", "lamp").output == "Crowd: no members\n")
    // Groups do not support timed commands.
    #expect(try hearth("group", "invoke", "Crowd", "doorLock.lockDoor").status == 2)
    #expect(try hearth("group", "delete", "Crowd").status == 0)

    // Successful and refused writes and commands.
    #expect(try hearth("write", "lamp.levelControl.onLevel=50%").status == 0)
    #expect(try hearth("read", "lamp.levelControl.onLevel").output == "50%\n")
    #expect(try hearth("invoke", "lamp.levelControl.moveToLevelWithOnOff", "level=200").status == 0)
    let refused = try hearth("write", "lamp.levelControl.currentLevel=1")
    #expect(refused.status == 8)
    #expect(refused.errors.contains("UNSUPPORTED_WRITE"))
    #expect(try hearth("read", "1/1/8/0x99").status == 8)
    // One JSON object, also for no result and for a partial result.
    let nothing = try hearth("read", "1/1/77/*", "--json")
    #expect(nothing.status == 3)
    #expect(nothing.output.hasPrefix(#"{"ok":false,"#) && nothing.output.split(separator: "\n").count == 1)
    let partly = try hearth("read", "1/1/8/0", "1/1/8/0x99", "--json")
    #expect(partly.status == 10)
    #expect(partly.output.hasPrefix(#"{"ok":false,"error":{"code":"partlyFailed""#))
    #expect(try hearth("pair", fleet.code, "--timeout", "500ms").status == 3)

    // Commissioning windows.
    #expect(try hearth("share", "lamp", "--status").output == "Lamp: no window is open\n")
    let shared = try hearth("share", "lamp", "--no-qr")
    #expect(shared.status == 0)
    #expect(shared.output.contains("Manual code"))
    #expect(try hearth("share", "lamp", "--status").output.contains("an enhanced window is open, opened by fabric 1"))
    let again = try hearth("share", "lamp")
    #expect(again.status == 8)
    #expect(again.errors.contains("BUSY"))
    #expect(try hearth("share", "lamp", "--revoke").status == 0)
    #expect(try hearth("share", "lamp", "--revoke").errors.contains("WINDOW_NOT_OPEN"))
    #expect(try hearth("share", "lamp", "--basic").output.contains("the code on the device's label"))
    #expect(try hearth("share", "lamp", "--revoke").status == 0)

    // Fabrics and access control, without losing access to the device.
    #expect(try hearth("fabrics", "lamp").output.contains("(this home)"))
    #expect(try hearth("fabrics", "remove", "lamp", "1").status == 2)
    #expect(try hearth("fabrics", "remove", "lamp", "9").status == 3)
    #expect(try hearth("acl", "grant", "lamp", "operate", "--to", "77", "--endpoint", "1").status == 0)
    let list = try hearth("acl", "lamp", "--json").output
    #expect(list.contains(#""privilege":"administer""#) && list.contains(#""subjects":["77"]"#))
    #expect(try hearth("acl", "grant", "lamp", "operate", "--to", "77", "--endpoint", "1").output.contains("already"))
    let locked = try hearth("acl", "revoke", "lamp", "1")
    #expect(locked.status == 2)
    #expect(locked.errors.contains("--force"))
    #expect(try hearth("acl", "revoke", "lamp", "2").output == "Lamp: revoked operate from node 77\n")
    #expect(try hearth("acl", "revoke", "lamp", "2").status == 3)

    // A response with a cluster status.
    let none = try hearth("invoke", "lamp.groups.viewGroup", "groupID=9")
    #expect(none.status == 8)
    #expect(none.errors.contains("NOT_FOUND"))

    // Listed as online, and as offline with its last value after it has stopped.
    let online = try hearth("devices")
    #expect(online.output.contains("on 79%"))
    #expect(online.output.contains("peer"))
    #expect(try hearth("devices", "--offline", "--json").output.contains(#""data":[]"#))
    fleet.stop()
    let offline = try hearth("devices", "--timeout", "1s")
    #expect(offline.status == 0)
    #expect(offline.output.contains("(on 79%)"))
    #expect(offline.output.contains("offline"))
    #expect(try hearth("devices", "--offline", "--timeout", "1s", "--json").output.contains(#""name":"Lamp""#))
    #expect(try hearth("on", "lamp", "--timeout", "1s").status == 5)

    // Online again with its state, and removed.
    let second = try await Fleet(hearth, lamp: name)
    defer { second.stop() }
    #expect(try hearth("read", "lamp.onOff.onOff").status == 0)
    let last = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "--max", "1s")
    #expect(await last.waits(for: "onOff.onOff"))
    #expect(try hearth("remove", "lamp").output == "removed Lamp\n")
    #expect(try hearth("read", "lamp.onOff.onOff").status == 3)
    // Subscriptions to a device that another process has removed end.
    last.process.waitUntilExit()
    #expect(last.process.terminationStatus == 3 && last.errors.contains("Lamp: no longer in the home"))
    #expect(try hearth("sim", "ps", "--json").output.contains("\"fabrics\":[]"))
  }
}

/// Polls a condition for at most one minute.
/// - Returns: whether it has become true.
func waits(for condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<600 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(100))
  }
  return false
}

/// Virtual devices in a separate process.
final class Fleet: Sendable {
  /// The QR code of the first device.
  let code: String
  /// The QR codes of all devices.
  let codes: [String]
  private let process: Process

  convenience init(_ hearth: Hearth, lamp name: String, type: String = "dimmable light") async throws {
    try await self.init(hearth, definition: "devices:\n  - name: \(name)\n    type: \(type)\n")
  }

  init(_ hearth: Hearth, definition text: String) async throws {
    let state = URL(filePath: hearth.state)
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    let definition = state.appending(path: "home.yaml")
    let ready = state.appending(path: "ready")
    try? FileManager.default.removeItem(at: ready)
    try text.write(to: definition, atomically: true, encoding: .utf8)
    process = try hearth.start(
      ["run", definition.path, "--ready-file", ready.path], output: state.appending(path: "fleet.out"),
      errors: state.appending(path: "fleet.err"))
    for _ in 0..<1200 where !FileManager.default.fileExists(atPath: ready.path) && process.isRunning {
      try await Task.sleep(for: .milliseconds(50))
    }
    let shown = try hearth("sim", "ps", "--json").output
    let found = shown.split(separator: "\"qrCode\":\"").dropFirst().map { rest in
      String(rest.prefix { $0 != "\"" })
    }
    code = try #require(found.first, "no device is running: \(shown)")
    codes = found
    try #require(code.hasPrefix("MT:"), "no device is running: \(shown)")
  }

  func stop() {
    if process.isRunning { process.interrupt() }
    process.waitUntilExit()
  }
}

/// A running command and its output.
struct Follower {
  let process: Process
  private let output: URL

  init(_ hearth: Hearth, _ arguments: String...) throws { try self.init(hearth, arguments) }

  init(_ hearth: Hearth, _ arguments: [String]) throws {
    output = URL(filePath: hearth.state).appending(path: "follower-\(UUID().uuidString).out")
    process = try hearth.start(arguments, output: output, errors: output.appendingPathExtension("err"))
  }

  /// The lines of standard output so far.
  var lines: [String] {
    ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// The standard error so far.
  var errors: String { (try? String(contentsOf: output.appendingPathExtension("err"), encoding: .utf8)) ?? "" }

  /// Waits until enough lines of the output contain a text.
  /// - Returns: false if the time has elapsed.
  func waits(for text: String, times: Int = 1, within seconds: Int = 60) async -> Bool {
    for _ in 0..<(20 * seconds) {
      if lines.filter({ $0.contains(text) }).count >= times { return true }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return false
  }
}
