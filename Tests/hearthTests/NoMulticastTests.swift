import Foundation
import Testing

/// Everything without DNS-SD: addresses are told with --at, or stand in a file.
@Suite("Without multicast", .serialized) struct NoMulticastTests {
  @Test(.timeLimit(.minutes(10))) func devicesArePairedAndUsedByTheirAddresses() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let state = URL(filePath: hearth.state)
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    let (definition, ready, book) = (
      state.appending(path: "home.yaml"), state.appending(path: "ready"), state.appending(path: "book")
    )
    try """
    devices:
      - { name: One, type: dimmable light, discriminator: 1001, passcode: 20240001 }
      - { name: Two, type: dimmable light, discriminator: 1002, passcode: 20240002 }
    """.write(to: definition, atomically: true, encoding: .utf8)
    let fleet = try hearth.start(
      ["run", definition.path, "--mdns", "off", "--ready-file", ready.path],
      output: state.appending(path: "fleet.out"), errors: state.appending(path: "fleet.err"))
    defer {
      if fleet.isRunning { fleet.interrupt() }
      fleet.waitUntilExit()
    }
    for _ in 0..<200 where !FileManager.default.fileExists(atPath: ready.path) && fleet.isRunning {
      try await Task.sleep(for: .milliseconds(50))
    }
    let ports = try hearth("sim", "ps", "--json").output.split(separator: "\"port\":").dropFirst()
      .compactMap { UInt16($0.prefix { $0.isNumber }) }
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
      for _ in 0..<200 {
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
}
