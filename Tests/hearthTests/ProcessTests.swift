import Foundation
import Testing

/// Runs the executable with a state directory of its own.
struct Hearth {
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  let state: String

  init(state: String = FileManager.default.temporaryDirectory.path + "/hearth-cli-" + UUID().uuidString) {
    self.state = state
  }

  /// The executable under test: `HEARTH` of the environment, for the optimized build; otherwise the one beside the test runner.
  static var path: URL? {
    if let path = ProcessInfo.processInfo.environment["HEARTH"] { return URL(filePath: path) }
    let runner = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var directory = runner.deletingLastPathComponent()
    // On some hosts the runner is inside a bundle.
    for _ in 0..<4 {
      let candidate = directory.appending(path: "hearth")
      if FileManager.default.isExecutableFile(atPath: candidate.path),
        (try? candidate.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
      {
        return candidate
      }
      directory = directory.deletingLastPathComponent()
    }
    return nil
  }

  /// Starts a command. Its output goes to files, so that it never blocks on a pipe.
  /// - Parameter environment: variables in addition to those of this process.
  func start(
    _ arguments: [String], output: URL, errors: URL, environment: [String: String] = [:]
  ) throws -> Process {
    let process = Process()
    // A separate runtime directory, so that fleets of other tests cause no warnings.
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_RUNTIME_DIR": state]) { _, new in new }
      .merging(environment) { _, new in new }
    let executable: URL = try #require(Self.path, "the executable is not beside the tests")
    process.executableURL = executable
    // Arguments after --run belong to another command.
    let own = arguments.firstIndex(of: "--run") ?? arguments.count
    let place = ["--help", "--version"].contains(arguments[0]) ? [] : ["--state", state]
    process.arguments = arguments[..<own] + place + arguments[own...]
    process.standardInput = FileHandle.nullDevice
    for file in [output, errors] {
      let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
      // Devices and pipes are not recreated.
      guard type == nil || type == .typeRegular else { continue }
      _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    return process
  }

  /// Runs a command and waits for its end.
  func callAsFunction(_ arguments: String...) throws -> Result { try run(arguments) }

  /// Runs a command and waits for its end.
  func run(_ arguments: [String]) throws -> Result {
    let base = FileManager.default.temporaryDirectory.appending(path: "hearth-out-" + UUID().uuidString)
    let (output, errors) = (base.appendingPathExtension("out"), base.appendingPathExtension("err"))
    defer {
      try? FileManager.default.removeItem(at: output)
      try? FileManager.default.removeItem(at: errors)
    }
    let process = try start(arguments, output: output, errors: errors)
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }

  func cleanUp() { try? FileManager.default.removeItem(atPath: state) }
}

@Suite("The executable", .serialized) struct ProcessTests {
  @Test(
    arguments: [
      (["nonsense"], 2), (["on"], 2), (["on", "--wrong", "x"], 2), (["level", "lamp"], 2),
      (["level", "lamp", "140%"], 2),
      (["code", "show", "123"], 2), (["code", "make", "--passcode", "11111111"], 2), (["pair"], 2),
      (["pair", "MT:", "--passcode", "1"], 2), (["decode", "ffff"], 2), (["completion", "tcsh"], 2),
      (["subscribe", "a", "--min", "5s", "--max", "2s"], 2), (["on", "lamp", "--at", "nowhere:0"], 2),
      (["on", "lamp"], 3), (["read", "lamp.onOff.onOff"], 3), (["remove", "lamp"], 3), (["rename", "a", "b"], 3),
      (["room", "remove", "Attic"], 3), (["describe", "1"], 3),
      (["--help"], 0), (["--version"], 0), (["devices"], 0), (["rooms"], 0), (["completion", "fish"], 0),
      (["code", "show", "34970112332"], 0), (["decode", "15 18"], 0),
      (["schema"], 0), (["schema", "onOff", "0x0300"], 0), (["schema", "onnOff"], 3),
      (["watch", "--since", "yesterday"], 2), (["watch", "lamp"], 3), (["watch", "--for", "0s"], 0),
      (["wait", "lamp"], 2), (["wait", "lamp", "--for", "onOff=true"], 3), (["observe", "list"], 0),
      (["observe", "add", "--run", "true"], 2), (["observe", "add", "--all"], 2),
      (["observe", "add", "--topology", "--cluster", "onOff", "--run", "true"], 2),
      (["observe", "add", "--attribute", "--device", "lamp", "--run", "true"], 3),
      (["observe", "add", "--all", "--webhook", "nowhere"], 2), (["observe", "resume", "7"], 3),
      (["observe", "remove", "7"], 3), (["home", "sync"], 0),
      (["home", "list"], 0), (["home", "primary"], 3), (["home", "primary", "Cabin"], 3),
      (["home", "remove", "Cabin"], 3), (["home", "grace"], 0), (["home", "grace", "25h"], 2),
      (["home", "grace", "soon"], 2), (["home", "cloud", "list"], 0), (["home", "cloud", "remove", "Acme"], 3),
      (["home", "cloud", "add", "Acme", "https://acme.example"], 2),
      (["home", "cloud", "add", "Acme", "https://acme.example", "--token-file", "/none"], 3),
      (["home", "cloud", "add", "Acme", "http://acme.example", "--token-file", "/proc/version"], 2),
      (["home", "add"], 2), (["room", "add", "Den", "--home", "Cabin"], 3),
    ] as [([String], Int32)])
  func exitsWithDocumentedCode(_ arguments: [String], status: Int32) throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let base = FileManager.default.temporaryDirectory.appending(path: "hearth-out-" + UUID().uuidString)
    defer {
      try? FileManager.default.removeItem(at: base)
      try? FileManager.default.removeItem(at: base.appendingPathExtension("err"))
    }
    let process = try hearth.start(
      arguments, output: base, errors: base.appendingPathExtension("err"))
    process.waitUntilExit()
    #expect(process.terminationStatus == status)
  }

  @Test func printsErrorsAsJSON() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let result = try hearth("on", "lamp", "--json")
    #expect(result.status == 3)
    #expect(result.errors.isEmpty)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(object["ok"] as? Bool == false)
    let error = try #require(object["error"] as? [String: Any])
    #expect(error["code"] as? String == "notFound")
    let usage = try hearth("level", "--json")
    #expect(usage.status == 2)
    #expect(usage.output.hasPrefix(#"{"ok":false,"error":{"code":"badArguments""#))
  }

