import Foundation
import Glibc
import MatterProtocol
import Runtime

/// Measures a fleet of dimmable lights in a process of its own: its start, its memory, its processor time while it is idle,
/// commissioning, and the delivery of a change to the home of another process. The floors are bare sockets.
func fleetRows(_ report: inout Report, _ options: Options) throws {
  // Each light has a socket, and the process some files.
  let limit = OpenFileLimit.raise(to: .max) ?? .max
  let many = min(options.scaled(10_000), Int(clamping: limit) - 200)
  let one = try FleetProcess(1)
  let code = one.child.memory
  one.end()
  let bare = try BlockingEcho.timeToBind(many)
  report.add("fleet: \(many) sockets bound (the floor)", Measured(times: [bare]), ratio: 1)
  let fleet = try FleetProcess(many)
  report.add(
    "fleet: start of \(many) lights, bound and advertised", Measured(times: [fleet.start]), ratio: fleet.start / bare,
    target: many == 10_000 ? .init(text: "5 s", isMet: fleet.start <= 5e9) : nil)
  let each = (fleet.child.memory - code) / Double(many)
  report.add(
    Row(
      name: "fleet: memory for each, not commissioned", bytes: each,
      target: .init(text: "24 KiB", isMet: each <= 24 * 1024)))
  report.add(
    "fleet: processor time per second, not commissioned", Measured(times: [fleet.idle(seconds: options.scaled(30))]))
  fleet.end()

  let count = options.scaled(1_000)
  for width in [1, 8] {
    let fleet = try FleetProcess(count)
    defer { fleet.end() }
    let start = HostClock.now()
    let home = try Child(["home-online", fleet.root, "\(width)"])
    defer { home.kill() }
    guard try home.line().split(separator: " ").count == 3 else { throw BenchError("not all devices came online") }
    let time = Double((HostClock.now() - start).nanoseconds)
    let target = width == 1 ? 10.0 : 6
    report.add(
      "fleet: \(count) lights commissioned, \(width) at a time, and subscribed", Measured(times: [time]),
      target: count == 1_000 ? .init(text: "\(Int(target)) s", isMet: time <= target * 1e9) : nil)
    guard width == 8 else { continue }
    let each = (fleet.child.memory - code) / Double(count)
    report.add(
      Row(
        name: "fleet: memory for each, with a session and a subscription", bytes: each,
        target: .init(text: "48 KiB", isMet: each <= 48 * 1024)))
    let echo = try BlockingEcho(request: 64, response: 64)
    defer { echo.close() }
    let floor = try echo.run(options.scaled(1_000))
    report.add("fleet: UDP echo of 64 bytes, blocking sockets (the floor)", floor, ratio: 1)
    var changes = Measured(isEach: true)
    for number in 0..<options.scaled(1_000) {
      try fleet.child.send(line: "\(number * 7)")
      guard let begin = Double(try fleet.child.line()), let end = Double(try home.line()) else {
        throw BenchError("a change did not arrive")
      }
      changes.times.append(end - begin)
    }
    report.add(
      "fleet: a change at one of \(count) lights, until the home's callback", changes,
      ratio: changes.median / floor.median,
      target: .init(text: "p99 1 ms", isMet: (changes.p99 ?? .infinity) <= 1e6))
  }
  try idleRow(&report, options, many)
}

/// Measures a fleet while it is idle and subscribed at 60 s.
private func idleRow(_ report: inout Report, _ options: Options, _ count: Int) throws {
  let fleet = try FleetProcess(count)
  defer { fleet.end() }
  let home = try Child(["home-online", fleet.root, "8"])
  defer { home.kill() }
  guard try home.line().split(separator: " ").count == 3 else { throw BenchError("not all devices came online") }
  // The reports of a minute.
  let idle = fleet.idle(seconds: options.scaled(60))
  report.add(
    "fleet: processor time per second, \(count) subscribed at 60 s", Measured(times: [idle]),
    target: count >= 9_900 ? .init(text: "30 ms", isMet: idle <= 3e7 * Double(count) / 10_000) : nil)
}

/// A process with a fleet of dimmable lights.
private struct FleetProcess {
  let child: Child
  let root = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString).path
  /// The time until all lights ran, in nanoseconds.
  let start: Double

  init(_ count: Int) throws {
    let begin = HostClock.now()
    child = try Child(["home-fleet", root, "\(count)"])
    guard try child.line() == "ready" else { throw BenchError("the devices did not start") }
    start = Double((HostClock.now() - begin).nanoseconds)
  }

  /// Returns the processor time in each second, in nanoseconds.
  func idle(seconds: Int) -> Double {
    // Announcements and first reports are not part of it.
    sleep(5)
    let before = child.processorTime
    sleep(UInt32(seconds))
    return (child.processorTime - before) / Double(seconds)
  }

  func end() {
    child.kill()
    try? FileManager.default.removeItem(atPath: root)
  }
}
