import Foundation
import Testing

/// Everything without DNS-SD: addresses are told with --at, or stand in a file.
@Suite("Without multicast", .serialized) struct NoMulticastTests {
  @Test(.timeLimit(.minutes(10))) func devicesArePairedAndUsedByTheirAddresses() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let devices = try QuietDevices(hearth)
    let (state, book) = (devices.state, devices.book)
    try """
    devices:
      - { name: One, type: dimmable light, discriminator: 1001, passcode: 20240001 }
      - { name: Two, type: dimmable light, discriminator: 1002, passcode: 20240002 }
    """.write(to: devices.definition, atomically: true, encoding: .utf8)
    let (fleet, ports) = try await devices.start()
    defer { devices.stop(fleet) }
    try #require(ports.count == 2)

    // They are not found (others' devices may be), and nobody is looked for in vain.
    let found = try hearth("discover", "--timeout", "300ms", "--json").output
    for port in ports { #expect(!found.contains("\"port\":\(port),")) }
    let lost = try hearth("pair", "--passcode", "20240001", "--discriminator", "1001", "--mdns", "off")
    #expect(lost.status == 2)
    #expect(lost.errors.contains("--at") && lost.errors.contains("--address-book"))

    // One by --at, the other by its discriminator in the book.
    let one = "127.0.0.1:\(ports[0])"
    let paired = try hearth("pair", "--passcode", "20240001", "--mdns", "off", "--at", one, "--name", "One")
    #expect(paired.status == 0, "\(paired.errors)")
    try "discriminator 1002: 127.0.0.1:\(ports[1])\n".write(to: book, atomically: true, encoding: .utf8)
    let second = try hearth(
      "pair", "--passcode", "20240002", "--discriminator", "1002", "--mdns", "off", "--address-book", book.path,
      "--name", "Two")
    #expect(second.status == 0, "\(second.errors)")

    // Used by their names, with the book and with --at; many at once.
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
    func heard(_ text: String) async throws -> Bool {
      for _ in 0..<1200 {
        let output = try String(contentsOf: state.appending(path: "follower.out"), encoding: .utf8)
        if output.contains(text) { return true }
        try await Task.sleep(for: .milliseconds(50))
      }
      return false
    }
    #expect(try await heard("\"initial\":true"))
    #expect(try run("on", "one", "two").status == 0)
    #expect(try await heard("\"initial\":false"))
    #expect(try run("level", "two", "40%").output == "Two: 40%\n")
    #expect(try run("read", "two.levelControl.currentLevel").output == "40%\n")
    #expect(try run("write", "one.levelControl.onLevel=50%").status == 0)
    #expect(try hearth("read", "one.levelControl.onLevel", "--mdns", "off", "--at", one).output == "50%\n")
    #expect(try run("devices").output.contains("online"))
    try await expectAdministration(of: one, hearth, off)
    #expect(try run("remove", "two").status == 0)

    // The book is wrong: the device is tried where it was last, and that is not forgotten.
    try "one: 127.0.0.1:9\n".write(to: book, atomically: true, encoding: .utf8)
    #expect(try run("on", "one").status == 0)
    #expect(try hearth("on", "one", "--mdns", "off").status == 0)

    // A line that is wrong is named.
    try "one: 127.0.0.1:\(ports[0]) 5\n".write(to: book, atomically: true, encoding: .utf8)
    let wrong = try run("on", "one")
    #expect(wrong.status == 12)
    #expect(wrong.errors.contains("\(book.path):1:6"))
    #expect(try hearth("on", "one", "--address-book", "nowhere").status == 3)
  }

  /// Windows, other homes, rights, groups and a hub.
  private func expectAdministration(of address: String, _ hearth: Hearth, _ off: [String]) async throws {
    func run(_ arguments: String...) throws -> Hearth.Result { try hearth.run(arguments + off) }
    // Another home takes the device by the code of a window, and is sent away again.
    let shared = try run("share", "one", "--no-qr")
    #expect(shared.status == 0, "\(shared.errors)")
    #expect(try run("share", "one", "--status").output.contains("a code of its own is open"))
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

    // Messages to a group are multicast, but nobody has to be looked for to send them; its members are set up one by one.
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

  /// A switch knows where the lamp is that it is bound to from the file that `hearth run` was given, and from nothing else.
  @Test(.timeLimit(.minutes(10))) func aSwitchFindsItsLampInTheAddressBook() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let devices = try QuietDevices(hearth)
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
    // Nothing says where the lamp is.
    _ = try hearth("sim", "press", "Button", "short")
    try await Task.sleep(for: .seconds(2))
    #expect(try !isOn())

    // As before, but with the book, which calls the lamp by its node id.
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

    // A line that is wrong is named, and nothing starts.
    try "1: nowhere\n".write(to: book, atomically: true, encoding: .utf8)
    let wrong = try hearth("run", definition.path, "--mdns", "off", "--address-book", book.path)
    #expect(wrong.status == 12 && wrong.errors.contains("\(book.path):1:4"), "\(wrong.errors)")
  }
}

/// Devices of a definition file that nobody announces.
private struct QuietDevices {
  let hearth: Hearth
  let state: URL
  let definition: URL
  /// Where the test may write addresses.
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

  /// Starts the devices, and gives their ports in the order of the file.
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
