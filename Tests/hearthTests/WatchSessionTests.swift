import Foundation
import HearthHome
import Testing

/// `hearth watch`, `wait` and `observe` with real processes on loopback.
@Suite("Watching on loopback", .serialized, .processes) struct WatchSessionTests {
  /// A lamp goes offline and returns, in a home with a grace time.
  @Test(.timeLimit(.minutes(10))) func reportsSettledConnectivity() async throws {
    let hearth = Hearth()
    let name = "Settled " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    #expect(try await hearth("home", "grace", "1s").status == 0)
    let watch = try Follower(hearth, "watch", "--json")
    #expect(await watch.waits(for: #""connectivityState":"online""#))
    #expect(try await hearth("wait", "lamp", "--for", "settledConnectivity=online", "--timeout", "5m").status == 0)
    let never = try await hearth("wait", "lamp", "--for", "settledConnectivity=offline", "--timeout", "300ms")
    #expect(never.status == 11 && never.errors == "hearth: Lamp: settledConnectivity is online, not offline\n")

    // Another process waits for the change.
    let waiter = try Follower(hearth, "wait", "lamp", "--for", "settledConnectivity=offline", "--timeout", "5m")
    #expect(await waiter.reports("waiting for Lamp"))
    await fleet.stop()
    let lost = #""connectivityState":"offline""#, away = #""settledConnectivityState":"offline""#
    #expect(await watch.waits(for: lost))
    #expect(await watch.waits(for: away))
    let line = try #require(watch.lines.first { $0.contains(away) })
    #expect(line.contains(#""change":"settledConnectivity""#) && line.contains(#""device":"Lamp","nodeID":"1""#))
    func time(_ line: String?) throws -> Date {
      let text = try #require(line?.split(separator: #""time":""#).last).prefix { $0 != "\"" }
      return try Date(String(text), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
    let pause = try time(line).timeIntervalSince(time(watch.lines.first { $0.contains(lost) }))
    #expect(pause >= 0.9)
    #expect(await waiter.waits(for: "Lamp: settledConnectivity is offline"))
    #expect(await waiter.process.end() == .exit(0))

    _ = try await Fleet(hearth, lamp: name)
    #expect(try await hearth("wait", "lamp", "--for", "settledConnectivity=online", "--timeout", "5m").status == 0)
    #expect(await watch.waits(for: #""settledConnectivityState":"online""#))
    #expect(watch.lines.count { $0.contains(#""change":"settledConnectivity""#) } == 2)
    // The anchor of the line continues with the next logged change.
    let anchor = try #require(line.split(separator: #""anchor":""#).last).prefix { $0 != "\"" }
    let index = try #require(watch.lines.firstIndex(of: line))
    let rest = try await hearth("watch", "--since", String(anchor), "--for", "0s", "--json").output.split(
      separator: "\n")
    func anchors(_ lines: [String]) -> [Substring?] { lines.map { $0.split(separator: #""anchor":""#).last } }
    let logged = watch.lines[(index + 1)...].filter { !$0.contains(#""change":"settledConnectivity""#) }
    #expect(!logged.isEmpty && anchors(Array(rest.prefix(logged.count)).map(String.init)) == anchors(logged))
    #expect(await watch.interrupt() == .exit(130))
  }

  /// Another process that follows the device receives the reports first.
  @Test(.timeLimit(.minutes(10))) func setsRequestedColor() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(
      hearth, lamp: "Strip " + UUID().uuidString.prefix(8), type: "extended color light")
    let watch = try Follower(hearth, "watch", "--json")
    #expect(try await hearth("pair", fleet.code, "--name", "Strip").status == 0)
    #expect(await watch.waits(for: #""connectivityState":"online""#))
    for color in ["#00ff00", "#0000ff", "3000K", "#ff0000", "5000K"] {
      #expect(try await hearth("color", "strip", color).output == "Strip: \(color)\n")
    }
  }

  /// The follower is started in an empty home, and has to browse for the fabric that the first device joins later. Otherwise a
  /// restart of the device is detected only after a minute.
  @Test(.timeLimit(.minutes(10))) func followerOfEmptyHomeDetectsAnnouncements() async throws {
    let hearth = Hearth()
    let name = "Strip " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)
    let watch = try Follower(hearth, "watch")
    #expect(
      try await eventuallyByCommands {
        try await hearth("hub", "status", "--json").output.contains(#""follower":true"#)
      })
    #expect(try await hearth("pair", fleet.code, "--name", "Strip").status == 0)
    #expect(await watch.waits(for: "startUp!"))
    #expect(try await hearth("sim", "power", name, "cycle").status == 0)
    let begin = ContinuousClock.now
    #expect(await watch.waits(for: "startUp!", times: 2))
    #expect(ContinuousClock.now - begin < .seconds(50))
  }

  /// The follower is suspended as with Ctrl-Z, so the device drops the unacknowledged subscription. Missed changes are read soon
  /// after it continues, not at the report that is due a minute later.
  @Test(.timeLimit(.minutes(10))) func readsMissedChangesAfterSuspension() async throws {
    let hearth = Hearth()
    let name = "Still " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let watch = try Follower(hearth, "watch")
    #expect(await watch.waits(for: "Lamp  online"))
    watch.process.send(SIGSTOP)
    #expect(try await hearth("sim", "set", "\(name).levelControl.onLevel=50").status == 0)
    // The device gives up its report after about five seconds, which is not visible from outside. If it needs longer, the
    // subscription continues, and the test passes as well.
    try await Task.sleep(for: .seconds(6))
    #expect(try await hearth("sim", "set", "\(name).levelControl.onLevel=60").status == 0)
    watch.process.send(SIGCONT)
    let begin = ContinuousClock.now
    #expect(await watch.waits(for: "levelControl.onLevel  24%"), "\(watch.lines)")
    #expect(ContinuousClock.now - begin < .seconds(45))
  }

  /// Waiting for a silent device ends at an interrupt before the timeout.
  @Test(.timeLimit(.minutes(10)), arguments: [["devices"], ["wait", "lamp", "--for", "connectivity=online"]])
  func interruptsWait(command: [String]) async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, lamp: "Silent " + UUID().uuidString.prefix(8))
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    await fleet.stop()
    let waiter = try Follower(hearth, command + ["--timeout", "1h", "--json"])
    // Printed before the device counts as unreachable.
    #expect(await waiter.reports("waiting for Lamp"))
    #expect(await waiter.interrupt() == .exit(130))
    #expect(waiter.lines.isEmpty)
  }

  /// The running command of an observer is terminated, which does not count as a failure.
  @Test(.timeLimit(.minutes(10)), arguments: [["devices", "--watch"], ["watch"]])
  func interruptEndsRunningDeliveries(command: [String]) async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, lamp: "Ended " + UUID().uuidString.prefix(8))
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let begun = hearth.state + "/begun", ended = hearth.state + "/ended"
    let script = "trap 'echo ended >>\(ended); exit 1' TERM; echo begun >>\(begun); while :; do sleep 0.1; done"
    #expect(try await hearth("observe", "add", "--topology", "--run", "sh", "-c", script).status == 0)
    let watch = try Follower(hearth, command + ["--json"])
    #expect(try await hearth("wait", "lamp", "--for", "connectivity=online", "--timeout", "5m").status == 0)
    #expect(try await hearth("room", "add", "Den").status == 0)
    #expect(await eventually { FileManager.default.fileExists(atPath: begun) })
    #expect(await watch.interrupt() == .exit(130))
    #expect(FileManager.default.fileExists(atPath: ended))
    #expect(try await hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#))
  }

  @Test(.timeLimit(.minutes(10))) func printsAwaitsAndDeliversChanges() async throws {
    let hearth = Hearth()
    let name = "Watched " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, lamp: name)
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let woken = hearth.state + "/woken"
    let added = try await hearth(
      "observe", "add", "--attribute", "--device", "lamp", "--cluster", "onOff", "--run", "sh", "-c", "cat >> \(woken)")
    #expect(added.output == "observer 1\n", "\(added.errors)")

    // Printed by the process that follows the devices.
    let watch = try Follower(hearth, "watch", "--json")
    #expect(await watch.waits(for: #""connectivityState":"online""#))
    #expect(try await hearth("on", "lamp").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#))
    #expect(try await hearth("room", "add", "Den").status == 0)
    #expect(try await hearth("room", "assign", "lamp", "Den").status == 0)
    #expect(try await hearth("rename", "lamp", "Ceiling").status == 0)
    #expect(await watch.waits(for: #""change":"deviceRenamed""#))
    #expect(watch.lines.contains { $0.contains(#""was":"Lamp""#) && $0.contains(#""device":"Ceiling""#) })

    // The change has triggered the observer.
    #expect(await eventually { FileManager.default.contents(atPath: woken)?.isEmpty == false })
    let notice = String(decoding: FileManager.default.contents(atPath: woken) ?? Data(), as: UTF8.self)
    #expect(notice.contains(#""observer":1,"type":"attribute""#))
    #expect(
      try await eventuallyByCommands {
        try await hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#)
      })
    #expect(try await hearth("observe", "list").output.contains("attribute  Den/Ceiling, onOff  –"))
    #expect(try await hearth("describe", "ceiling").output.contains("\nFabrics        1 (this home)\n"))
    #expect(try await hearth("observe", "remove", "1").status == 0)

