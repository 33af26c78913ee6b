import Foundation
import Testing

/// `hearth run` where it can't: what it says, and how it ends.
@Suite("hearth run, refusing", .serialized) struct RunTests {
  /// A definition file of its own, removed with the state.
  private func file(_ hearth: Hearth, _ text: String) throws -> String {
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let path = hearth.state + "/home.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private let light = "devices:\n  - name: Refused\n    type: dimmable light\n"

  @Test func aBadDefinitionNamesEveryPlace() throws {
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

  @Test func whatCannotBeUsedIsABadArgument() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let path = try file(hearth, light)
    let interface = try hearth("run", path, "--interface", "nowhere0")
    #expect(interface.status == 2)
    #expect(interface.errors.contains("there is no network interface 'nowhere0'"))
    #expect(try hearth("run", path, "--mdns", "pigeons").status == 2)
    #expect(try hearth("run", hearth.state + "/none.yaml").status == 3)
  }

  @Test func aStateDirectoryThatCannotBeIsNamed() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    // Not even root can make a directory below a file: the definition is where the state's should be.
    try light.write(toFile: hearth.state, atomically: true, encoding: .utf8)
    let result = try Hearth(state: hearth.state + "/state")("run", hearth.state)
    #expect(result.status == 1)
    #expect(result.errors.contains("choose another directory with --state"))
    #expect(!result.errors.contains("NSUnderlyingError"))
  }

  @Test func aPortThatIsTakenIsNamed() throws {
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
