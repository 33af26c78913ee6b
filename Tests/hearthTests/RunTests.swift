import Foundation
import Testing

/// Errors and warnings of `hearth run`.
@Suite("hearth run", .serialized) struct RunTests {
  /// Writes a definition file into the state directory.
  private func file(_ hearth: Hearth, _ text: String) throws -> String {
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let path = hearth.state + "/home.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private let light = "devices:\n  - name: Refused\n    type: dimmable light\n"

  @Test func reportsAllDefinitionErrors() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let path = try file(
      hearth,
      """
      devices:
        - { name: A, type: dimable light, port: 7000 }
        - { name: B, type: outlet, port: 7000, discriminator: 5 }
        - { name: C, type: outlet, discriminator: 5 }
        - { name: D, type: outlet, port: 7000 }
      """)
    let text = try hearth("run", path)
    #expect(text.status == 12)
    #expect(text.errors.contains("\(path):2:22: found device type “dimable light”"))
    #expect(text.errors.contains("did you mean “dimmable light”?"))
    #expect(text.errors.contains("\(path):4:45: found discriminator 5"))
    #expect(text.errors.contains("\(path):5:36: found port 7000"))
    let json = try hearth("run", path, "--json")
    #expect(json.status == 12)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let error = try #require(object["error"] as? [String: Any])
    let problems = try #require(error["problems"] as? [[String: Any]])
    #expect(problems.count == 3)
    #expect(problems.first?["line"] as? Int == 2)
    #expect(problems.first?["column"] as? Int == 22)
    #expect(problems.first?["suggestions"] as? [String] == ["dimmable light"])
  }

  @Test("checks a definition and starts nothing") func check() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let path = try file(hearth, light)
    let valid = try hearth("run", path, "--check")
    #expect(valid.status == 0 && valid.output == "Home: valid, 1 device\n" && valid.errors.isEmpty, "\(valid)")
    #expect(try hearth("sim", "ps").status == 13)
    let json = try hearth("run", path, "--check", "--json").output
    #expect(
      json == #"{"ok":true,"data":{"home":"Home","devices":1,"bridged":0,"rooms":[],"clashes":[]}}"# + "\n", "\(json)")
    let wrong = try hearth("run", try file(hearth, light + "    port: 0\n"), "--check")
    #expect(wrong.status == 12 && wrong.errors.contains("home.yaml:4:11: found 0, expected a number"), "\(wrong)")
  }

  @Test("warns of devices that run already", .timeLimit(.minutes(5))) func clashes() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await Fleet(hearth, lamp: "Clash")
    defer { fleet.stop() }
    let code = try hearth("sim", "ps", "--json").output
    func number(_ key: String) -> Substring {
      (code.split(separator: "\"\(key)\":", maxSplits: 1).last ?? "").prefix { $0.isNumber }
    }
    // The same name in another process, and another name with the same code.
    let same = try file(hearth, "devices:\n  - { name: Clash, type: on/off light }\n")
    let sameID = try hearth("run", same, "--check")
    #expect(
      sameID.errors.hasPrefix("hearth: warning: Clash: has the unique id of Clash, which runs in process "), "\(sameID)"
    )
    // The state of the device is also in use.
    let refused = try hearth("run", same)
    #expect(refused.status == 2 && refused.errors.contains("has the unique id of Clash"), "\(refused)")
    // A fleet with another state directory, of the same user.
    let base = FileManager.default.temporaryDirectory.appending(path: "hearth-clash-" + UUID().uuidString)
    let (output, errors) = (base.appendingPathExtension("out"), base.appendingPathExtension("err"))
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    let elsewhere = Hearth()
    defer { elsewhere.cleanUp() }
    let process = try elsewhere.start(
      ["run", "--check", same], output: output, errors: errors, environment: ["XDG_RUNTIME_DIR": hearth.state])
    process.waitUntilExit()
    #expect(try String(contentsOf: errors, encoding: .utf8).contains("warning: Clash: has the unique id of Clash"))
    let other = try hearth(
      "run", "--check",
      try file(
        hearth,
        "devices:\n  - { name: B, type: plug, passcode: \(number("passcode")), discriminator: \(number("discriminator")) }\n"
      ))
    #expect(other.status == 0 && other.errors.contains("warning: B: has the setup code of Clash"), "\(other)")
    let free = try hearth("run", "--check", try file(hearth, "devices:\n  - { name: C, type: plug }\n"))
    #expect(free.status == 0 && free.errors.isEmpty, "\(free)")
  }

  @Test func rejectsUnusableOptions() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let path = try file(hearth, light)
    for check in [[], ["--check"]] {
      let interface = try hearth.run(["run", path, "--interface", "nowhere0"] + check)
      #expect(interface.status == 2, "\(interface)")
      #expect(interface.errors.contains("there is no network interface 'nowhere0'"))
      #expect(try hearth.run(["run", path, "--mdns", "avahi"] + check).status == 2)
      #expect(try hearth.run(["run", path, "--address-book", hearth.state + "/none"] + check).status != 0)
    }
    #expect(try hearth("run", path, "--mdns", "pigeons").status == 2)
    #expect(try hearth("run", hearth.state + "/none.yaml").status == 3)
  }

  @Test func reportsUnusableStateDirectory() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    // Not even root can create a directory below a file.
    try light.write(toFile: hearth.state, atomically: true, encoding: .utf8)
    let result = try Hearth(state: hearth.state + "/state")("run", hearth.state)
    #expect(result.status == 1)
    #expect(result.errors.contains("choose another directory with --state"))
    #expect(!result.errors.contains("NSUnderlyingError"))
  }

  @Test func reportsPortInUse() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(descriptor, pointer, length)
        _ = getsockname(descriptor, pointer, &length)
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    let result = try hearth("run", try file(hearth, light), "--port-base", "\(port)")
    #expect(result.status == 1)
    #expect(result.errors.contains("Refused: UDP port \(port) is in use on 127.0.0.1"))
    #expect(result.errors.contains("--port-base"))
  }
}
