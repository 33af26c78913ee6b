import Foundation
import Testing

/// A hub in a process of its own, and clients of it in others: real processes on loopback.
@Suite("A hub on loopback", .serialized) struct HubSessionTests {
  @Test(.timeLimit(.minutes(10))) func eachClientMayDoItsPart() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    #expect(try hearth("hub", "status").status == 13)
    #expect(try hearth("devices", "--hub", "here").status == 13)
    let fleet = try await Fleet(hearth, lamp: "Served " + UUID().uuidString.prefix(8))
    defer { fleet.stop() }
    #expect(try hearth("pair", fleet.code, "--name", "Lamp", "--room", "Den").status == 0)
    let hub = try Follower(hearth, "hub", "run", "--listen", "127.0.0.1:0", "--json")
    defer { hub.process.terminate() }
    #expect(await hub.waits(for: "hub.sock"))
    #expect(try hearth("hub", "run").status == 1)

    // The owner's processes need no word.
    #expect(
      try await waits {
        try hearth("devices", "--hub", "here", "--json").output.contains(#""dataSourceLocality":"local""#)
      })
    #expect(try hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "30s").status == 0)
    #expect(try hearth("off", "lamp", "--hub", "here").output == "Lamp: off\n")

    // Two users with different roles, each with what the owner gave them.
    let guest = try token(try hearth("hub", "invite", "Gast", "--json").output)
    let member = try token(try hearth("hub", "invite", "Kind", "--role", "member", "--json").output)
    #expect(try hearth("hub", "invite", "kind").status == 2)
    #expect(try hearth("hub", "clients").output.contains("Kind  member"))
    let other = Hearth()
    defer { other.cleanUp() }
    try FileManager.default.createDirectory(atPath: other.state, withIntermediateDirectories: true)
    func visitor(_ token: String, _ arguments: String...) throws -> Hearth.Result {
      try other.run(arguments + ["--hub", hearth.state + "/run/hub.sock", "--token", token])
    }
    let watch = try Follower(
      other, "watch", "--json", "--hub", hearth.state + "/run/hub.sock", "--token", guest)
    defer { watch.process.terminate() }
    #expect(try await waits { try hearth("hub", "status").output.contains("Gast") })
    #expect(try visitor(guest, "on", "lamp").status == 7)
    #expect(try visitor(guest, "write", "lamp.levelControl.onLevel=50%").status == 7)
    #expect(try visitor(guest, "read", "lamp.onOff.onOff").output == "false\n")
    #expect(try visitor(guest, "read", "lamp/0.accessControl.acl").status == 7)
    #expect(try visitor(guest, "rooms").output == "ROOM  DEVICES\nDen   Lamp\n")
    #expect(try visitor(member, "on", "lamp").output == "Lamp: on\n")
    #expect(try visitor(member, "level", "den/lamp", "40%").output == "Lamp: 40%\n")
    #expect(try visitor(member, "invoke", "lamp.onOff.toggle").status == 0)
    #expect(try visitor(member, "wait", "lamp", "--for", "onOff=false", "--timeout", "30s").status == 0)
    // The same from afar, which may not be overheard.
    let port = try #require(hub.lines.first?.split(separator: "127.0.0.1:").last).prefix { $0.isNumber }
    func remote(_ arguments: String...) throws -> Hearth.Result {
      try other.run(arguments + ["--hub", "127.0.0.1:\(port)", "--token", member])
    }
    #expect(try remote("toggle", "lamp").output == "Lamp: on\n")
    #expect(try remote("room", "add", "Hall").status == 7)
    #expect(try other("devices", "--hub", "127.0.0.1:\(port)").status == 7)
    #expect(try visitor(member, "off", "lamp").status == 0)
    #expect(try visitor(member, "rename", "lamp", "Desk").status == 7)
    #expect(try visitor(member, "room", "add", "Hall").status == 7)
    #expect(try visitor(member, "describe", "lamp").output.contains("local"))
    #expect(try visitor(member, "pair", fleet.code).status == 7)
    #expect(try visitor("nonsense", "devices").status == 7)
    #expect(try hearth("rename", "lamp", "Desk", "--hub", "here").output == "Lamp is now Desk\n")
    #expect(try hearth("room", "add", "Hall", "--hub", "here").output == "added Hall\n")
    #expect(try hearth("room", "assign", "desk", "Hall", "--hub", "here").output == "Desk is in Hall now\n")
    // By way of the database.
    #expect(try hearth("rename", "desk", "Table").output == "Desk is now Table\n")

    // The guest saw all of it.
    #expect(await watch.waits(for: #""attribute":"currentLevel""#))
    #expect(await watch.waits(for: #""change":"deviceRenamed""#, times: 2))
    #expect(await watch.waits(for: #""change":"deviceMoved""#))

    #expect(try hearth("hub", "revoke", "gast").output == "revoked Gast\n")
    #expect(try !hearth("hub", "status").output.contains("Gast"))
    #expect(try visitor(guest, "devices").status == 7)
    #expect(try hearth("hub", "revoke", "gast").status == 3)

    hub.process.interrupt()
    hub.process.waitUntilExit()
    #expect(hub.process.terminationStatus == 130)
    #expect(try hearth("hub", "status").status == 13)
    #expect(try visitor(member, "on", "table").status == 13)
    #expect(try hearth("on", "table").status == 0)
  }

  private func token(_ output: String) throws -> String {
    let rest = try #require(output.split(separator: #""token":""#).last, "no token: \(output)")
    return String(rest.prefix { $0 != "\"" })
  }
}
