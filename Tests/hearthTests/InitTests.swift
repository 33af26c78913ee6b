import Foundation
import Testing

@testable import hearth

/// `hearth init` and `hearth doctor`.
@Suite("hearth init and doctor", .serialized) struct InitTests {
  @Test("writes a definition that can be run", arguments: ["light", "bridge", "house"])
  func definition(_ kind: String) throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/\(kind).yaml"
    let printed = try hearth("init", kind)
    #expect(printed.status == 0 && printed.output.contains("\n# ") || printed.output.hasPrefix("# "))
    #expect(try hearth("init", kind, file).status == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == printed.output)
    let check = try hearth("run", file, "--check")
    #expect(check.status == 0 && check.output.contains("valid, "), "\(check)")
  }

  @Test("never overwrites a file") func existing() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/home.yaml"
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    let refused = try hearth("init", "house", file)
    #expect(refused.status == 2 && refused.errors == "hearth: \(file): exists; choose another name\n", "\(refused)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(try hearth("init", "house", hearth.state + "/none/home.yaml").status == 2)
    #expect(try hearth("init", "castle").status == 2)
  }

  @Test("finds nothing wrong with loopback") func fine() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let result = try hearth("doctor")
    #expect(result.status == 0, "\(result)")
    let subjects = result.output.split(separator: "\n").dropFirst().compactMap { $0.split(separator: "  ").first }
    #expect(
      Set(subjects.map { String($0) }).isSuperset(of: [
        "interfaces", "multicast", "avahi", "descriptors", "clock", "state directory", "ports",
      ]), "\(result)")
  }

  @Test("reports problems and what to do about them") func problems() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    try FileManager.default.createDirectory(
      atPath: hearth.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: hearth.state)
    let result = try hearth("doctor", "--interface", "nowhere0")
    #expect(result.status == 11 && result.errors == "hearth: 2 problems found\n", "\(result)")
    #expect(result.output.contains("can be written by other users") && result.output.contains("chmod 700 "), "\(result)")
    #expect(result.output.contains("there is no network interface 'nowhere0'"), "\(result)")
    let json = try hearth("doctor", "--interface", "nowhere0", "--json")
    #expect(json.status == 11 && json.output.hasPrefix(#"{"ok":false,"error":{"code":"expectationFailed""#), "\(json)")
    #expect(json.output.contains(#""check":"state directory","result":"problem""#), "\(json)")
  }
}
