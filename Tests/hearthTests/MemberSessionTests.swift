import Foundation
import Testing

/// An invited client that reaches the devices by itself, with a hub and devices in separate processes on loopback.
@Suite("Members on loopback", .serialized, .processes) struct MemberSessionTests {
  @Test(.timeLimit(.minutes(10))) func controlsDevicesWhileHubIsStopped() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, lamp: "Direct " + UUID().uuidString.prefix(8), type: "on/off light")
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp", "--room", "Den").status == 0)
    #expect(try await hearth("off", "lamp").status == 0)
    let hub = try Follower(hearth, "hub", "run", "--listen", "127.0.0.1:0", "--json")
    #expect(await hub.waits(for: "hub.sock"))
    let (member, guest) = (Hearth(), Hearth())
    for (client, name, role) in [(member, "Ada", "member"), (guest, "Eve", "guest")] {
      let invited = try await hearth("hub", "invite", name, "--role", role, "--json").output
      let invitation = try #require(invited.split(separator: #""invitation":""#).last).prefix { $0 != "\"" }
      let joined = try await client("hub", "join", String(invitation), "--json")
      #expect(joined.output.contains(#""directDevices":1"#), "\(joined)")
      let file = client.state + "/hub/membership"
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }
    #expect(try await member("toggle", "lamp").output == "Lamp: on\n")
    // Damaged credentials are reported once for each command.
    let membership = URL(filePath: guest.state + "/hub/membership")
    let stored = try Data(contentsOf: membership)
    try stored.prefix(stored.count / 2).write(to: membership)
    let damaged = try await guest("devices")
    #expect(damaged.status == 0 && damaged.errors.components(separatedBy: "is damaged; join the hub again").count == 2)
    #expect(!damaged.errors.contains("DecodingError"), "\(damaged)")
    try stored.write(to: membership)

    #expect(await hub.interrupt() == .exit(130))
    #expect(try await member("toggle", "den/lamp").output == "Lamp: off\n")
    #expect(try await member("read", "lamp.onOff.onOff").output == "false\n")
    #expect(try await guest("read", "lamp.onOff.onOff").output == "false\n")
    for client in [member, guest] {
      let devices = try await client("devices", "--json", "--timeout", "5m")
      #expect(devices.output.contains(#""connectivityState":"online""#), "\(devices)")
      let description = try await client("describe", "lamp", "--json", "--timeout", "5m")
      #expect(description.output.contains(#""connectivityState":"online""#), "\(description)")
    }
    for command in ["toggle", "describe"] {
      let unknown = try await member(command, "Spot")
      #expect(unknown.status == 5, "\(unknown)")
      #expect(unknown.errors.contains("“Spot” is not known here, and the hub can't be reached"), "\(unknown)")
    }
    #expect(try await guest("on", "lamp").status == 7)
    #expect(try await member("room", "add", "Hall").status == 7)
    #expect(try await hearth("read", "lamp.onOff.onOff").output == "false\n")

    // The device refuses a revoked client, also without a hub.
    #expect(try await hearth("hub", "revoke", "Ada").status == 0)
    #expect(try await member("on", "lamp").status == 7)
    #expect(try await guest("read", "lamp.onOff.onOff").output == "false\n")
    #expect(try await member("hub", "leave").status == 0)
    #expect(!FileManager.default.fileExists(atPath: member.state + "/hub/membership"))
    await fleet.stop()
  }
}
