import Foundation
import Runtime
import Testing
import VirtualDevices

@testable import hearth

/// `hearth init` and `hearth doctor`.
@Suite("hearth init and doctor", .serialized, .processes) struct InitTests {
  @Test("writes an example that can be run", arguments: ExampleDefinition.allCases.map(\.rawValue) + ["Door Lock"])
  func definition(_ kind: String) async throws {
    let hearth = Hearth()
    let folder = hearth.state + "/devices/"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = folder + "a b.yaml"
    let printed = try await hearth("init", kind)
    #expect(printed.status == 0 && printed.output.hasPrefix("# ") && printed.output.contains("hearth run FILE"))
    #expect(!printed.output.contains("devices/"))
    #expect(try await hearth("init", kind, file).status == 0)
    let written = try String(contentsOfFile: file, encoding: .utf8)
    #expect(written.replacing(folder, with: "") == printed.output.replacing("FILE", with: "'a b.yaml'"))
    let check = try await hearth("run", file, "--check")
    #expect(check.status == 0 && check.output.contains("valid, "), "\(check)")
  }

  @Test("has an example of each type") func types() {
    for kind in DeviceKind.all { #expect(ExampleDefinition(argument: kind.name) != nil, "\(kind.name)") }
    #expect(ExampleDefinition(argument: "door lock") == .lock && ExampleDefinition(argument: "castle") == nil)
    #expect(ExampleDefinition(argument: "generic switch") == .switches)
    #expect(ExampleDefinition(argument: "humidity sensor") == .sensors)
    for name in ["on/off light", "aggregator"] { #expect(ExampleDefinition(argument: name) == .bridge) }
  }

  @Test("writes the files that an example uses") func otherFiles() async throws {
    let hearth = Hearth()
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let (file, other) = (hearth.state + "/maker.yaml", hearth.state + "/acme-fan.cluster")
    #expect(try await hearth("init", "maker", file).status == 0)
    let declaration = try String(contentsOfFile: other, encoding: .utf8)
    #expect(declaration.contains("AcmeFan"))
    // The same contents are no conflict.
    #expect(try await hearth("init", "maker", hearth.state + "/second.yaml").status == 0)
    try "mine".write(toFile: other, atomically: true, encoding: .utf8)
    let third = hearth.state + "/third.yaml"
    let refused = try await hearth("init", "maker", third)
    #expect(refused.status == 2 && refused.errors.contains("acme-fan.cluster: exists"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: third))
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
  }

  @Test("never overwrites a file") func existing() async throws {
    let hearth = Hearth()
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/home.yaml"
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    let refused = try await hearth("init", "house", file)
    #expect(refused.status == 2 && refused.errors == "hearth: \(file): exists; choose another name\n", "\(refused)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(try await hearth("init", "house", hearth.state + "/none/home.yaml").status == 2)
    let unknown = try await hearth("init", "castle")
    #expect(unknown.status == 2 && unknown.errors.contains("or a type of `hearth types`"), "\(unknown)")
    let mistyped = try await hearth("init", "temperature sensr")
    #expect(mistyped.status == 2 && mistyped.errors.contains("did you mean “temperature sensor”?"), "\(mistyped)")
    // A shell can run the printed command.
    let spaced = hearth.state + "/my home.yaml"
    let written = try await hearth("init", "house", spaced)
    #expect(written.status == 0 && written.output.contains("start it with `hearth run '\(spaced)'`"), "\(written)")
  }

  /// The output of `hearth doctor --json`.
  private struct Diagnosis {
    let status: Int32?
    let problems: Int
    /// Results by check.
    var results: [String: Set<String>] = [:]
    var text: String

    init(_ result: Hearth.Result) throws {
      (status, text) = (result.status, result.output)
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      let data = try #require(object?["data"] as? [String: Any], "\(result)")
      problems = data["problems"] as? Int ?? -1
      for check in data["checks"] as? [[String: Any]] ?? [] {
        results[check["check"] as? String ?? "", default: []].insert(check["result"] as? String ?? "")
      }
    }
  }

  @Test("checks loopback and a new state directory without a problem") func fine() async throws {
    let hearth = Hearth()
    let found = try Diagnosis(try await hearth("doctor", "--json"))
    #expect(
      Set(found.results.keys).isSuperset(of: [
        "interfaces", "multicast", "avahi", "descriptors", "clock", "state directory", "home", "ports",
      ]), "\(found)")
    for subject in ["interfaces", "state directory", "home", "ports", "avahi"] {
      #expect(found.results[subject]?.contains("problem") == false, "\(found)")
    }
    // Other checks may fail on this host.
    #expect(found.status == (found.problems == 0 ? 0 : 11), "\(found)")
  }

  @Test("reports problems and what to do about them") func problems() async throws {
    let hearth = Hearth()
    try FileManager.default.createDirectory(
      atPath: hearth.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: hearth.state)
    let result = try await hearth("doctor", "--interface", "nowhere0")
    #expect(result.status == 11 && result.errors.hasSuffix(" problems found\n"), "\(result)")
    #expect(result.output.contains("can be written by other users"), "\(result)")
    #expect(result.output.contains("chmod 700 "), "\(result)")
    #expect(result.output.contains("there is no network interface 'nowhere0'"), "\(result)")
    let json = try await hearth("doctor", "--interface", "nowhere0", "--json")
    #expect(json.status == 11 && json.output.hasPrefix(#"{"ok":false,"error":{"code":"expectationFailed""#), "\(json)")
    let found = try Diagnosis(json)
    #expect(found.problems >= 2 && result.errors == "hearth: \(found.problems) problems found\n", "\(found)")
    #expect(found.results["state directory"] == ["problem"] && found.results["interfaces"] == ["problem"], "\(found)")
  }

  @Test("says whether the clock is synchronized") func clock() {
    func check(_ synchronization: HostDiagnosis.ClockSynchronization) -> HostCheck {
      HostDiagnosis.clock(executable: "/nowhere", synchronization: synchronization)
    }
    #expect(check(.kept(error: .milliseconds(12))).finding.hasSuffix("Z, synchronized (error at most 12 ms)"))
    #expect(check(.kept(error: .zero)).level == .ok && check(.unknown).level == .ok)
    let none = check(.none)
    #expect(
      none.level == .note && none.finding.hasSuffix(", not synchronized")
        && none.advice?.contains("time service") == true)
  }
}
