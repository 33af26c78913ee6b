import Foundation
import Testing

/// A hub and its clients in separate processes on loopback.
@Suite("A hub on loopback", .serialized) struct HubSessionTests {
  @Test(.timeLimit(.minutes(10))) func enforcesRolesOfClients() async throws {
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
    #expect(try hearth("hub", "run").status == 2)

    // Processes of the owner need no token.
    #expect(
      try await waits {
        try hearth("devices", "--hub", "here", "--json").output.contains(#""dataSourceLocality":"local""#)
      })
    #expect(try hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "30s").status == 0)
    #expect(try hearth("off", "lamp", "--hub", "here").output == "Lamp: off\n")

    // Two clients with different roles and their tokens.
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
    // The same over TCP, which is encrypted.
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
    #expect(try visitor(member, "pair", fleet.code).errors.hasPrefix("hearth: unknown option '--hub'"))
    #expect(try visitor("nonsense", "devices").status == 7)
    #expect(try hearth("rename", "lamp", "Desk", "--hub", "here").output == "Lamp is now Desk\n")
    #expect(try hearth("room", "add", "Hall", "--hub", "here").output == "added Hall\n")
    #expect(try hearth("room", "assign", "desk", "Hall", "--hub", "here").output == "Desk is now in Hall\n")
    // Through the database.
    #expect(try hearth("rename", "desk", "Table").output == "Desk is now Table\n")

    // The guest received all changes.
    #expect(await watch.waits(for: #""attribute":"currentLevel""#))
    #expect(await watch.waits(for: #""change":"deviceRenamed""#, times: 2))
    #expect(await watch.waits(for: #""change":"deviceMoved""#))

    // Revoking the invitation ends the running commands of the guest.
    let followers =
      try [
        ["devices", "--watch"], ["subscribe", "table.onOff.onOff"],
        ["wait", "table", "--for", "connectivity=partiallyOnline"],
      ].map { try Follower(other, $0 + ["--hub", hearth.state + "/run/hub.sock", "--token", guest]) } + [watch]
    defer { for follower in followers { follower.process.terminate() } }
    #expect(
      try await waits { try hearth("hub", "status", "--json").output.components(separatedBy: "\"Gast\"").count >= 5 })
    #expect(try hearth("hub", "revoke", "gast").output == "revoked Gast\n")
    for follower in followers {
      follower.process.waitUntilExit()
      #expect(follower.process.terminationStatus == 7)
    }
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

  @Test(.timeLimit(.minutes(10))) func clientsResumeAfterHubRestart() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await Fleet(hearth, lamp: "Kept " + UUID().uuidString.prefix(8))
    defer { fleet.stop() }
    // The hub serves an empty home, and learns its fabric only when the first device is paired.
    let hub = try Follower(hearth, "hub", "run")
    defer { hub.process.terminate() }
    #expect(await hub.waits(for: "hub.sock"))
    #expect(try hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    #expect(try hearth("off", "lamp").status == 0)
    #expect(try hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "30s").status == 0)

    // The same lines as without a hub, except for the times.
    func withoutTime(_ lines: [String]) -> [Substring] { lines.map { $0.split(separator: #""time":"#)[0] } }
    let arguments = ["lamp.onOff.onOff", "lamp.levelControl.*", "--for", "1s", "--json"]
    let direct = try hearth.run(["subscribe"] + arguments),
      through = try hearth.run(["subscribe", "--hub", "here"] + arguments)
    #expect(direct.status == 0 && through.status == 0, "\(through.errors)")
    func values(_ output: String) -> Set<Substring> { Set(withoutTime(output.split(separator: "\n").map(String.init))) }
    #expect(!values(direct.output).isEmpty && values(direct.output) == values(through.output))
    let refused = try hearth("subscribe", "1/1/8/0x99", "--hub", "here", "--for", "2s")
    #expect(refused.errors.contains("UNSUPPORTED_ATTRIBUTE"), "\(refused.errors)")
    let subscription = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "--hub", "here", "--json")
    defer { subscription.process.terminate() }
    #expect(await subscription.waits(for: #""initial":true"#))
    let watch = try Follower(hearth, "watch", "--hub", "here", "--json")
    defer { watch.process.terminate() }
    #expect(
      try await waits { try hearth("hub", "status", "--json").output.components(separatedBy: "hearth ").count >= 4 })
    #expect(try hearth("on", "lamp", "--hub", "here").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#))
    #expect(await subscription.waits(for: #""initial":false"#))

    // The hub is killed; other processes store changes in the meantime.
    kill(hub.process.processIdentifier, SIGKILL)
    hub.process.waitUntilExit()
    #expect(await watch.waits(for: #""connectivityReason":"hub unreachable""#))
    #expect(try hearth("off", "lamp").status == 0)
    #expect(try hearth("home", "add", "Cabin").status == 0)
    #expect(try hearth("on", "lamp").status == 0)
    let again = try Follower(hearth, "hub", "run")
    defer { again.process.terminate() }
    #expect(await again.waits(for: "hub.sock"))
    #expect(await watch.waits(for: #""attribute":"onOff""#, times: 3))
    #expect(try hearth("off", "lamp", "--hub", "here").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#, times: 4))
    #expect(await subscription.waits(for: #""initial":false"#, times: 2))
    #expect(watch.lines.contains { $0.contains(#""change":"structureAdded""#) })
    // The lines are exactly those of the log, without repetition or loss.
    func anchors(_ lines: [String]) -> [Substring] {
      lines.compactMap { $0.split(separator: #""anchor":""#).last?.prefix { $0 != "\"" } }
    }
    // Changes of the route to the hub are not in the log.
    func logged(_ lines: [String]) -> [String] { lines.filter { !$0.contains(#""change":"connectivity""#) } }
    let lines = logged(watch.lines)
    let first = try #require(lines.first), last = try #require(lines.last)
    let begin = try #require(anchors([first]).first), end = try #require(anchors([last]).first)
    let log = try hearth("watch", "--since", String(begin), "--for", "0s", "--json").output
    let all = anchors(logged(log.split(separator: "\n").map(String.init)))
    let upTo = try #require(all.firstIndex(of: end))
    #expect(Array(anchors(lines).dropFirst().prefix { $0 != end }) + [end] == Array(all[...upTo]))
    for follower in [watch, subscription, again] {
      follower.process.interrupt()
      follower.process.waitUntilExit()
      #expect(follower.process.terminationStatus == 130)
    }
  }

  private func token(_ output: String) throws -> String {
    let rest = try #require(output.split(separator: #""token":""#).last, "no token: \(output)")
    return String(rest.prefix { $0 != "\"" })
  }
}
