import Foundation
import Glibc
import Testing

/// Access to running devices outside of the protocol.
@Suite("hearth sim", .serialized, .processes) struct SimTests {
  @Test(.timeLimit(.minutes(10))) func countsDropsByReason() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, lamp: "Target " + UUID().uuidString.prefix(8))
    #expect(try await hearth("sim", "drops", "Target").output == "none\n")
    let port = try #require(fleet.ports.first)
    // Messages without a complete header, and one of an unknown session.
    for _ in 0..<3 { send([0x00, 0x01], to: port) }
    send([0x00, 0x77, 0x77, 0x00, 1, 0, 0, 0] + [UInt8](repeating: 9, count: 40), to: port)
    var table: [Substring] = []
    #expect(
      try await eventuallyByCommands {
        table = try await hearth("sim", "drops", "Target").output.split(separator: "\n")
        return table.count >= 3 && table[1].contains("3")
      })
    #expect(
      table.map { $0.split(separator: " ") } == [
        ["REASON", "MESSAGES"], ["malformedHeader", "3"], ["unknownSession", "1"],
      ])
    let json = try await hearth("sim", "drops", "Target", "--json").output
    #expect(json == #"{"ok":true,"data":{"malformedHeader":3,"unknownSession":1}}"# + "\n")
    #expect(try await hearth("sim", "drops", "Unknown").status == 3)
    // A suggestion is made once, though a device without a room has its name as its path.
    let unknown = try await hearth.run(["sim", "drops", "arget"])
    #expect(unknown.errors.split(separator: "“Target ").count == 2, "\(unknown.errors)")
  }

  @Test(.timeLimit(.minutes(10))) func injectsNetworkFaults() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet.lampWithCode(hearth)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp", "-q").status == 0)
    #expect(try await hearth("sim", "net", "lamp").output == "no faults\n")

    #expect(try await hearth("sim", "net", "lamp", "--partition").status == 0)
    #expect(try await hearth("sim", "net", "lamp").output == "partitioned\n")
    #expect(try await hearth("on", "lamp", "--timeout", "1s").status != 0)
    #expect(try await hearth("sim", "get", "lamp.onOff.onOff").output == "false\n")
    #expect(try await hearth("sim", "net", "lamp", "--heal").output.isEmpty)
    let healed = try await hearth.run(["on", "lamp"])
    #expect(healed.status == 0, "\(healed.errors)")
    #expect(try await hearth("sim", "get", "lamp.onOff.onOff").output == "true\n")

    // Each call replaces all conditions.
    _ = try await hearth("sim", "net", "lamp", "--loss", "30%", "--reorder", "2%")
    let set = try await hearth(
      "sim", "net", "lamp", "--loss", "0.5%", "--latency", "80ms", "--jitter", "40ms", "--duplicate", "1%", "--json")
    #expect(
      set.output
        == #"{"ok":true,"data":{"device":"Lamp","partitioned":false,"lossPercent":0.5,"latencyMilliseconds":80,"#
        + #""jitterMilliseconds":40,"duplicatePercent":1.0,"reorderPercent":0.0}}"# + "\n")
    #expect(try await hearth("sim", "net", "lamp").output == "loss 0.5%, latency 80 ms, jitter 40 ms, duplicate 1%\n")
    #expect(try await eventuallyByCommands { try await hearth("sim", "ps").output.contains("; loss 0.5%") })
    #expect(try await hearth("sim", "ps").output.contains("; loss 0.5%, latency 80 ms, jitter 40 ms, duplicate 1%"))
    #expect(
      try await hearth("sim", "ps", "--json").output.contains(#""network":{"partitioned":false,"lossPercent":0.5"#))
    let slow = try await hearth.run(["toggle", "lamp"])
    #expect(slow.status == 0, "\(slow.errors)")

    for (arguments, expected) in [
      (["--loss", "30"], "expected a share from 0% to 100%"),
      (["--reorder", "101%"], "expected a share from 0% to 100%"),
      (["--latency", "soon"], "expected a time such as 2s"),
      (["--loss", "30%", "--partition"], "--partition and --heal are mutually exclusive"),
      (["--heal", "--partition"], "--partition and --heal are mutually exclusive"),
    ] {
      let refused = try await hearth.run(["sim", "net", "lamp"] + arguments)
      #expect(refused.status == 2 && refused.errors.contains(expected), "\(refused.errors)")
    }
    #expect(try await hearth("sim", "net", "unknown", "--heal").status == 3)
  }

  @Test(.timeLimit(.minutes(10))) func injectsFaultsAndChangesBridges() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(
      hearth,
      definition: """
        devices:
          - { name: Lamp, type: dimmable light, faults: { slow: 2s } }
          - { name: Bridge, type: bridge, devices: [{ name: Spot, type: plug }] }

        """)
    #expect(!fleet.code.isEmpty)
    #expect(try await hearth("sim", "fault", "lamp").output == "slow 2 s\n")
    #expect(try await hearth("sim", "fault", "lamp", "--busy", "--data", "onOff.onOff=null").status == 0)
    #expect(try await hearth("sim", "fault", "lamp").output == "busy, onOff.onOff null\n")
    #expect(try await hearth("sim", "fault", "lamp", "--heal").status == 0)
    #expect(try await hearth("sim", "fault", "lamp").output == "no faults\n")
    for (arguments, expected) in [
      (["--slow", "soon"], "expected a time from 1 ms to a day"), (["--full", "shelves"], "bindings or subscriptions"),
      (["--data", "onOff.onOff=cut"], "missing, null or type"), (["--data", "onOff"], "ATTRIBUTE=VIOLATION"),
      (["--data", "onOff.onOff=null", "--data", "onOff.onOff=missing"], "expected each attribute once"),
      (["--slow", "-1s"], "expected a time from 1 ms to a day"),
      (["--attestation", "key"], "signature, expiry, vendor or root"), (["--heal", "--busy"], "--heal"),
    ] {
      let refused = try await hearth.run(["sim", "fault", "lamp"] + arguments)
      #expect(refused.status == 2 && refused.errors.contains(expected), "\(refused.errors)")
    }
    #expect(try await hearth("sim", "fault", "spot", "--busy").status == 8)

    #expect(try await hearth("sim", "add", "bridge", "Fan", "--type", "plug", "--room", "Den").status == 0)
    #expect(try await hearth("sim", "ps").output.contains("Fan"))
    #expect(try await hearth("sim", "add", "bridge", "Fan", "--type", "plug", "--room", "Den").status == 8)
    let twice = try await hearth("sim", "add", "bridge", "X1", "X2", "x1", "--type", "plug")
    #expect(twice.status == 2 && twice.errors.contains("“x1” is named twice"), "\(twice)")
    let second = try await hearth("sim", "add", "bridge", "X3", "Den/Fan", "--type", "plug")
    #expect(second.status != 0 && second.errors.contains("only added X3"), "\(second)")
    let remaining = try await hearth("sim", "remove", "bridge", "fan", "Den/Fan")
    #expect(remaining.status == 2 && remaining.errors.contains("“Den/Fan” is named twice"), "\(remaining)")
    #expect(try await !hearth("sim", "ps").output.contains("X1"))
    #expect(try await hearth("sim", "remove", "lamp", "fan").status == 3)
    #expect(try await hearth("sim", "remove", "bridge", "fan").status == 0)
    #expect(try await hearth("sim", "get", "fan.onOff.onOff").status == 3)
  }

  @Test(.timeLimit(.minutes(10))) func latchesOnlyLatchingSwitches() async throws {
    let hearth = Hearth()
    _ = try await Fleet(
      hearth,
      definition: """
        devices:
          - { name: Control, type: control bridge }
          - { name: Knob, type: generic switch, switch: latching }
          - { name: Fridge, type: refrigerator }
          - { name: Bell, type: chime, sounds: [Ding Dong, Westminster] }

        """)
    let refused = try await hearth("sim", "press", "Control", "latch", "--position", "1")
    #expect(refused.status == 8 && refused.errors.contains("has no latch"), "\(refused)")
    #expect(try await hearth("sim", "press", "Knob", "latch", "--position", "1").status == 0)
    for (arguments, expected) in [
      (["press", "Knob", "short"], "a latching switch keeps its position"),
      (["press", "Knob", "latch", "--position", "99"], "expected a position from 0 to 1"),
      (["set", "bell.chime.selectedChime=9"], "expected Ding Dong (0) or Westminster (1)"),
    ] {
      let refused = try await hearth.run(["sim"] + arguments)
      #expect(refused.status == 8 && refused.errors.contains(expected), "\(refused)")
    }
    #expect(try await hearth("sim", "get", "knob.1.switch.currentPosition").output == "1\n")
    #expect(try await hearth("sim", "set", "fridge.3.door=open").status == 0)
  }

  @Test(.timeLimit(.minutes(10)), arguments: [["ps"], ["set", "lamp.onOff.onOff=true"], ["net", "lamp", "--heal"]])
  func failsWithoutRunningDevices(_ arguments: [String]) async throws {
    let hearth = Hearth()
    #expect(try await hearth.run(["sim"] + arguments).status == 13)
  }

  private func send(_ bytes: [UInt8], to port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  @Test(.timeLimit(.minutes(10))) func listsDeviceTypes() async throws {
    let hearth = Hearth()
    let lines = try await hearth("types").output.split(separator: "\n")
    #expect(lines.first?.split(separator: " ").prefix(3) == ["TYPE", "ID", "CLUSTERS"])
    #expect(lines.contains { $0.hasPrefix("metering plug ") && $0.contains("ElectricalPowerMeasurement") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("dimmable light ") && $0.contains("LevelControl") }, "\(lines)")
    let json = try await hearth("types", "--json").output
    #expect(
      json.hasPrefix(#"{"ok":true,"data":[{"name":""#) && json.contains(#""name":"dimmable light","id":""#), "\(json)")
  }
}
