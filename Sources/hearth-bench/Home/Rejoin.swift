import Foundation
import Glibc
import HearthHome
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import VirtualDevices

/// Measures the restart of a home: devices run in one process and the home in another, which is killed and restarted,
/// until all devices are online again. Uses sockets of the loopback interface.
struct Rejoin {
  /// The time from the start of the home's process until all devices were online, in nanoseconds.
  var whole: Double
  /// The processor time of the home's process in that time, in nanoseconds.
  var controller: Double
  /// The processor time of the devices in that time, in nanoseconds.
  var devices: Double
  /// The memory of the home's process, in bytes.
  var memory: Double

  /// - Returns: the time to commission all devices, in nanoseconds, and the results of the restarts.
  static func run(devices count: Int, restarts: Int) throws -> (commissioning: Double, restarts: [Rejoin]) {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: root) }
    let fleet = try Child(["home-fleet", root, "\(count)"])
    defer { fleet.kill() }
    guard try fleet.line() == "ready" else { throw BenchError("the devices did not start") }
    let start = HostClock.now()
    _ = try home(root, "1", fleet)
    let commissioning = Double((HostClock.now() - start).nanoseconds)
    return (commissioning, try (0..<restarts).map { _ in try home(root, "0", fleet) })
  }

  /// Runs the home's process once and kills it, so that the devices still hold its sessions.
  private static func home(_ root: String, _ mode: String, _ fleet: Child) throws -> Rejoin {
    let before = fleet.processorTime
    let start = HostClock.now()
    let home = try Child(["home-online", root, mode])
    defer { home.kill() }
    let line = try home.line()
    let numbers = line.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 3 else { throw BenchError("not all devices came online: \(line)") }
    return Rejoin(
      whole: Double(numbers[0] - start.nanoseconds), controller: Double(numbers[1]),
      devices: fleet.processorTime - before, memory: Double(numbers[2]))
  }

  // MARK: The processes

  /// Runs the devices until standard input is closed. Each line of it is the number of a device whose level changes; the time
  /// of the change is printed, in nanoseconds of the monotonic clock.
  static func fleet(_ root: String, _ count: Int) throws {
    let state = StateDirectory(root)
    let definition = try SimulatedDay.definition(count)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    var options = FleetOptions(devicesDirectory: state.devices, runDirectory: state.run)
    options.discovery = .builtin
    let fleet = try waitFor { [options] in try await Fleet.start(definition, options, on: group, logger: quiet) }
    printLine("ready")
    var level: UInt8 = 1
    while let number = readLine().flatMap({ Int($0) }) {
      // Never the level that a new light has, which would be no change.
      level = 2 + level % 252
      let time = try waitFor { [level] in
        try await fleet.set(LevelControl.id, LevelControl.currentLevel.id, level.tlv, on: 1, ofDevice: number)
      }
      printLine("\(time.nanoseconds)")
    }
    try waitFor { await fleet.stop() }
  }

  /// Runs a home until it is killed, and prints the time at which it receives each change of a level.
  /// - Parameter width: the number of running devices to commission at a time before; 0: none.
  static func home(_ root: String, pairing width: Int) throws {
    // Limits the lifetime of the process.
    alarm(width > 0 ? 1800 : 120)
    let state = StateDirectory(root)
    var options = HomeController.Options(state: state, logger: quiet)
    options.discovery = .builtin
    let (home, updates, end) = try waitFor { [options] in
      let home = try await Home(options)
      if width > 0 { try await pairAll(home, state, width) }
      let nodes = try await home.controller.nodes.count
      guard nodes > 0 else { throw BenchError("there are no devices") }
      let updates = home.updates()
      try await home.follow()
      // The stored state does not count: each device must come online again.
      var online: Set<SourceID> = []
      for await update in updates {
        for case .connectivity(let source, let status) in update.changes {
          if status.connectivity.connectivityState == .online { online.insert(source) } else { online.remove(source) }
        }
        if online.count == nodes { break }
      }
      return (home, updates, HostClock.now())
    }
    printLine("\(end.nanoseconds) \(Int64(processorTime())) \(residentBytes())")
    try waitFor {
      for await update in updates {
        let time = HostClock.now()
        for case .attribute(_, let path, _) in update.changes where path.attribute == LevelControl.currentLevel.id {
          printLine("\(time.nanoseconds)")
        }
      }
    }
    keep(home)
  }

  /// Commissions the devices of the running fleet.
  private static func pairAll(_ home: Home, _ state: StateDirectory, _ width: Int) async throws {
    let devices = FleetStatus.running(in: state.run).flatMap(\.devices)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, device) in devices.enumerated() {
        if index >= width { try await group.next() }
        let request = CommissioningRequest(
          passcode: device.passcode, target: .addresses([SocketAddress(.loopback4, port: device.port)]))
        group.addTask { _ = try await home.pair(request, name: device.name, room: device.room) }
      }
      try await group.waitForAll()
    }
  }
}

/// Measures how long a home takes until all devices are online again.
func rejoinRows(_ report: inout Report, devices: Int, restarts: Int) throws {
  let (commissioning, runs) = try Rejoin.run(devices: devices, restarts: restarts)
  let whole = Measured(times: runs.map(\.whole))
  let worst = whole.times.max() ?? .nan
  report.add(
    "home: \(devices) devices, from a restart of the controller until all are online again", whole,
    target: devices == 1000 ? .init(text: "10 s", isMet: worst <= 10_000_000_000) : nil)
  report.add("home: processor time that the controller took for that", Measured(times: runs.map(\.controller)))
  report.add("home: processor time that the devices took meanwhile", Measured(times: runs.map(\.devices)))
  report.add(Row(name: "home: memory of the controller's process then", bytes: median(runs.map(\.memory))))
  report.notes.append(
    """
    The controller was killed each time without notifying the devices; they ran in one process, the controller in another. \
    The slowest of \(runs.count) restarts took \(Int(worst / 1_000_000)) ms. Commissioning the devices one by one took \
    \(Int(commissioning / 1_000_000_000)) s.
    """)
}

extension HearthBench {
  /// `rejoin [DEVICES [RESTARTS]]`
  static func rejoin() {
    let numbers = CommandLine.arguments.dropFirst(2).map { Int($0) ?? 0 }
    var report = Report()
    do {
      try rejoinRows(
        &report, devices: numbers.count > 0 ? max(1, numbers[0]) : 1000,
        restarts: numbers.count > 1 ? max(1, numbers[1]) : 5)
    } catch {
      report.failures.append("home: \(error)")
    }
    print(report.table(DatagramSizes()))
  }

  /// Runs a child process of `rejoin`.
  static func rejoinRole() {
    do {
      let arguments = CommandLine.arguments
      guard arguments.count == 4 else { exit(64) }
      if arguments[1] == "home-fleet" {
        try Rejoin.fleet(arguments[2], Int(arguments[3]) ?? 0)
      } else {
        try Rejoin.home(arguments[2], pairing: Int(arguments[3]) ?? 0)
      }
    } catch {
      FileHandle.standardError.write(Data("\(CommandLine.arguments[1]): \(error)\n".utf8))
      exit(1)
    }
  }
}
