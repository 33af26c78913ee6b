import Foundation
import Testing

/// Errors and warnings of `hearth run`.
@Suite("hearth run", .serialized, .processes) struct RunTests {
  /// Writes a definition file into the state directory.
  private func file(_ hearth: Hearth, _ text: String) throws -> String {
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let path = hearth.state + "/home.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private let light = "devices:\n  - name: Refused\n    type: dimmable light\n"

  @Test func reportsAllDefinitionErrors() async throws {
    let hearth = Hearth()
    let path = try file(
      hearth,
      """
      devices:
        - { name: A, type: dimable light, port: 7000 }
        - { name: B, type: outlet, port: 7000, discriminator: 5 }
        - { name: C, type: outlet, discriminator: 5 }
        - { name: D, type: outlet, port: 7000 }
      """)
    let text = try await hearth("run", path)
    #expect(text.status == 12)
    #expect(text.errors.contains("\(path):2:22: found device type “dimable light”"))
    #expect(text.errors.contains("did you mean “dimmable light”?"))
    #expect(text.errors.contains("\(path):4:45: found discriminator 5"))
    #expect(text.errors.contains("\(path):5:36: found port 7000"))
    let json = try await hearth("run", path, "--json")
    #expect(json.status == 12)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let error = try #require(object["error"] as? [String: Any])
    let problems = try #require(error["problems"] as? [[String: Any]])
    #expect(problems.count == 3)
    #expect(problems.first?["line"] as? Int == 2)
    #expect(problems.first?["column"] as? Int == 22)
    #expect(problems.first?["suggestions"] as? [String] == ["dimmable light"])
  }

  @Test("checks a definition and starts nothing") func check() async throws {
    let hearth = Hearth()
    let path = try file(hearth, light)
    let valid = try await hearth("run", path, "--check")
    #expect(valid.status == 0 && valid.output == "Home: valid, 1 device\n" && valid.errors.isEmpty, "\(valid)")
    #expect(try await hearth("sim", "ps").status == 13)
    let json = try await hearth("run", path, "--check", "--json").output
    #expect(
      json == #"{"ok":true,"data":{"home":"Home","devices":1,"bridged":0,"parts":0,"rooms":[],"clashes":[]}}"# + "\n",
      "\(json)")
    let wrong = try await hearth("run", try file(hearth, light + "    port: 0\n"), "--check")
    #expect(wrong.status == 12 && wrong.errors.contains("home.yaml:4:11: found 0, expected a number"), "\(wrong)")
  }

  @Test("refuses a port base with too few ports after it") func portBase() async throws {
    let hearth = Hearth()
    let path = try file(hearth, light + "    count: 3\n")
    let highest = try await hearth("run", path, "--check", "--port-base", "65533")
    #expect(highest.status == 0, "\(highest)")
    let higher = try await hearth("run", path, "--check", "--port-base", "65534")
    #expect(higher.status == 2 && higher.errors.contains("expected at most 65533"), "\(higher)")
  }

  @Test("warns of devices that run already", .timeLimit(.minutes(5))) func clashes() async throws {
    let hearth = Hearth()
    _ = try await Fleet(hearth, lamp: "Clash")
    let code = try await hearth("sim", "ps", "--json").output
    func number(_ key: String) -> Substring {
      (code.split(separator: "\"\(key)\":", maxSplits: 1).last ?? "").prefix { $0.isNumber }
    }
    // The same name in another process, and another name with the same code.
    let same = try file(hearth, "devices:\n  - { name: Clash, type: on/off light }\n")
    let sameID = try await hearth("run", same, "--check")
    #expect(
      sameID.errors.hasPrefix("hearth: warning: Clash: has the unique id of Clash, which runs in process "), "\(sameID)"
    )
    // The state of the device is also in use.
    let refused = try await hearth("run", same)
    #expect(refused.status == 2 && refused.errors.contains("has the unique id of Clash"), "\(refused)")
    // A fleet with another state directory, of the same user.
    let elsewhere = try await Hearth().run(["run", "--check", same], environment: ["XDG_RUNTIME_DIR": hearth.state])
    #expect(elsewhere.errors.contains("warning: Clash: has the unique id of Clash"), "\(elsewhere)")
    let other = try await hearth(
      "run", "--check",
      try file(
        hearth,
        "devices:\n  - { name: B, type: plug, passcode: \(number("passcode")), discriminator: \(number("discriminator")) }\n"
      ))
    #expect(other.status == 0 && other.errors.contains("warning: B: has the setup code of Clash"), "\(other)")
    let free = try await hearth("run", "--check", try file(hearth, "devices:\n  - { name: C, type: plug }\n"))
    #expect(free.status == 0 && free.errors.isEmpty, "\(free)")
  }

  @Test func rejectsUnusableOptions() async throws {
    let hearth = Hearth()
    let path = try file(hearth, light)
    for check in [[], ["--check"]] {
      let interface = try await hearth.run(["run", path, "--interface", "nowhere0"] + check)
      #expect(interface.status == 2, "\(interface)")
      #expect(interface.errors.contains("there is no network interface 'nowhere0'"))
      #expect(try await hearth.run(["run", path, "--mdns", "avahi"] + check).status == 2)
      #expect(try await hearth.run(["run", path, "--address-book", hearth.state + "/none"] + check).status != 0)
    }
    #expect(try await hearth("run", path, "--mdns", "pigeons").status == 2)
    #expect(try await hearth("run", hearth.state + "/none.yaml").status == 3)
    for option in ["--ready-file", "--app-pipe"] {
      let unnamed = try await hearth("run", path, option, "")
      #expect(unnamed.status == 2 && unnamed.errors.contains("expected the name of a file"), "\(unnamed)")
    }
    for (option, file) in [("--ready-file", "/nonexistent/ready"), ("--app-pipe", "/nonexistent/pipe")] {
      for check in [["--check"], []] {
        let refused = try await hearth.run(["run", path, option, file] + check)
        #expect(
          refused.status == 2 && refused.errors.contains("\(file) can't be written: no such directory"), "\(refused)")
      }
    }
  }

  @Test func reportsUnusableStateDirectory() async throws {
    let hearth = Hearth()
    // Not even root can create a directory below a file.
    try light.write(toFile: hearth.state, atomically: true, encoding: .utf8)
    let result = try await Hearth(state: hearth.state + "/state")("run", hearth.state)
    #expect(result.status == 2)
    #expect(result.errors.contains("--state: \(hearth.state) is a file; expected a directory"))
    #expect(!result.errors.contains("NSUnderlyingError"))
  }

  @Test func reportsPortInUse() async throws {
    let hearth = Hearth()
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
    let result = try await hearth("run", try file(hearth, light), "--port-base", "\(port)")
    #expect(result.status == 1)
    #expect(result.errors.contains("Refused: UDP port \(port) is in use on 127.0.0.1"))
    #expect(result.errors.contains("--port-base"))
  }
}
