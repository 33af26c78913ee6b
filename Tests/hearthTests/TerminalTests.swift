import Foundation
import Glibc
import MatterModel
import Testing

@testable import Home

/// Output on a pseudoterminal.
@Suite("On a terminal", .serialized) struct TerminalTests {
  /// A pseudoterminal that records its output.
  private final class Terminal {
    let master: Int32
    let slave: FileHandle
    private(set) var text = ""

    init(columns: UInt16 = 0) throws {
      let one = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      try #require(one >= 0)
      // TIOCSPTLCK and TIOCGPTN, because unlockpt and ptsname are not imported.
      var (lock, number) = (Int32(0), Int32(0))
      let (isUnlocked, isNamed) = (ioctl(one, 0x4004_5431, &lock) == 0, ioctl(one, 0x8004_5430, &number) == 0)
      try #require(isUnlocked && isNamed)
      let name = "/dev/pts/\(number)"
      let other = open(name, O_RDWR | O_NOCTTY)
      try #require(other >= 0)
      _ = fcntl(one, F_SETFL, O_NONBLOCK)
      var size = winsize()
      size.ws_col = columns
      _ = ioctl(one, UInt(TIOCSWINSZ), &size)
      master = one
      slave = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    }

    deinit { close(master) }

    /// Reads the available output.
    func readAvailable() {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while case let count = read(master, &bytes, bytes.count), count > 0 {
        text += String(decoding: bytes[..<count], as: UTF8.self)
      }
    }

    /// Reads until the output contains a text, for at most 30 seconds.
    func waits(for part: String) async throws -> Bool {
      for _ in 0..<600 {
        readAvailable()
        if text.contains(part) { return true }
        try await Task.sleep(for: .milliseconds(50))
      }
      return false
    }
  }

  /// Starts `hearth devices --watch` on a terminal, in a home with a lamp.
  /// - Parameter contacts: the last contact of the lamp.
  private func watch(_ hearth: Hearth, _ terminal: Terminal, contacts: [NodeID: Contact] = [:]) throws -> Process {
    let source = SourceID(5)
    try hearth.seed(
      [
        .structureAdded(HomeReducer.firstStructure),
        .deviceAdded(id: "5", name: "Lamp", roomID: nil, structureID: "home"), .sourceAdded(source, device: "5"),
        .topology(
          source, [DeviceEndpoint(id: 0, parts: [1]), DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6])],
          DeviceIdentity()),
        .attribute(5, .init(1, 6, 0), value: [0x09]),
      ], contacts: contacts)
    let process = Process()
    process.executableURL = Hearth.path
    process.arguments = ["devices", "--watch", "--timeout", "300ms", "--mdns", "off", "--state", hearth.state]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = terminal.slave
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  @Test("colors a table and fits it to the width", .timeLimit(.minutes(5)), arguments: [[:], ["NO_COLOR": "1"]])
  func colors(_ environment: [String: String]) throws {
    let terminal = try Terminal(columns: 60)
    let process = Process()
    process.executableURL = Hearth.path
    process.arguments = ["types"]
    var all = ProcessInfo.processInfo.environment
    all["NO_COLOR"] = nil
    all["TERM"] = "xterm"
    process.environment = all.merging(environment) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = terminal.slave
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    terminal.readAvailable()
    let heading = terminal.text.split(separator: "\r\n").first ?? ""
    #expect(heading.hasPrefix("\u{1B}[1mTYPE ") == environment.isEmpty, "\(terminal.text.debugDescription)")
    let plain = terminal.text.replacing(try Regex("\u{1B}\\[[0-9]*m"), with: "")
    #expect(plain.contains("\u{1B}") == false && plain.contains("dimmable light"))
    #expect(plain.split(separator: "\r\n").allSatisfy { $0.count <= 60 }, "\(plain)")
    #expect(plain.contains("…"))
  }

  @Test(.timeLimit(.minutes(5))) func updatesRelativeTimes() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let terminal = try Terminal()
    let ago = Home.now() * 1000 - 10_000_000
    let process = try watch(hearth, terminal, contacts: [5: Contact(last: ago)])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    #expect(try await terminal.waits(for: " s ago"), "\(terminal.text.debugDescription)")
    // The first redraws are for the state of the device and its reason, later ones for the time alone.
    for _ in 0..<1200 where terminal.text.components(separatedBy: "\u{1B}[H").count < 5 {
      terminal.readAvailable()
      try await Task.sleep(for: .milliseconds(50))
    }
    let times = Set(terminal.text.matches(of: /(\d+) s ago/).map(\.1))
    #expect(times.count >= 3, "\(terminal.text.debugDescription)")
  }

  @Test(.timeLimit(.minutes(5))) func redrawsTableInPlace() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let terminal = try Terminal()
    let process = try watch(hearth, terminal)
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    // Cursor to the upper left corner, clear to the end of each line, clear below. The terminal converts LF to CR LF.
    let (home, line, below) = ("\u{1B}[H", "\u{1B}[K\r\n", "\u{1B}[K\u{1B}[J")
    #expect(try await terminal.waits(for: below), "\(terminal.text.debugDescription)")
    #expect(terminal.text.contains("\(home)NAME  ") && terminal.text.contains(line + "Lamp  "))
    #expect(terminal.text.contains("(on)"))
    #expect(try hearth("rename", "lamp", "Desk").status == 0)
    #expect(try await terminal.waits(for: "Desk  "), "\(terminal.text.debugDescription)")
    #expect(try await terminal.waits(for: below))
    // Redrawn once for each change, and not for elapsed time.
    let drawn = terminal.text.components(separatedBy: home).count - 1
    try await Task.sleep(for: .seconds(1))
    #expect(try await terminal.waits(for: "Desk  "))
    #expect(terminal.text.components(separatedBy: home).count - 1 == drawn)
    #expect(drawn == 2, "\(terminal.text.debugDescription)")
  }
}
