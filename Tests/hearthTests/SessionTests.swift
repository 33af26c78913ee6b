import Foundation
import Testing

/// A session with virtual devices and commands in separate processes on loopback.
@Suite("A session on loopback", .serialized, .processes) struct SessionTests {
  @Test(.timeLimit(.minutes(10))) func pairsControlsAndRemovesDevice() async throws {
    let hearth = Hearth()
    // A unique name, from which the codes are derived, because other runs may use the network at the same time.
    let name = "Probe " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)

    // Discovered, and paired with its code.
    let discovered = try await hearth("discover", "--json")
    #expect(discovered.status == 0)
    #expect(discovered.output.contains("\"name\":\"\(name)\""))
    let paired = try await hearth("pair", fleet.code, "--name", "Lamp", "--room", "Den", "--json")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.output.contains(#""types":["Dimmable Light"]"#))
    #expect(paired.output.contains(#""step":"verifyAttestation""#))
    #expect(paired.errors.contains("connectOperationally"))

    // A subscription runs during other commands.
    let follower = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "lamp.levelControl.currentLevel", "--json")
    #expect(await follower.waits(for: "\"initial\":true", times: 2))
    #expect(try await hearth("on", "den/lamp").output == "Lamp: on\n")
    // It owns the home, and uses loopback only.
    let elsewhere = try await hearth("on", "lamp", "--interface", "all")
    #expect(elsewhere.status == 2 && elsewhere.errors.contains("--interface: process"), "\(elsewhere.errors)")
    #expect(try await hearth("level", "Lam", "40%").output == "Lamp: 40%\n")
    #expect(try await hearth("read", "lamp.levelControl.currentLevel").output == "40%\n")
    #expect(try await hearth("read", "1/1/8/0", "--raw").output == "102\n")
    #expect(try await hearth("toggle", "lamp").output == "Lamp: off\n")
    #expect(await follower.waits(for: "\"initial\":false", times: 3))
    #expect(await follower.interrupt() == .exit(130))

    // Added to a group, controlled through it, and removed from it.
    #expect(try await hearth("group", "add", "Crowd", "lamp").status == 3)
    #expect(try await hearth("group", "create", "Crowd").output == "created group 1 (Crowd)\n")
    #expect(try await hearth("group", "add", "crowd", "lamp").output == "Crowd: Den/Lamp/1\n")
    let off = try await hearth("read", "lamp.onOff.onOff").output
    #expect(try await hearth("group", "invoke", "1", "onOff.on").output == "Crowd: onOff.on sent\n")
    #expect(try await eventuallyByCommands { try await hearth("read", "lamp.onOff.onOff").output != off })
    #expect(try await hearth("group", "invoke", "Crowd", "onOff.off").status == 0)
    #expect(try await eventuallyByCommands { try await hearth("read", "lamp.onOff.onOff").output == off })
    #expect(try await hearth("group", "list").output.contains("Den/Lamp/1"))
    #expect(try await hearth("group", "remove", "Crowd", "lamp").output == "Crowd: no members\n")
    // Groups do not support timed commands.
    #expect(try await hearth("group", "invoke", "Crowd", "doorLock.lockDoor").status == 2)
    #expect(try await hearth("group", "delete", "Crowd").status == 0)
    // A target that fails does not affect the others.
    #expect(try await hearth("group", "create", "Club").status == 0)
    let mixed = try await hearth("group", "add", "Club", "lamp/0", "lamp/1")
    #expect(mixed.status == 10 && mixed.output == "Lamp: added to Club\n", "\(mixed)")
    #expect(mixed.errors.contains("hearth: Lamp: "), "\(mixed)")
    #expect(try await hearth("group", "delete", "Club").status == 0)

