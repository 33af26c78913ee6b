import ArgumentParser
import Foundation
import HearthHome
import Testing

@testable import hearth

@Suite("Errors in command lines", .processes) struct UsageErrorTests {
  @Test(
    "has the style of all other errors",
    arguments: [
      ("Unknown option '--foo'. Did you mean '--for'?", "unknown option '--foo'; did you mean '--for'?"),
      (
        "The value '8x' is invalid for '--timeout <time>'",
        "the value '8x' is invalid for '--timeout <time>': expected a time such as 2s, 150ms, 3m, 1h or 30d"
      ),
      ("Missing expected argument '<targets> ...'", "missing expected argument '<targets> ...'"),
      ("--over: expected at most 6553 s", "--over: expected at most 6553 s"), ("PIN is wrong.", "PIN is wrong"),
    ])
  func style(_ message: String, expected: String) {
    #expect(UsageError.error(message).message == expected && UsageError.error(message).code == .badArguments)
  }

  @Test(
    "names an unknown command and near ones",
    arguments: [
      (["devcies"], "unknown command “devcies”", ["devices"]),
      (["sim", "prss"], "unknown command “sim prss”", ["sim press"]),
      (["zzzz", "--json"], "unknown command “zzzz”", []), (["help", "foo"], "unknown command “foo”", []),
      (["help", "sim", "prss"], "unknown command “sim prss”", ["sim press"]),
    ])
  func unknownCommand(_ arguments: [String], message: String, candidates: [String]) {
    let error = UsageError.unknownCommand(arguments)
    #expect(error?.message == message && error?.candidates == candidates)
  }

  @Test("--state names a directory, also in its parents", arguments: ["", "/x", "/x/y"])
  func checksState(_ rest: String) throws {
    let file = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
    try Data().write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    let options = try GlobalOptions.parse(["--state", file + rest])
    let error = #expect(throws: HomeError.self) { try options.stateDirectory }
    #expect(error?.code == .badArguments && error?.message == "--state: \(file) is a file; expected a directory")
    #expect(try GlobalOptions.parse(["--state", file + "x/y"]).stateDirectory.root == file + "x/y")
  }

  @Test(arguments: [["devices", "--foo"], ["on"], ["acl", "kitchen"], ["help"], ["help", "sim", "press"]])
  func acceptsKnownCommand(_ arguments: [String]) {
    #expect(UsageError.unknownCommand(arguments) == nil)
  }

  @Test(
    "names an unknown option before a missing argument, and near ones",
    arguments: [
      (["on", "--foo"], "unknown option '--foo'", []), (["on", "lamp", "--jsn"], "unknown option '--jsn'", ["--json"]),
      (["wait", "lamp", "--fro=onOff=true"], "unknown option '--fro'", ["--for"]),
      (["sim", "ps", "-x"], "unknown option '-x'", []),
    ] as [([String], String, [String])])
  func unknownOption(_ arguments: [String], message: String, candidates: [String]) {
    let error = UsageError.unknownOption(arguments)
    #expect(error?.message == message && error?.candidates == candidates)
  }

  @Test(arguments: [["on", "--json", "-vv"], ["level", "lamp", "-5"], ["on", "--", "--foo"], ["--version"]])
  func knownOption(_ arguments: [String]) {
    #expect(UsageError.unknownOption(arguments) == nil)
  }

  @Test("commands of the hub's machine have no --hub")
  func localCommands() {
    for command in [["hub", "run"], ["hub", "status"], ["run"], ["test"], ["observe", "list"]] {
      #expect(UsageError.unknownOption(command + ["--hub", "here"])?.message == "unknown option '--hub'", "\(command)")
    }
    #expect(UsageError.unknownOption(["pair", "--hub", "here"]) == nil)
    #expect(UsageError.unknownOption(["sim", "ps", "--hub", "here"]) == nil)
  }

  @Test("suggests three names at most") func suggestions() {
    let error = HomeError(.notFound, "there is no “x”", candidates: ["a", "b", "c", "d"])
    #expect(Output.sentence(error) == "there is no “x”; did you mean “a”, “b” or “c”?")
    #expect(Output.object(error).description.hasSuffix(#""candidates":["a","b","c"]}"#))
    let ambiguous = HomeError(.ambiguousTarget, "“x” may be any", candidates: ["a", "b", "c", "d"])
    #expect(Output.object(ambiguous).description.hasSuffix(#""candidates":["a","b","c","d"]}"#))
  }

  @Test(
    "counts -v",
    arguments: [
      (["on", "-vv"], 2), (["-v", "on", "--verbose"], 2), (["on", "-qv"], 1), (["on", "--", "-vv"], 0),
      (["--over", "2s"], 0),
    ])
  func verbosity(_ arguments: [String], count: Int) {
    #expect(Verbosity.count(in: arguments) == count)
  }

  @Test(
    "prints one error for an invalid command line", .serialized,
    arguments: [
      ["frobnicate"], ["sim", "frobnicate"], ["on"], ["devices", "--frobnicate"],
      ["sim", "net", "lamp", "--latency", "80"], ["remove"], ["level", "lamp"], ["help", "frobnicate"],
      ["on", "--foo"],
    ])
  func processes(_ arguments: [String]) async throws {
    let hearth = Hearth()
    let plain = try await hearth.run(arguments)
    #expect(plain.status == 2 && plain.output.isEmpty, "\(plain)")
    let first = plain.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.hasPrefix("hearth: ") && !first.hasSuffix("."), "\(plain)")
    #expect(!plain.errors.contains("Error:"), "\(plain)")
    let json = try await hearth.run(arguments + ["--json"])
    #expect(json.status == 2 && json.errors.isEmpty, "\(json)")
    #expect(json.output.hasPrefix(#"{"ok":false,"error":{"code":"badArguments","message":""#), "\(json)")
    #expect(json.output.split(separator: "\n").count == 1, "\(json)")
  }

  @Test("a latency without a unit suggests milliseconds") func latency() async throws {
    let hearth = Hearth()
    let result = try await hearth("sim", "net", "lamp", "--latency", "80")
    #expect(result.errors.contains("expected a time with a unit, such as 80ms"), "\(result)")
  }

  @Test(
    "-vv prints details for commands without a home",
    arguments: [["types"], ["code", "show", "34970112332"], ["rooms"]])
  func tracing(_ arguments: [String]) async throws {
    let hearth = Hearth()
    let quiet = try await hearth.run(arguments)
    let result = try await hearth.run(arguments + ["-vv"])
    #expect(result.status == 0 && result.output == quiet.output, "\(result)")
    #expect(result.errors.contains("hearth: exit code 0 after "), "\(result)")
  }

  @Test("stores existing interfaces only") func interfaces() async throws {
    let hearth = Hearth()
    #expect(try await hearth("home", "interface").output == "loopback only\n")
    #expect(try await hearth("home", "interface", "lo").output == "lo\n")
    let wrong = try await hearth("home", "interface", "nowhere0")
    #expect(wrong.status == 2 && wrong.errors.hasPrefix("hearth: there is no network interface 'nowhere0'"), "\(wrong)")
    #expect(try await hearth("home", "interface").output == "lo\n")
    #expect(try await hearth("home", "interface", "none").output == "loopback only\n")
    #expect(NetworkOptions.names("eth0, wlan0 lo") == ["eth0", "wlan0", "lo"])
  }
}
