import Foundation
import Testing

/// A device with a cluster of its manufacturer, and a controller that knows the names of the cluster.
@Suite("Clusters of manufacturers on loopback", .serialized, .processes) struct MakerTests {
  private static let cluster = """
    cluster 0xFFF1FC60 TestFan "Test Fan" revision 1
    attribute 0x0000 Speed  uint8  max 100 nonvolatile write operate = 10
    attribute 0x0001 Code   uint8  read administer = 7
    command 0x00 GoToSpeed
      0 Speed uint8
      set Speed = field.Speed
      emit Requested Speed = field.Speed
    command 0x01 Ask -> Answer
      answer Speed = attribute.Speed
    response 0x02 Answer
      0 Speed uint8
    event 0x00 Requested info
      0 Speed uint8

    """

  @Test(.timeLimit(.minutes(10))) func controlsDeviceByName() async throws {
    let hearth = Hearth()
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/test-fan.cluster"
    try Self.cluster.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await hearth("home", "clusters").output == "none\n")
    #expect(try await hearth("home", "clusters", "add", file).output == "added TestFan\n")
    let name = "Fan " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(
      hearth,
      definition:
        "clusters: [test-fan.cluster]\ndevices:\n  - { name: \(name), type: fan, clusters: [TestFan] }\n")
    let paired = try await hearth("pair", fleet.code, "--name", "Fan")
    #expect(paired.status == 0, "\(paired.errors)")

    let watch = try Follower(hearth, "watch", "--json")
    #expect(await watch.waits(for: #""connectivityState":"online""#))
    #expect(try await hearth("read", "fan.testFan.speed").output.contains("10"))
    #expect(try await hearth("invoke", "fan.testFan.goToSpeed", "speed=40").status == 0)
    #expect(await watch.waits(for: #""cluster":"testFan","attribute":"speed","path":"1/1/4294048864/0","value":40"#))
    #expect(await watch.waits(for: "requested"))
    #expect(try await hearth("invoke", "fan.testFan.ask", "--json").output.contains(#""speed":40"#))
    #expect(try await hearth("write", "fan.testFan.speed=50").status == 0)
    #expect(try await hearth("sim", "get", "\(name).testFan.speed").output == "50\n")
    #expect(try await hearth("write", "fan.testFan.speed=101").status != 0)
    #expect(try await hearth("sim", "set", "\(name).testFan.speed=60").status == 0)
    #expect(try await eventuallyByCommands { try await hearth("read", "fan.testFan.speed").output.contains("60") })
    let fault = try await hearth("sim", "fault", name, "--data", "testFan.code=missing")
    #expect(fault.status == 0, "\(fault)")
    #expect(try await hearth("sim", "fault", name).output == "testFan.code missing\n")
    #expect(try await hearth("sim", "fault", name, "--heal").status == 0)
    #expect(try await hearth("describe", "fan").output.contains("testFan"))
    let check = try await hearth("describe", "fan", "--check")
    #expect(check.status == 0 && !check.output.contains("is unknown"), "\(check)")
    #expect(await watch.interrupt() == .exit(130))
    await fleet.stop()
  }

  @Test(.timeLimit(.minutes(10))) func storesClusters() async throws {
    let hearth = Hearth()
    try FileManager.default.createDirectory(atPath: hearth.state, withIntermediateDirectories: true)
    let file = hearth.state + "/test-fan.cluster"
    try Self.cluster.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await hearth("schema", "testFan").status == 3)
    #expect(try await hearth("schema", "testFan", "--clusters", file).output.contains("TestFan 0xFFF1FC60, revision 1"))
    #expect(try await hearth("home", "clusters", "add", file, "--json").output.contains(#""name":"TestFan""#))
    #expect(try await hearth("schema", "test-fan").output.contains("GoToSpeed"))
    #expect(try await hearth("home", "clusters").output.contains("0xFFF1FC60"))
    #expect(try await hearth("home", "clusters", "remove", "fan").status == 3)
    #expect(try await hearth("home", "clusters", "remove", "testFan").status == 0)
    #expect(try await hearth("schema", "testFan").status == 3)

    let home = hearth.state + "/home.yaml"
    try "home: A\nclusters: [test-fan.cluster]\ndevices: []\n".write(toFile: home, atomically: true, encoding: .utf8)
    #expect(try await hearth("schema", "testFan", "--clusters", home).output.contains("TestFan 0xFFF1FC60"))
    #expect(try await hearth("home", "clusters", "add", home).output == "added TestFan\n")
    #expect(try await hearth("schema", "testFan").status == 0)
    #expect(try await hearth("home", "clusters", "remove", "testFan").status == 0)

    try Self.cluster.replacing("max 100", with: "max many").write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try await hearth("home", "clusters", "add", file)
    #expect(wrong.status == 12, "\(wrong)")
    #expect(wrong.errors == "hearth: \(file):2: error: “many” is not a number; expected a maximum\n")
    #expect(try await hearth("schema", "onOff", "--clusters", file).status == 12)
    #expect(try await hearth("schema", "onOff", "--clusters", "nowhere.cluster").status == 3)
  }
}
