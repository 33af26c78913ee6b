import Foundation
import Testing

/// Commands without DNS-SD, with addresses from --at or an address book.
@Suite("Without multicast", .serialized, .processes) struct NoMulticastTests {
  @Test(.timeLimit(.minutes(10))) func pairsAndControlsDevicesByAddress() async throws {
    let hearth = Hearth()
    let book = URL(filePath: hearth.state).appending(path: "book")
    let ports = try await Fleet(
      hearth,
      definition: """
        devices:
          - { name: One, type: dimmable light, discriminator: 1001, passcode: 20240001 }
          - { name: Two, type: dimmable light, discriminator: 1002, passcode: 20240002 }
        """, options: ["--mdns", "off"]
    ).ports
    try #require(ports.count == 2)

    // The devices are not discovered (devices of other tests may be), and pairing without an address fails at once.
    let found = try await hearth("discover", "--timeout", "300ms", "--json").output
    for port in ports { #expect(!found.contains("\"port\":\(port),")) }
    let lost = try await hearth("pair", "--passcode", "20240001", "--discriminator", "1001", "--mdns", "off")
    #expect(lost.status == 2)
    #expect(lost.errors.contains("--at") && lost.errors.contains("--address-book"))

    // One device with --at, the other with its discriminator in the address book.
    let one = "127.0.0.1:\(ports[0])"
    let paired = try await hearth("pair", "--passcode", "20240001", "--mdns", "off", "--at", one, "--name", "One")
    #expect(paired.status == 0, "\(paired.errors)")
    try "discriminator 1002: 127.0.0.1:\(ports[1])\n".write(to: book, atomically: true, encoding: .utf8)
    let second = try await hearth(
      "pair", "--passcode", "20240002", "--discriminator", "1002", "--mdns", "off", "--address-book", book.path,
      "--name", "Two")
    #expect(second.status == 0, "\(second.errors)")

    // Controlled by name, with the address book and with --at; several at once.
    try "# where they are\none: \(one)\n2: 127.0.0.1:\(ports[1])\n".write(to: book, atomically: true, encoding: .utf8)
    let off = ["--mdns", "off", "--address-book", book.path]
    func run(_ arguments: String...) async throws -> Hearth.Result { try await hearth.run(arguments + off) }
    let follower = try Follower(hearth, ["subscribe", "two.onOff.onOff", "--json"] + off)
    #expect(await follower.waits(for: "\"initial\":true"))
    #expect(try await run("on", "one", "two").status == 0)
    #expect(await follower.waits(for: "\"initial\":false"))
    #expect(try await run("level", "two", "40%").output == "Two: 40%\n")
    #expect(try await run("read", "two.levelControl.currentLevel").output == "40%\n")
    #expect(try await run("write", "one.levelControl.onLevel=50%").status == 0)
    #expect(try await hearth("read", "one.levelControl.onLevel", "--mdns", "off", "--at", one).output == "50%\n")
    #expect(try await run("devices").output.contains("online"))
    try await expectAdministration(of: one, hearth, off)
    #expect(try await run("remove", "two").status == 0)

    // With a wrong address in the book, the last known address is used, and it remains stored.
    try "one: 127.0.0.1:9\n".write(to: book, atomically: true, encoding: .utf8)
    #expect(try await run("on", "one").status == 0)
    #expect(try await hearth("on", "one", "--mdns", "off").status == 0)

    // The error has the position of an invalid line.
    try "one: 127.0.0.1:\(ports[0]) 5\n".write(to: book, atomically: true, encoding: .utf8)
    let wrong = try await run("on", "one")
    #expect(wrong.status == 12)
    #expect(wrong.errors.contains("\(book.path):1:6"))
    #expect(try await hearth("on", "one", "--address-book", "nowhere").status == 3)
  }

  /// Checks windows, other fabrics, access control, groups and a hub.
  private func expectAdministration(of address: String, _ hearth: Hearth, _ off: [String]) async throws {
    func run(_ arguments: String...) async throws -> Hearth.Result { try await hearth.run(arguments + off) }
    // Another home commissions the device through the window, and is removed again.
    let shared = try await run("share", "one", "--no-qr")
    #expect(shared.status == 0, "\(shared.errors)")
    #expect(try await run("share", "one", "--status").output.contains("an enhanced window is open"))
    let label = try #require(shared.output.firstRange(of: "Manual code"))
    let code = shared.output[label.upperBound...].drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "-" }
    let other = Hearth()
    let taken = try await other("pair", String(code), "--mdns", "off", "--at", address)
    #expect(taken.status == 0, "\(taken.errors)")
    #expect(try await other("toggle", "1", "--mdns", "off").status == 0)
    #expect(try await run("fabrics", "one").output.split(separator: "\n").count == 3)
    #expect(try await run("fabrics", "remove", "one", "2").status == 0)
    #expect(try await run("fabrics", "one").output.split(separator: "\n").count == 2)

    #expect(try await run("acl", "grant", "one", "operate", "--to", "77").status == 0)
    #expect(try await run("acl", "one", "--json").output.contains(#""subjects":["77"]"#))
    #expect(try await run("acl", "revoke", "one", "2").status == 0)

    // Group messages need no discovery; the members are set up by unicast.
    #expect(try await run("group", "create", "Crowd").status == 0)
    #expect(try await run("group", "add", "Crowd", "one", "two").status == 0)
    #expect(try await run("on", "one", "two").status == 0)
    #expect(try await run("group", "invoke", "Crowd", "onOff.off").status == 0)
    for name in ["one", "two"] {
      #expect(try await eventuallyByCommands { try await run("read", "\(name).onOff.onOff").output == "false\n" })
    }
    #expect(try await run("group", "remove", "Crowd", "one", "two").status == 0)

    _ = try Follower(hearth, ["hub", "run"] + off)
    #expect(try await eventuallyByCommands { try await hearth("hub", "status").status == 0 })
    for name in ["one", "two"] {
      let online = try await hearth("wait", name, "--hub", "here", "--for", "connectivity=online", "--timeout", "5m")
      #expect(online.status == 0, "\(online.errors)")
    }
    #expect(try await hearth("on", "one", "two", "--hub", "here").status == 0)
    #expect(try await hearth("read", "two.onOff.onOff", "--hub", "here").output == "true\n")
  }

