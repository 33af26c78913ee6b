import Foundation
import Testing

/// Commands without DNS-SD, with addresses from --at or an address book.
@Suite("Without multicast", .serialized) struct NoMulticastTests {
  @Test(.timeLimit(.minutes(10))) func pairsAndControlsDevicesByAddress() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let devices = try UnadvertisedDevices(hearth)
    let (state, book) = (devices.state, devices.book)
    try """
    devices:
      - { name: One, type: dimmable light, discriminator: 1001, passcode: 20240001 }
      - { name: Two, type: dimmable light, discriminator: 1002, passcode: 20240002 }
    """.write(to: devices.definition, atomically: true, encoding: .utf8)
    let (fleet, ports) = try await devices.start()
    defer { devices.stop(fleet) }
    try #require(ports.count == 2)

    // The devices are not discovered (devices of other tests may be), and pairing without an address fails at once.
    let found = try hearth("discover", "--timeout", "300ms", "--json").output
    for port in ports { #expect(!found.contains("\"port\":\(port),")) }
    let lost = try hearth("pair", "--passcode", "20240001", "--discriminator", "1001", "--mdns", "off")
    #expect(lost.status == 2)
    #expect(lost.errors.contains("--at") && lost.errors.contains("--address-book"))

    // One device with --at, the other with its discriminator in the address book.
    let one = "127.0.0.1:\(ports[0])"
    let paired = try hearth("pair", "--passcode", "20240001", "--mdns", "off", "--at", one, "--name", "One")
    #expect(paired.status == 0, "\(paired.errors)")
    try "discriminator 1002: 127.0.0.1:\(ports[1])\n".write(to: book, atomically: true, encoding: .utf8)
    let second = try hearth(
      "pair", "--passcode", "20240002", "--discriminator", "1002", "--mdns", "off", "--address-book", book.path,
      "--name", "Two")
    #expect(second.status == 0, "\(second.errors)")

    // Controlled by name, with the address book and with --at; several at once.
    try "# where they are\none: \(one)\n2: 127.0.0.1:\(ports[1])\n".write(to: book, atomically: true, encoding: .utf8)
    let off = ["--mdns", "off", "--address-book", book.path]
    func run(_ arguments: String...) throws -> Hearth.Result { try hearth.run(arguments + off) }
    let follower = try hearth.start(
      ["subscribe", "two.onOff.onOff", "--json"] + off, output: state.appending(path: "follower.out"),
      errors: state.appending(path: "follower.err"))
    defer {
      if follower.isRunning { follower.interrupt() }
      follower.waitUntilExit()
    }
    func receives(_ text: String) async throws -> Bool {
      for _ in 0..<1200 {
        let output = try String(contentsOf: state.appending(path: "follower.out"), encoding: .utf8)
        if output.contains(text) { return true }
        try await Task.sleep(for: .milliseconds(50))
      }
      return false
    }
    #expect(try await receives("\"initial\":true"))
    #expect(try run("on", "one", "two").status == 0)
    #expect(try await receives("\"initial\":false"))
    #expect(try run("level", "two", "40%").output == "Two: 40%\n")
    #expect(try run("read", "two.levelControl.currentLevel").output == "40%\n")
    #expect(try run("write", "one.levelControl.onLevel=50%").status == 0)
    #expect(try hearth("read", "one.levelControl.onLevel", "--mdns", "off", "--at", one).output == "50%\n")
    #expect(try run("devices").output.contains("online"))
    try await expectAdministration(of: one, hearth, off)
    #expect(try run("remove", "two").status == 0)

    // With a wrong address in the book, the last known address is used, and it remains stored.
    try "one: 127.0.0.1:9\n".write(to: book, atomically: true, encoding: .utf8)
    #expect(try run("on", "one").status == 0)
    #expect(try hearth("on", "one", "--mdns", "off").status == 0)

    // The error has the position of an invalid line.
    try "one: 127.0.0.1:\(ports[0]) 5\n".write(to: book, atomically: true, encoding: .utf8)
    let wrong = try run("on", "one")
    #expect(wrong.status == 12)
    #expect(wrong.errors.contains("\(book.path):1:6"))
    #expect(try hearth("on", "one", "--address-book", "nowhere").status == 3)
  }

  /// Checks windows, other fabrics, access control, groups and a hub.
  private func expectAdministration(of address: String, _ hearth: Hearth, _ off: [String]) async throws {
    func run(_ arguments: String...) throws -> Hearth.Result { try hearth.run(arguments + off) }
    // Another home commissions the device through the window, and is removed again.
    let shared = try run("share", "one", "--no-qr")
    #expect(shared.status == 0, "\(shared.errors)")
    #expect(try run("share", "one", "--status").output.contains("an enhanced window is open"))
    let label = try #require(shared.output.firstRange(of: "Manual code"))
    let code = shared.output[label.upperBound...].drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "-" }
    let other = Hearth()
    defer { other.cleanUp() }
    let taken = try other("pair", String(code), "--mdns", "off", "--at", address)
    #expect(taken.status == 0, "\(taken.errors)")
    #expect(try other("toggle", "1", "--mdns", "off").status == 0)
    #expect(try run("fabrics", "one").output.split(separator: "\n").count == 3)
    #expect(try run("fabrics", "remove", "one", "2").status == 0)
    #expect(try run("fabrics", "one").output.split(separator: "\n").count == 2)

