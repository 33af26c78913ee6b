import Foundation
import Glibc
import MatterProtocol
import Runtime

/// Measures a fleet of dimmable lights in a process of its own: its start, its memory, its processor time while it is idle,
/// commissioning, and the delivery of a change to the home of another process.
func fleetRows(_ report: inout Report, _ options: Options) throws {
  // Each light has two files open, a socket and a directory.
  let limit = OpenFileLimit.raise(to: .max) ?? .max
  let many = min(options.scaled(10_000), Int(clamping: limit / 2) - 100)
  let one = try FleetProcess(1)
  let code = one.child.memory
  one.end()
  let fleet = try FleetProcess(many)
  report.add(
    "fleet: start of \(many) lights, bound and advertised", Measured(times: [fleet.start]),
    // A limit of 20,000 open files permits a few lights less than 10,000.
    target: many >= 9_900 ? .init(text: "5 s", isMet: fleet.start <= 5e9 * Double(many) / 10_000) : nil)
  let each = (fleet.child.memory - code) / Double(many)
  report.add(
    Row(
      name: "fleet: memory for each, not commissioned", bytes: each,
      target: .init(text: "24 KiB", isMet: each <= 24 * 1024)))
  report.add(
    "fleet: processor time per second, not commissioned", Measured(times: [fleet.idle(seconds: options.scaled(30))]))
  let (all, time) = try fleet.commission(8)
  report.add("fleet: \(many) lights commissioned, 8 at a time, and subscribed", Measured(times: [time]))
  // The reports of a minute: the lights are all subscribed at 60 s.
  let before = all.processorTime
  let seconds = options.scaled(60)
  let idle = fleet.idle(seconds: seconds)
  report.add(
    "fleet: processor time per second, \(many) lights, all subscribed", Measured(times: [idle]),
    target: .init(text: "3 % of a core for 10,000", isMet: idle <= 3e3 * Double(many)))
  report.add(
    "fleet: processor time of their home per second",
    Measured(times: [(all.processorTime - before) / Double(seconds + FleetProcess.settling)]))
  all.kill()
  fleet.end()

  let count = options.scaled(1_000)
  for width in [1, 8] {
    let fleet = try FleetProcess(count)
    defer { fleet.end() }
    let (home, time) = try fleet.commission(width)
    defer { home.kill() }
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
    // Announcements and first reports are not part of the following.
    sleep(UInt32(FleetProcess.settling))
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
      target: .init(text: "p99 1 ms", isMet: (changes.p99 ?? .infinity) <= 1e6))
  }
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

  /// Commissions all lights with a home in a process of its own.
  /// - Parameter width: the number of lights at a time.
  /// - Returns: the home, which is subscribed to all, and the time until then, in nanoseconds.
  func commission(_ width: Int) throws -> (home: Child, time: Double) {
    let start = HostClock.now()
    let home = try Child(["home-online", root, "\(width)"])
    guard try home.line().split(separator: " ").count == 3 else {
      home.kill()
      throw BenchError("not all devices came online")
    }
    return (home, Double((HostClock.now() - start).nanoseconds))
  }

  /// The seconds for announcements and first reports.
  static let settling = 5

  /// Returns the processor time in each second, in nanoseconds.
  func idle(seconds: Int) -> Double {
    sleep(UInt32(Self.settling))
    let before = child.processorTime
    sleep(UInt32(seconds))
    return (child.processorTime - before) / Double(seconds)
  }

  func end() {
    child.kill()
    try? FileManager.default.removeItem(atPath: root)
  }
}
