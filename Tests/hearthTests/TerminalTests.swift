import Foundation
import Glibc
import HearthHome
import HomeModel
import MatterModel
import Testing

/// Output on a pseudoterminal.
@Suite("On a terminal", .serialized, .processes) struct TerminalTests {
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

    /// Reads until the output meets a condition.
    func waits(until isTrue: (String) -> Bool) async -> Bool {
      await eventually {
        readAvailable()
        return isTrue(text)
      }
    }

    /// Reads until the output contains a text.
    func waits(for part: String) async -> Bool { await waits { $0.contains(part) } }
  }

  /// Starts `hearth devices --watch` on a terminal, in a home with a lamp.
  /// - Parameter contacts: the last contact of the lamp.
  private func watch(_ hearth: Hearth, _ terminal: Terminal, contacts: [NodeID: Contact] = [:]) throws {
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
    _ = try ChildProcess(
      Hearth.executable,
      ["devices", "--watch", "--timeout", "300ms", "--mdns", "off", "--state", hearth.state],
      environment: ["NO_COLOR": "1"], output: terminal.slave.fileDescriptor)
  }

  @Test("colors a table and fits it to the width", .timeLimit(.minutes(5)), arguments: [[:], ["NO_COLOR": "1"]])
  func colors(_ environment: [String: String]) async throws {
    let terminal = try Terminal(columns: 60)
    var variables: [String: String?] = ["NO_COLOR": nil, "TERM": "xterm"]
    variables.merge(environment) { $1 }
    let process = try ChildProcess(
      Hearth.executable, ["types"], environment: variables, output: terminal.slave.fileDescriptor)
    // The terminal holds only a part of the output.
    #expect(await terminal.waits { _ in !process.isRunning })
    terminal.readAvailable()
    let heading = terminal.text.split(separator: "\r\n").first ?? ""
    #expect(heading.hasPrefix("\u{1B}[1mTYPE ") == environment.isEmpty, "\(terminal.text.debugDescription)")
    let plain = terminal.text.replacing(try Regex("\u{1B}\\[[0-9]*m"), with: "")
    #expect(plain.contains("\u{1B}") == false && plain.contains("dimmable light"))
    // The last line may end between the two characters of a line end.
    let lines: [Substring] = plain.split(separator: "\r\n")
    #expect(lines.dropLast().allSatisfy { $0.count <= 60 }, "\(plain)")
    #expect(plain.contains("…"))
  }

  @Test(.timeLimit(.minutes(5))) func updatesRelativeTimes() async throws {
    let hearth = Hearth()
    let terminal = try Terminal()
    let ago = Home.now() * 1000 - 10_000_000
    try watch(hearth, terminal, contacts: [5: Contact(last: ago)])
    // The first redraws are for the state of the device and its reason, later ones for the time alone.
    #expect(
      await terminal.waits { Set($0.matches(of: /(\d+) s ago/).map(\.1)).count >= 3 },
      "\(terminal.text.debugDescription)")
  }

  @Test(.timeLimit(.minutes(5))) func redrawsTableInPlace() async throws {
    let hearth = Hearth()
    let terminal = try Terminal()
    try watch(hearth, terminal)
    // Cursor to the upper left corner, clear to the end of each line, clear below. The terminal converts LF to CR LF.
    let (home, line, below) = ("\u{1B}[H", "\u{1B}[K\r\n", "\u{1B}[K\u{1B}[J")
    #expect(await terminal.waits(for: below), "\(terminal.text.debugDescription)")
    #expect(terminal.text.contains("\(home)NAME  ") && terminal.text.contains(line + "Lamp  "))
    #expect(terminal.text.contains("(on)"))
    // Redrawn once for each change, and not for elapsed time: each command takes a while.
    for name in ["Desk", "Table", "Shelf"] {
      #expect(try await hearth("rename", "5", name).status == 0)
      #expect(await terminal.waits(for: "\(name)  "), "\(terminal.text.debugDescription)")
    }
    #expect(terminal.text.components(separatedBy: home).count - 1 == 4, "\(terminal.text.debugDescription)")
  }
}