    // Conditions that hold already, hold later, and do not hold.
    #expect(
      try await hearth("wait", "ceiling", "--for", "onOff=true", "--for", "connectivity=online", "--timeout", "5m")
        .status
        == 0)
    #expect(try await hearth("level", "ceiling", "40%").status == 0)
    #expect(
      try await hearth(
        "wait", "ceiling", "--for", "levelControl.currentLevel=40%", "--for", "locality=peer", "--timeout", "5m"
      )
      .output == "Ceiling: levelControl.currentLevel is 40%, locality is peer\n")
    let never = try await hearth("wait", "ceiling", "--for", "onOff=false", "--timeout", "300ms")
    #expect(never.status == 11)
    #expect(never.errors == "hearth: Ceiling: onOff is true, not false\n")

    #expect(await watch.interrupt() == .exit(130))

    // The anchor of any line continues with the next line.
    let lines = watch.lines
    let middle = try #require(lines.dropLast(lines.count / 2).last)
    let anchor = try #require(middle.split(separator: #""anchor":""#).last).prefix { $0 != "\"" }
    let rest = try await hearth("watch", "--since", String(anchor), "--for", "0s", "--json").output.split(
      separator: "\n")
    // Compares anchors, because past lines have the current names until the log reaches a change of the name.
    func anchors(_ lines: [String]) -> [Substring?] { lines.map { $0.split(separator: #""anchor":""#).last } }
    #expect(anchors(rest.prefix(lines.count / 2).map(String.init)) == anchors(lines.suffix(lines.count / 2)))
    #expect(
      try await hearth("watch", "--since", String(anchor), "--count", "1", "--json").output == (rest.first ?? "") + "\n"
    )

    // For one device only, without changes of rooms.
    let begin = try #require(lines.first?.split(separator: #""anchor":""#).last).prefix { $0 != "\"" }
    func logged(_ targets: String...) async throws -> [Substring?] {
      let output = try await hearth.run(["watch"] + targets + ["--since", String(begin), "--for", "0s", "--json"])
        .output
      return anchors(output.split(separator: "\n").map(String.init))
    }
    let ofDevice = lines.dropFirst().filter { $0.contains(#""device":"#) && !$0.contains("settledConnectivity\"") }
    #expect(ofDevice.count > 2 && ofDevice.count < lines.count - 1)
    #expect(try await logged("ceiling").prefix(ofDevice.count) == anchors(ofDevice)[...])
    #expect(try await logged("ceiling/1").count < ofDevice.count)

    // An anchor beyond the end of the log.
    let beyond = String(anchor.prefix { $0 != "-" }) + "-99999999"
    let reset = try await hearth("watch", "--since", beyond, "--for", "0s", "--json")
    #expect(reset.status == 0)
    #expect(reset.output.hasPrefix(#"{"ok":true,"data":{"reset":true,"time":"#))
    #expect(
      try await hearth("watch", "--since", beyond, "--for", "0s").output.contains("reset: the log does not contain"))

    // After compaction of the log: the current home, and no past changes.
    let database = try HomeDatabase.open(StateDirectory(hearth.state).database)
    #expect(try database.compact(keeping: 0) > 0)
    let compacted = try await hearth("watch", "--since", String(anchor), "--for", "0s", "--json").output
    let line = try #require(compacted.split(separator: "\n").first)
    let reply = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let snapshot = try #require(reply["data"] as? [String: Any])
    #expect(snapshot["reset"] as? Bool == true && compacted.split(separator: "\n").count == 1)
    #expect(snapshot["anchor"] as? String == "\(try database.anchor())")
    #expect((snapshot["rooms"] as? [[String: Any]])?.map { $0["name"] as? String } == ["Den"])
    let lamp = try #require((snapshot["devices"] as? [[String: Any]])?.first)
    #expect(lamp["name"] as? String == "Ceiling" && lamp["room"] as? String == "Den")
    #expect((lamp["attributes"] as? [[String: Any]])?.contains { $0["attribute"] as? String == "onOff" } == true)
    try database.close()

    // The home as a SYNC response.
    let sync = try await hearth("home", "sync", "--json", "--agent-user-id", "me", "--request-id", "r1")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(sync.output.utf8)) as? [String: Any])
    let data = try #require(object["data"] as? [String: Any])
    #expect(data["requestId"] as? String == "r1")
    let payload = try #require(data["payload"] as? [String: Any])
    #expect(payload["agentUserId"] as? String == "me")
    let device = try #require((payload["devices"] as? [[String: Any]])?.first)
    #expect(device["type"] as? String == "action.devices.types.LIGHT")
    #expect((device["name"] as? [String: Any])?["name"] as? String == "Ceiling")
    #expect(device["roomHint"] as? String == "Den")
    #expect(try await hearth("home", "sync").output.hasPrefix("{\n"))
  }
}
