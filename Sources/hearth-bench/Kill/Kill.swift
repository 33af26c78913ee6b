import Foundation
import HearthHome
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import VirtualDevices

/// `hearth-bench kill [COUNT] [SEED]`: kills devices with SIGKILL while a controller writes to them as fast as they
/// acknowledge, and restarts them. No acknowledged change may be lost, and no list may be partial. Then kills
/// commands that change the home. On the loopback interface only.
final class Kill {
  /// No further kill begins after this time.
  static let limit: Duration = .seconds(50)
  /// In milliseconds.
  private static let longestWriting: UInt64 = 600, longestStart: UInt64 = 400

  private let directory: String
  private let state: String
  private let loops = Loops()
  private var random: SeededRandomSource
  private let start = HostClock.now()
  private var problems: [String] = []
  private var acknowledgments = 0

  /// - Returns: whether nothing was lost.
  static func run(count: Int, seed: UInt64) throws -> Bool {
    print("killing with -9 at random moments, seed \(seed)")
    let kill = try Kill(seed: seed)
    defer { kill.close() }
    try kill.killDevices(count)
    var commands = try KilledCommands(directory + "-commands", &kill.random)
    kill.problems += try commands.run(until: kill.start + limit)
    for problem in kill.problems { print("  LOST: \(problem)") }
    print(
      kill.problems.isEmpty ? "nothing was lost" : "\(kill.problems.count) problems; repeat them with the seed \(seed)")
    return kill.problems.isEmpty
  }

  private static var directory: String {
    FileManager.default.temporaryDirectory.appendingPathComponent("hearth-kill-\(getpid())").path
  }

  private init(seed: UInt64) throws {
    random = SeededRandomSource(seed: seed)
    directory = Self.directory
    state = directory + "/state"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try "devices:\n  - name: Lamp\n    type: dimmable light\n  - name: Plug\n    type: on/off plug-in unit\n"
      .write(toFile: directory + "/home.yaml", atomically: true, encoding: .utf8)
  }

  private func close() {
    loops.close()
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func startDevices() throws -> DeviceProcess {
    try DeviceProcess(definition: directory + "/home.yaml", state: state)
  }

  // MARK: Devices

  private static let names = ["Lamp", "Plug"]

  private func killDevices(_ count: Int) throws {
    var streams = try commission()
    var kills = 0
    var starts = 0
    var journals: Set<UInt64> = []
    while kills < count, problems.isEmpty, HostClock.now() - start < Self.limit {
      let devices = try startDevices()
      defer { devices.process.kill() }
      kills += 1
      if random.next() % 5 == 0 {
        // During the start.
        usleep(UInt32(random.next() % (Self.longestStart * 1000)))
        starts += 1
        continue
      }
      try devices.waitUntilReady()
      streams = try runDevices(streams, devices, writingFor: random.next() % (Self.longestWriting * 1000))
      journals.formUnion(journalNumbers())
    }
    let devices = try startDevices()
    defer { devices.process.kill() }
    try devices.waitUntilReady()
    _ = try runDevices(streams, devices, writingFor: nil)
    print(
      "  \(kills) kills of the devices, \(starts) of them while they started; \(acknowledgments) changes acknowledged, "
        + "\(journals.count) journals")
    // With too few changes the test would prove nothing.
    if acknowledgments < kills * 5 { problems.append("only \(acknowledgments) changes were acknowledged") }
  }

  /// Commissions the devices with `hearth pair`.
  private func commission() throws -> [KillStream] {
    let devices = try startDevices()
    defer { devices.process.kill() }
    try devices.waitUntilReady()
    let status = try devices.devices()
    for name in Self.names {
      guard let device = status[name] else { throw BenchError("\(name) is missing") }
      let pair = try HearthProcess(
        ["pair", device.manualCode, "--name", name, "--mdns", "off", "--at", "127.0.0.1:\(device.port)"], state: state,
        log: URL(filePath: directory + "/pair.log"))
      guard pair.wait() == 0 else { throw BenchError("\(name) was not paired: \(pair.text)") }
    }
    let nodes: [NodeID] = [1, 2]
    return nodes.flatMap { node in
      [KillStream.labels(of: node), .nodeLabel(of: node), .access(of: node, fabric: 1)]
    } + [.level(of: 1), .onOff(of: 2)]
  }

  /// Runs the devices once: compares their state, then writes to them until they are killed.
  private func runDevices(
    _ streams: [KillStream], _ devices: DeviceProcess, writingFor time: UInt64?
  ) throws -> [KillStream] {
    let status = try devices.devices()
    let stored = try StoredNames(StateDirectory(state)).withDatabase { database throws(HomeError) in
      try database.controllerState()
    }
    let random = self.random.fork()
    self.random = self.random.fork()
    let loop = loops.client
    let writer = try loop.submit {
      NIOLoopBound(try KillWriter(streams, state: stored, random: random, on: loop), eventLoop: loop)
    }.wait()
    defer { try? loop.submit { writer.value.stop() }.wait() }
    for (node, name) in zip([NodeID(1), 2], Self.names) {
      guard let device = status[name], !device.fabrics.isEmpty else {
        problems.append("\(name) is no longer commissioned")
        continue
      }
      let address = MatterProtocol.SocketAddress(.loopback4, port: device.port)
      do {
        let report = try loop.flatSubmit { writer.value.read(node, at: address) }.wait()
        problems += try loop.submit { writer.value.check(report, of: node) }.wait()
      } catch {
        problems.append("\(name) can't be read: \(error)")
      }
    }
    guard let time, problems.isEmpty else { return try loop.submit { writer.value.streams }.wait() }
    try loop.submit { writer.value.beginWriting() }.wait()
    usleep(UInt32(time))
    devices.process.kill()
    // Include answers that are still in flight.
    usleep(5_000)
    let (outcome, faults, count) = try loop.submit {
      writer.value.stop()
      return (writer.value.streams, writer.value.problems, writer.value.acknowledgments)
    }.wait()
    problems += faults
    acknowledgments += count
    return outcome
  }

  /// Returns the inode numbers of the journals; a journal gets a new one each time it is rewritten.
  private func journalNumbers() -> [UInt64] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: state + "/devices")) ?? []
    return names.compactMap { name in
      var status = stat()
      return stat("\(state)/devices/\(name)/journal", &status) == 0 ? UInt64(status.st_ino) : nil
    }
  }
}