    // Compared with the standard.
    let check = try await hearth("describe", "lamp", "--check")
    #expect(check.status == 0 && check.output.hasSuffix("\n\nNo violations\n"), "\(check.output)\(check.errors)")
    #expect(
      try await hearth("describe", "lamp", "--check", "--json").output.contains(#""violations":[],"remarks":[]"#))

    // Successful and refused writes and commands.
    #expect(try await hearth("write", "lamp.levelControl.onLevel=50%").status == 0)
    #expect(try await hearth("read", "lamp.levelControl.onLevel").output == "50%\n")
    #expect(try await hearth("invoke", "lamp.levelControl.moveToLevelWithOnOff", "level=200").status == 0)
    let refused = try await hearth("write", "lamp.levelControl.currentLevel=1")
    #expect(refused.status == 8)
    #expect(refused.errors.contains("UNSUPPORTED_WRITE"))
    #expect(try await hearth("read", "1/1/8/0x99").status == 8)
    // One JSON object, also for no result and for a partial result.
    let nothing = try await hearth("read", "1/1/77/*", "--json")
    #expect(nothing.status == 3)
    #expect(nothing.output.hasPrefix(#"{"ok":false,"#) && nothing.output.split(separator: "\n").count == 1)
    let partly = try await hearth("read", "1/1/8/0", "1/1/8/0x99", "--json")
    #expect(partly.status == 10)
    #expect(partly.output.hasPrefix(#"{"ok":false,"error":{"code":"partlyFailed""#))
    #expect(try await hearth("pair", fleet.code, "--timeout", "500ms").status == 3)

    // Commissioning windows.
    #expect(try await hearth("share", "lamp", "--status").output == "Lamp: no window is open\n")
    let shared = try await hearth("share", "lamp", "--no-qr")
    #expect(shared.status == 0)
    #expect(shared.output.contains("Manual code"))
    #expect(
      try await hearth("share", "lamp", "--status").output.contains("an enhanced window is open, opened by fabric 1"))
    let again = try await hearth("share", "lamp")
    #expect(again.status == 8)
    #expect(again.errors.contains("BUSY"))
    #expect(try await hearth("share", "lamp", "--revoke").status == 0)
    #expect(try await hearth("share", "lamp", "--revoke").errors.contains("WINDOW_NOT_OPEN"))
    #expect(try await hearth("share", "lamp", "--basic").output.contains("the code on the device's label"))
    #expect(try await hearth("share", "lamp", "--revoke").status == 0)

    // Fabrics and access control, without losing access to the device.
    #expect(try await hearth("fabrics", "lamp").output.contains("(this home)"))
    #expect(try await hearth("fabrics", "remove", "lamp", "1").status == 2)
    #expect(try await hearth("fabrics", "remove", "lamp", "9").status == 3)
    #expect(try await hearth("acl", "grant", "lamp", "operate", "--to", "77", "--endpoint", "1").status == 0)
    let list = try await hearth("acl", "lamp", "--json").output
    #expect(list.contains(#""privilege":"administer""#) && list.contains(#""subjects":["77"]"#))
    #expect(
      try await hearth("acl", "grant", "lamp", "operate", "--to", "77", "--endpoint", "1").output.contains("already"))
    let locked = try await hearth("acl", "revoke", "lamp", "1")
    #expect(locked.status == 2)
    #expect(locked.errors.contains("--force"))
    #expect(try await hearth("acl", "revoke", "lamp", "2").output == "Lamp: revoked operate from node 77\n")
    #expect(try await hearth("acl", "revoke", "lamp", "2").status == 3)

    // A response with a cluster status.
    let none = try await hearth("invoke", "lamp.groups.viewGroup", "groupID=9")
    #expect(none.status == 8)
    #expect(none.errors.contains("NOT_FOUND"))

    // Listed as online, and as offline with its last value after it has stopped.
    let online = try await hearth("devices")
    #expect(online.output.contains("on 79%"))
    #expect(online.output.contains("peer"))
    #expect(try await hearth("devices", "--offline", "--json").output.contains(#""data":[]"#))
    await fleet.stop()
    let offline = try await hearth("devices", "--timeout", "1s")
    #expect(offline.status == 0)
    #expect(offline.output.contains("(on 79%)"))
    #expect(offline.output.contains("offline"))
    #expect(try await hearth("devices", "--offline", "--timeout", "1s", "--json").output.contains(#""name":"Lamp""#))
    #expect(try await hearth("on", "lamp", "--timeout", "1s").status == 5)

    // Online again with its state, and removed.
    _ = try await Fleet(hearth, lamp: name)
    #expect(try await hearth("read", "lamp.onOff.onOff").status == 0)
    let last = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "--max", "1s")
    #expect(await last.waits(for: "onOff.onOff"))
    #expect(try await hearth("remove", "lamp").output == "removed Lamp\n")
    #expect(try await hearth("read", "lamp.onOff.onOff").status == 3)
    // Subscriptions to a device that another process has removed end.
    #expect(await last.process.end() == .exit(3) && last.errors.contains("Lamp: no longer in the home"))
    #expect(try await hearth("sim", "ps", "--json").output.contains("\"fabrics\":[]"))
  }
}
