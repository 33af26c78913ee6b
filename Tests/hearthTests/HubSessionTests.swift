import Foundation
import HearthHome
import MatterModel
import Testing

@testable import hearth

/// A hub and its clients in separate processes on loopback.
@Suite("A hub on loopback", .serialized, .processes) struct HubSessionTests {
  @Test(.timeLimit(.minutes(10))) func enforcesRolesOfClients() async throws {
    let hearth = Hearth()
    #expect(try await hearth("hub", "status").status == 13)
    #expect(try await hearth("devices", "--hub", "here").status == 13)
    #expect(try await hearth("hub", "invite", "Gast").status == 13)
    let fleet = try await Fleet(hearth, lamp: "Served " + UUID().uuidString.prefix(8))
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp", "--room", "Den").status == 0)
    let hub = try Follower(hearth, "hub", "run", "--listen", "127.0.0.1:0", "--json")
    #expect(await hub.waits(for: "hub.sock"))
    #expect(try await hearth("hub", "run").status == 2)

    // Processes of the owner need no token.
    #expect(
      try await eventuallyByCommands {
        try await hearth("devices", "--hub", "here", "--json").output.contains(#""dataSourceLocality":"local""#)
      })
    #expect(
      try await hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "5m").status == 0)
    #expect(try await hearth("off", "lamp", "--hub", "here").output == "Lamp: off\n")

    // Two clients with different roles and their tokens.
    let guest = try value("token", try await hearth("hub", "invite", "Gast", "--json").output)
    let invited = try await hearth("hub", "invite", "Kind", "--role", "member", "--json").output
    let (member, fingerprint) = (try value("token", invited), try value("fingerprint", invited))
    #expect(try await hearth("hub", "invite", "kind").status == 2)
    #expect(try await hearth("hub", "clients").output.contains("Kind  member"))
    let other = Hearth()
    try FileManager.default.createDirectory(atPath: other.state, withIntermediateDirectories: true)
    func visitor(_ token: String, _ arguments: String...) async throws -> Hearth.Result {
      try await other.run(arguments + ["--hub", hearth.state + "/run/hub.sock", "--token", token])
    }
    let watch = try Follower(
      other, "watch", "--json", "--hub", hearth.state + "/run/hub.sock", "--token", guest)
    #expect(try await eventuallyByCommands { try await hearth("hub", "status").output.contains("Gast") })
    #expect(try await visitor(guest, "on", "lamp").status == 7)
    #expect(try await visitor(guest, "write", "lamp.levelControl.onLevel=50%").status == 7)
    #expect(try await visitor(guest, "read", "lamp.onOff.onOff").output == "false\n")
    #expect(try await visitor(guest, "read", "lamp/0.accessControl.acl").status == 7)
    #expect(try await visitor(guest, "rooms").output == "ROOM  DEVICES\nDen   Lamp\n")
    #expect(try await hearth("group", "create", "Pair").status == 0)
    #expect(try await hearth("group", "add", "Pair", "lamp").status == 0)
    #expect(try await visitor(member, "off", "group:pair").output == "Lamp: off\n")
    #expect(try await visitor(member, "write", "group:pair.levelControl.onLevel=50%").output == "Lamp: written\n")
    #expect(try await visitor(member, "on", "lamp").output == "Lamp: on\n")
    #expect(try await visitor(member, "level", "den/lamp", "40%").output == "Lamp: 40%\n")
    #expect(try await visitor(member, "invoke", "lamp.onOff.toggle").status == 0)
    #expect(try await visitor(member, "wait", "lamp", "--for", "onOff=false", "--timeout", "5m").status == 0)
    #expect(try await visitor(member, "level", "group:pair", "30%").output == "Lamp: 30%\n")
    #expect(try await visitor(guest, "off", "group:pair").status == 7)
    #expect(try await visitor(member, "off", "group:pair").output == "Lamp: off\n")
    // The same over TCP with TLS.
    let port = try #require(hub.lines.first?.split(separator: "127.0.0.1:").last).prefix { $0.isNumber }
    func remote(_ arguments: String...) async throws -> Hearth.Result {
      try await other.run(
        arguments + ["--hub", "127.0.0.1:\(port)", "--token", member, "--fingerprint", fingerprint])
    }
    #expect(try await remote("toggle", "lamp").output == "Lamp: on\n")
    let unknownHost = String(repeating: "x", count: 64) + ".invalid:5550"
    #expect(try await remote("read", "lamp.onOff.onOff", "--hub", unknownHost).output == "true\n")
    #expect(try await remote("room", "add", "Hall").status == 7)
    #expect(try await other("devices", "--hub", "127.0.0.1:\(port)").status == 7)
    let wrong = String(repeating: "00", count: 32)
    #expect(
      try await other("devices", "--hub", "127.0.0.1:\(port)", "--token", member, "--fingerprint", wrong).status == 7)
    #expect(try await other("devices", "--hub", "127.0.0.1:\(port)", "--token", member).status == 2)
    #expect(try await hearth("hub", "status").output.contains("certificate \(fingerprint)"))
    try await joinsAndLeaves(hearth, fleet.code)
    #expect(try await visitor(member, "off", "lamp").status == 0)
    #expect(try await visitor(member, "rename", "lamp", "Desk").status == 7)
    #expect(try await visitor(member, "room", "add", "Hall").status == 7)
    #expect(try await visitor(member, "describe", "lamp").output.contains("local"))
    #expect(try await visitor(member, "pair", fleet.code).status == 7)
    #expect(try await visitor("nonsense", "devices").status == 7)
    #expect(try await hearth("rename", "lamp", "Desk", "--hub", "here").output == "Lamp is now Desk\n")
    #expect(try await hearth("room", "add", "Hall", "--hub", "here").output == "added Hall\n")
    #expect(try await hearth("room", "assign", "desk", "Hall", "--hub", "here").output == "Desk is now in Hall\n")
    // Through the database.
    #expect(try await hearth("rename", "desk", "Table").output == "Desk is now Table\n")

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
    #expect(
      try await eventuallyByCommands {
        try await hearth("hub", "status", "--json").output.components(separatedBy: "\"Gast\"").count >= 5
      })
    #expect(try await hearth("hub", "revoke", "gast").output == "revoked Gast\n")
    for follower in followers {
      #expect(await follower.process.end() == .exit(7))
    }
    #expect(try await !hearth("hub", "status").output.contains("Gast"))
    #expect(try await visitor(guest, "devices").status == 7)
    #expect(try await hearth("hub", "revoke", "gast").status == 3)

    #expect(await hub.interrupt() == .exit(130))
    #expect(try await hearth("hub", "status").status == 13)
    #expect(try await visitor(member, "on", "table").status == 13)
    #expect(try await hearth("on", "table").status == 0)
  }

  @Test(.timeLimit(.minutes(10))) func ownersControlSimulatedDevicesThroughHub() async throws {
    let hearth = Hearth()
    let name = "Wired " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(
      hearth,
      definition: """
        devices:
          - { name: \(name), room: Den, type: dimmable light }
          - { name: Bridge, type: bridge, devices: [{ name: Spot, type: plug }] }

        """)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let hub = try Follower(hearth, "hub", "run", "--listen", "127.0.0.1:0", "--json")
    #expect(await hub.waits(for: "hub.sock"))
    let (owner, member) = (Hearth(), Hearth())
    for (client, name, role) in [(owner, "Ada", "owner"), (member, "Eve", "member")] {
      let invitation = try value(
        "invitation", try await hearth("hub", "invite", name, "--role", role, "--json").output)
      #expect(try await client("hub", "join", invitation).status == 0)
    }
    let shown = try await hearth("sim", "ps", "--json").output
    #expect(try await owner("sim", "ps", "--json").output == shown)
    #expect(try await owner("sim", "set", "wired.onOff.onOff=true").status == 0)
    #expect(try await owner("sim", "set", "wired.levelControl.currentLevel=40%").status == 0)
    #expect(try await hearth("sim", "ps").output.contains("on 40%"))
    #expect(try await owner("sim", "get", "wired.onOff.onOff").output == "true\n")
    #expect(try await hearth("sim", "get", "wired.onOff.onOff", "--hub", "here").output == "true\n")
    #expect(try await owner("sim", "power", "wired", "off").status == 0)
    #expect(try await hearth("sim", "ps").output.contains("no power"))
    #expect(try await owner("sim", "power", "wired", "on").status == 0)
    #expect(try await owner("sim", "net", "wired", "--loss", "30%").status == 0)
    #expect(try await hearth("sim", "net", "wired").output == "loss 30%\n")
    #expect(try await owner("sim", "net", "wired", "--heal").status == 0)
    #expect(try await owner("sim", "add", "bridge", "Fan", "--type", "plug").status == 0)
    #expect(try await hearth("sim", "ps").output.contains("Fan"))
    let failed = try await owner("sim", "get", "wired.booleanState.stateValue", "--json")
    #expect(failed.status == 3 && failed.output.contains("\"device\":\"Den/\(name)\""), "\(failed)")
    #expect(try await owner("sim", "get", "unknown.onOff.onOff").status == 3)
    #expect(try await member("sim", "ps").status == 7)

    // The same as any WebSocket client sees it.
    let simulation = LocalSimulation(directory: hearth.state + "/run")
    let fabrics = try await hearth("sim", "ps", "--json").output
    let fabric = try #require(UInt64(try value("fabricID", fabrics), radix: 16))
    let node = try #require(UInt64(try value("nodeID", fabrics)))
    let devices = simulation.devices(on: FabricID(fabric))
    #expect(devices.map(\.path) == ["Den/\(name)", "Bridge"])
    #expect(devices.map(\.node) == [NodeID(node), nil])
    #expect(simulation.devices(on: FabricID(fabric &+ 1)).allSatisfy { $0.node == nil })

    // The owner of a home is not a user of the hub's machine, whose files a definition may name.
    let process = try #require(devices.first?.process)
    func add(_ entry: String) -> HomeError? {
      let request = #"{"add":{"device":"Bridge","entry":\#(entry)}}"#
      do throws(HomeError) {
        _ = try simulation.send(request, to: process)
        return nil
      } catch { return error }
    }
    #expect(add(#""{\"name\":\"One\",\"type\":\"plug\"}""#) == nil)
    #expect(add(#""{\"name\":\"Two\",\"type\":\"plug\",\"faults\":\"x\"}""#)?.code == .badArguments)
    #expect(add(#""{ name: Two, type: plug }""#)?.code == .badArguments)
    #expect(throws: HomeError.self) { try simulation.send("{}", to: process) }

    await fleet.stop()
    #expect(try await owner("sim", "ps").status == 13)
    #expect(await hub.interrupt() == .exit(130))
  }

  @Test(.timeLimit(.minutes(10))) func clientsResumeAfterHubRestart() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, lamp: "Kept " + UUID().uuidString.prefix(8))
    // The hub serves an empty home, and learns its fabric only when the first device is paired.
    let hub = try Follower(hearth, "hub", "run")
    #expect(await hub.waits(for: "hub.sock"))
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    #expect(try await hearth("off", "lamp").status == 0)
    #expect(
      try await hearth("wait", "lamp", "--hub", "here", "--for", "connectivity=online", "--timeout", "5m").status == 0)

    // The same lines as without a hub, except for the times.
    func withoutTime(_ lines: [String]) -> [Substring] { lines.map { $0.split(separator: #""time":"#)[0] } }
    let arguments = ["lamp.onOff.onOff", "lamp.levelControl.*", "--for", "1s", "--json"]
    func values(_ options: [String]) async throws -> Set<Substring> {
      let result = try await hearth.run(["subscribe"] + options + arguments)
      #expect(result.status == 0, "\(result.errors)")
      return Set(withoutTime(result.output.split(separator: "\n").map(String.init)))
    }
    // Repeated, because on a busy machine a subscription takes longer than a second.
    #expect(
      try await eventuallyByCommands {
        let direct = try await values([])
        let through = try await values(["--hub", "here"])
        return !direct.isEmpty && direct == through
      })
    let refused = try Follower(hearth, "subscribe", "1/1/8/0x99", "--hub", "here", "--for", "5m")
    #expect(await refused.reports("UNSUPPORTED_ATTRIBUTE"), "\(refused.errors)")
    await refused.process.stop()
    let subscription = try Follower(hearth, "subscribe", "lamp.onOff.onOff", "--hub", "here", "--json")
    #expect(await subscription.waits(for: #""initial":true"#))
    let watch = try Follower(hearth, "watch", "--hub", "here", "--json")
    #expect(
      try await eventuallyByCommands {
        try await hearth("hub", "status", "--json").output.components(separatedBy: "hearth ").count >= 4
      })
    #expect(try await hearth("on", "lamp", "--hub", "here").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#))
    #expect(await subscription.waits(for: #""initial":false"#))

    // The hub is killed; other processes store changes in the meantime.
    hub.process.send(SIGKILL)
    await hub.process.end()
    #expect(await watch.waits(for: #""connectivityReason":"hub unreachable""#))
    #expect(try await hearth("off", "lamp").status == 0)
    #expect(try await hearth("home", "add", "Cabin").status == 0)
    #expect(try await hearth("on", "lamp").status == 0)
    let again = try Follower(hearth, "hub", "run")
    #expect(await again.waits(for: "hub.sock"))
    #expect(await watch.waits(for: #""attribute":"onOff""#, times: 3))
    #expect(try await hearth("off", "lamp", "--hub", "here").status == 0)
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
    let log = try await hearth("watch", "--since", String(begin), "--for", "0s", "--json").output
    let all = anchors(logged(log.split(separator: "\n").map(String.init)))
    let upTo = try #require(all.firstIndex(of: end))
    #expect(Array(anchors(lines).dropFirst().prefix { $0 != end }) + [end] == Array(all[...upTo]))
    for follower in [watch, subscription, again] {
      #expect(await follower.interrupt() == .exit(130))
    }
  }

  @Test("invitations have addresses that other machines can use", .timeLimit(.minutes(10))) func invites() async throws
  {
    let hearth = Hearth()
    #expect(try await hearth("room", "add", "Den").status == 0)
    let socket = hearth.state + "/x.sock"
    let hub = try Follower(hearth, "hub", "run", "--listen", socket, "--listen", "127.0.0.1:0", "--json")
    #expect(await hub.waits(for: "hub.sock"))
    let refused = try await hearth("hub", "invite", "Eve", "--address", socket)
    #expect(refused.status == 2 && refused.errors.contains("is a socket"), "\(refused)")
    #expect(try await !hearth("hub", "clients").output.contains("Eve"))
    let (owner, friend) = (Hearth(), Hearth())
    for (host, client, name) in [(hearth, owner, "Ada"), (owner, friend, "Zed")] {
      let invited = try await host("hub", "invite", name, "--role", "owner", "--json")
      #expect(try await client("hub", "join", try value("invitation", invited.output)).status == 0, "\(invited)")
    }
    let joined = try await friend("doctor", "--json").output
    #expect(joined.contains("joined as Zed") && !joined.contains("new invitation"), "\(joined)")
    #expect(try await owner("hub", "revoke", "Zed").output == "revoked Zed\n")
    let revoked = try await friend("doctor", "--json")
    #expect(revoked.status == 11 && revoked.output.contains("new invitation"), "\(revoked)")
    #expect(try await owner("hub", "revoke", "Ada").output == "revoked Ada\n")
    let cut = try await hearth("hub", "invite", String(repeating: "x", count: 80))
    #expect(cut.errors.contains("the name was truncated to 60 characters"), "\(cut)")
    let listens = try await Hearth()("hub", "run", "--listen", "127.0.0.1")
    #expect(listens.status == 2 && listens.errors.contains("expected HOST:PORT"), "\(listens)")

    // A hub that is suspended does not answer.
    hub.process.send(SIGSTOP)
    let status = try await hearth("hub", "status")
    hub.process.send(SIGCONT)
    #expect(
      status.status != 0 && status.errors.contains("which owns the home in \(hearth.state), does not answer"),
      "\(status)")
    #expect(await hub.interrupt() == .exit(130))
    let stopped = try await friend("doctor", "--json")
    #expect(stopped.status == 11 && stopped.output.contains("check that the hub runs"), "\(stopped)")
  }

  /// A client joins with an invitation, which replaces the options.
  private func joinsAndLeaves(_ hearth: Hearth, _ code: String) async throws {
    let client = Hearth()
    let invitation = try value(
      "invitation", try await hearth("hub", "invite", "Ada", "--role", "member", "--json").output)
    #expect(try await client("hub", "join", String(invitation.dropLast())).status == 2)
    let home = "&home=\(String(repeating: "0", count: 32))&"
    let other = invitation.replacing(try Regex("&home=[0-9A-F]+&"), with: home)
    #expect(try await client("hub", "join", other).status == 2)
    #expect(try await client("hub", "leave").status == 3)
    #expect(
      try await client("hub", "join", invitation).output == "joined as Ada (member); the home has 1 device\n")
    // The hub determines the role.
    let edited = Hearth()
    let owner = invitation.replacing("role=member", with: "role=owner")
    #expect(try await edited("hub", "join", owner).output == "joined as Ada (member); the home has 1 device\n")
    #expect(try String(contentsOfFile: edited.state + "/hub/invitation", encoding: .utf8).contains("role=member"))
    let file = client.state + "/hub/invitation"
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(try await client("off", "lamp").output == "Lamp: off\n")
    #expect(try await client("read", "lamp.onOff.onOff").output == "false\n")
    #expect(try await client("rename", "lamp", "Desk").status == 7)
    #expect(try await client("hub", "status").status == 7)
    for command in [["pair", code], ["hub", "run"], ["hub", "invite", "Eve"], ["home", "grace", "1m"]] {
      let result = try await client.run(command)
      #expect(result.status == 7, "\(command): \(result)")
    }
    #expect(try await client("hub", "join", other).errors.contains("has joined another home"))
    // A home of its own is not replaced.
    #expect(try await hearth("hub", "join", invitation).status == 2)
    #expect(try await client("hub", "leave").status == 0)
    #expect(try await client("on", "lamp").status == 3)
  }

  private func value(_ key: String, _ output: String) throws -> String {
    let rest = try #require(output.split(separator: "\"\(key)\":\"").last, "no \(key): \(output)")
    return String(rest.prefix { $0 != "\"" })
  }
}