    #expect(try run("acl", "grant", "one", "operate", "--to", "77").status == 0)
    #expect(try run("acl", "one", "--json").output.contains(#""subjects":["77"]"#))
    #expect(try run("acl", "revoke", "one", "2").status == 0)

    // Group messages need no discovery; the members are set up by unicast.
    #expect(try run("group", "create", "Crowd").status == 0)
    #expect(try run("group", "add", "Crowd", "one", "two").status == 0)
    #expect(try run("on", "one", "two").status == 0)
    #expect(try run("group", "invoke", "Crowd", "onOff.off").status == 0)
    for name in ["one", "two"] {
      #expect(try await waits { try run("read", "\(name).onOff.onOff").output == "false\n" })
    }
    #expect(try run("group", "remove", "Crowd", "one", "two").status == 0)

    let hub = try hearth.start(
      ["hub", "run"] + off, output: URL(filePath: hearth.state).appending(path: "hub.out"),
      errors: URL(filePath: hearth.state).appending(path: "hub.err"))
    defer {
      if hub.isRunning { hub.interrupt() }
      hub.waitUntilExit()
    }
    #expect(try await waits { try hearth("hub", "status").status == 0 })
    for name in ["one", "two"] {
      let online = try hearth("wait", name, "--hub", "here", "--for", "connectivity=online", "--timeout", "30s")
      #expect(online.status == 0, "\(online.errors)")
    }
    #expect(try hearth("on", "one", "two", "--hub", "here").status == 0)
    #expect(try hearth("read", "two.onOff.onOff", "--hub", "here").output == "true\n")
  }

  @Test(.timeLimit(.minutes(10))) func switchUsesAddressBookOfRun() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let devices = try UnadvertisedDevices(hearth)
    let (definition, book) = (devices.definition, devices.book)
    func lines(lamp: String = "", button: String = "") -> String {
      """
      devices:
        - { name: Lamp, type: on/off light, discriminator: 1001, passcode: 20240001\(lamp) }
        - { name: Button, type: on/off light switch, discriminator: 1002, passcode: 20240002\(button) }
      """
    }
    try lines().write(to: definition, atomically: true, encoding: .utf8)
    let first = try await devices.start()
    defer { devices.stop(first.fleet) }
    try #require(first.ports.count == 2)
    for (index, name) in ["Lamp", "Button"].enumerated() {
      let paired = try hearth(
        "pair", "--passcode", "2024000\(index + 1)", "--mdns", "off", "--at", "127.0.0.1:\(first.ports[index])",
        "--name", name)
      #expect(paired.status == 0, "\(paired.errors)")
    }
    let bound = try hearth("bind", "button", "lamp", "--mdns", "off")
    #expect(bound.status == 0, "\(bound.errors)")
    func isOn() throws -> Bool { try hearth("read", "lamp.onOff.onOff", "--mdns", "off").output == "true\n" }
    #expect(try !isOn())
    // The switch does not know the address of the lamp.
    _ = try hearth("sim", "press", "Button", "short")
    try await Task.sleep(for: .seconds(2))
    #expect(try !isOn())

    // The same with an address book, which has the node id of the lamp.
    devices.stop(first.fleet)
    try lines(lamp: ", port: \(first.ports[0])", button: ", port: \(first.ports[1])")
      .write(to: definition, atomically: true, encoding: .utf8)
    try "1: 127.0.0.1:\(first.ports[0])\n".write(to: book, atomically: true, encoding: .utf8)
    let second = try await devices.start("--address-book", book.path)
    defer { devices.stop(second.fleet) }
    #expect(second.ports == first.ports)
    let pressed = try hearth("sim", "press", "Button", "short")
    #expect(pressed.status == 0, "\(pressed.errors)")
    #expect(try await waits { try isOn() })

    // An invalid line prevents the start, and the error has its position.
    try "1: nowhere\n".write(to: book, atomically: true, encoding: .utf8)
    let wrong = try hearth("run", definition.path, "--mdns", "off", "--address-book", book.path)
    #expect(wrong.status == 12 && wrong.errors.contains("\(book.path):1:4"), "\(wrong.errors)")
  }
}

/// Virtual devices in a separate process that are not advertised.
private struct UnadvertisedDevices {
  let hearth: Hearth
  let state: URL
  let definition: URL
  /// The file of the address book, which tests write.
  let book: URL
  private let ready: URL

  init(_ hearth: Hearth) throws {
    self.hearth = hearth
    state = URL(filePath: hearth.state)
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    definition = state.appending(path: "home.yaml")
    book = state.appending(path: "book")
    ready = state.appending(path: "ready")
  }

  /// Starts the devices.
  /// - Returns: the process, and the ports of the devices in the order of the file.
  func start(_ extra: String...) async throws -> (fleet: Process, ports: [UInt16]) {
    try? FileManager.default.removeItem(at: ready)
    let fleet = try hearth.start(
      ["run", definition.path, "--mdns", "off", "--ready-file", ready.path] + extra,
      output: state.appending(path: "fleet.out"), errors: state.appending(path: "fleet.err"))
    for _ in 0..<1200 where !FileManager.default.fileExists(atPath: ready.path) && fleet.isRunning {
      try await Task.sleep(for: .milliseconds(50))
    }
    let ports = try hearth("sim", "ps", "--json").output.split(separator: "\"port\":").dropFirst()
      .compactMap { UInt16($0.prefix { $0.isNumber }) }
    return (fleet, ports)
  }

  func stop(_ fleet: Process) {
    if fleet.isRunning { fleet.interrupt() }
    fleet.waitUntilExit()
  }
}