  @Test(.timeLimit(.minutes(10))) func switchUsesAddressBookOfRun() async throws {
    let hearth = Hearth()
    let book = URL(filePath: hearth.state).appending(path: "book")
    func lines(lamp: String = "", button: String = "") -> String {
      """
      devices:
        - { name: Lamp, type: on/off light, discriminator: 1001, passcode: 20240001\(lamp) }
        - { name: Button, type: on/off light switch, discriminator: 1002, passcode: 20240002\(button) }
      """
    }
    let first = try await Fleet(hearth, definition: lines(), options: ["--mdns", "off"])
    try #require(first.ports.count == 2)
    for (index, name) in ["Lamp", "Button"].enumerated() {
      let paired = try await hearth(
        "pair", "--passcode", "2024000\(index + 1)", "--mdns", "off", "--at", "127.0.0.1:\(first.ports[index])",
        "--name", name)
      #expect(paired.status == 0, "\(paired.errors)")
    }
    let bound = try await hearth("bind", "button", "lamp", "--mdns", "off")
    #expect(bound.status == 0, "\(bound.errors)")
    func isOn() async throws -> Bool {
      try await hearth("read", "lamp.onOff.onOff", "--mdns", "off").output == "true\n"
    }
    #expect(try await !isOn())
    // The switch does not know the address of the lamp.
    _ = try await hearth("sim", "press", "Button", "short")
    #expect(try await !isOn())

    // The same with an address book, which has the node id of the lamp.
    await first.stop()
    try "1: 127.0.0.1:\(first.ports[0])\n".write(to: book, atomically: true, encoding: .utf8)
    let second = try await Fleet(
      hearth, definition: lines(lamp: ", port: \(first.ports[0])", button: ", port: \(first.ports[1])"),
      options: ["--mdns", "off", "--address-book", book.path])
    #expect(second.ports == first.ports)
    let pressed = try await hearth("sim", "press", "Button", "short")
    #expect(pressed.status == 0, "\(pressed.errors)")
    #expect(try await eventuallyByCommands { try await isOn() })

    // An invalid line prevents the start, and the error has its position.
    try "1: nowhere\n".write(to: book, atomically: true, encoding: .utf8)
    let definition = hearth.state + "/home.yaml"
    let wrong = try await hearth("run", definition, "--mdns", "off", "--address-book", book.path)
    #expect(wrong.status == 12 && wrong.errors.contains("\(book.path):1:4"), "\(wrong.errors)")
  }
}