  @Test func printsSchemaAsJSON() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let result = try hearth("schema", "levelControl", "--json")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    let data = try #require(object["data"] as? [String: Any])
    let cluster = try #require((data["clusters"] as? [[String: Any]])?.first)
    #expect(cluster["id"] as? Int == 8)
    let attributes = try #require(cluster["attributes"] as? [[String: Any]])
    let level = try #require(attributes.first)
    #expect(level["name"] as? String == "CurrentLevel")
    #expect((level["type"] as? [String: Any])?["type"] as? String == "uint8")
    #expect(try hearth("schema", "levelControl").output.hasPrefix("LevelControl 0x0008, revision 6\n"))
  }

  @Test func separatesResultsAndMessages() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let made = try hearth("code", "make", "--passcode", "20202021", "--discriminator", "3840", "--json")
    #expect(made.output.contains(#""qrCode":"MT:"#))
    #expect(made.errors.isEmpty)
    let wrong = try hearth("on", "lamp")
    #expect(wrong.output.isEmpty)
    #expect(wrong.errors.hasPrefix("hearth: "))
    #expect(try hearth("room", "add", "Attic").output == "added Attic\n")
    #expect(try hearth("rooms").output == "ROOM   DEVICES\nAttic  –\n")
  }

  @Test func storesGraceTime() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    #expect(try hearth("home", "grace").output == "0 s\n")
    #expect(try hearth("home", "grace", "30s").output == "30 s\n")
    #expect(try hearth("home", "grace", "--json").output.contains(#""data":{"graceMilliseconds":30000}"#))
    #expect(try hearth("home", "grace", "0s").output == "0 s\n")
    #expect(try hearth("home", "grace").output == "0 s\n")
  }

  @Test func managesHomesAndPrimaryHome() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    #expect(try hearth("home", "add", "Flat").output == "added Flat\n")
    #expect(try hearth("home", "add", "Cabin", "--json").output.contains(#""name":"Cabin","primary":false"#))
    #expect(try hearth("home", "add", "FLAT").status == 2)
    #expect(try hearth("home", "primary").output == "Flat\n")
    #expect(try hearth("room", "add", "Den").status == 0)
    #expect(try hearth("room", "add", "Porch", "--home", "cabin").status == 0)
    #expect(try hearth("home", "primary", "cabin").output == "Cabin is now the primary home\n")
    #expect(try hearth("home", "primary", "--json").output.contains(#""name":"Cabin","primary":true"#))
    #expect(try hearth("room", "add", "Attic").status == 0)
    #expect(
      try hearth("home", "list").output == """
        HOME   PRIMARY  ROOMS         DEVICES
        Flat   –        Den           –
        Cabin  yes      Porch, Attic  –

        """)
    let list = try hearth("home", "list", "--json").output
    #expect(list.contains(#""name":"Flat","primary":false,"rooms":["Den"],"devices":[]"#))
    #expect(try hearth("home", "rename", "cabin", "Hut").output == "Cabin is now Hut\n")
    #expect(try hearth("home", "remove", "hut", "--json").output.contains(#""name":"Hut","primaryHome":"Flat""#))
    #expect(try hearth("home", "primary").output == "Flat\n")
    #expect(try hearth("watch", "--since", "nothing").status == 2)
  }
}
