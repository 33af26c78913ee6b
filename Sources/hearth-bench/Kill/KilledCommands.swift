import Foundation
import HearthHome
import MatterCertificates
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import Runtime
import VirtualDevices

/// Kills commands that change the home with SIGKILL at random moments. The stored state of the controller must stay
/// consistent, and later commands must work.
struct KilledCommands {
  private static let renames = 8
  /// The number of spare devices; a device whose pairing was killed is unavailable for a minute.
  private static let spares = 5

  private let directory: String
  private let state: String
  private var random: SeededRandomSource
  private var problems: [String] = []

  init(_ directory: String, _ random: inout SeededRandomSource) throws {
    self.directory = directory
    self.random = random.fork()
    state = directory + "/state"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let devices = (0...Self.spares).map { "  - name: Light \($0)\n    type: on/off light\n" }
    try ("devices:\n" + devices.joined())
      .write(toFile: directory + "/home.yaml", atomically: true, encoding: .utf8)
  }

  /// - Parameter limit: the time after which no further kill begins.
  /// - Returns: descriptions of the faults.
  mutating func run(until limit: Instant) throws -> [String] {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let devices = try DeviceProcess(definition: directory + "/home.yaml", state: state)
    defer { devices.process.kill() }
    try devices.waitUntilReady()
    let status = try devices.devices()
    func pair(_ number: Int) throws -> HearthProcess {
      guard let device = status["Light \(number)"] else { throw BenchError("light \(number) is missing") }
      return try command(
        "pair", device.manualCode, "--name", "Light \(number)", "--mdns", "off", "--at", "127.0.0.1:\(device.port)")
    }
    let begin = HostClock.now()
    let first = try pair(0)
    guard first.wait() == 0 else { throw BenchError("a light was not paired: \(first.text)") }
    let time = UInt64(max(1, (HostClock.now() - begin).nanoseconds / 1000))
    guard let whole = controller() else { return problems }
    var kills = 0
    for number in 1..<Self.spares where HostClock.now() < limit {
      let command = try pair(number)
      usleep(UInt32(random.next() % time))
      command.kill()
      kills += 1
      if let now = controller(),
        now.fabric.rootPublicKey != whole.fabric.rootPublicKey
          || !now.nodes.contains(where: { $0.nodeID == 1 })
      {
        problems.append("the controller has lost its fabric or its first node when pairing was killed")
      }
    }
    kills += try rename(until: limit)
    let last = try pair(Self.spares)
    if last.wait() != 0 { problems.append("a device can't be paired: \(last.text)") }
    let port = status["Light 0"]?.port ?? 0
    let on = try command("on", "1", "--mdns", "off", "--at", "127.0.0.1:\(port)")
    if on.wait() != 0 { problems.append("the first light can't be switched: \(on.text)") }
    print("  \(kills) kills of commands that pair and rename")
    return problems
  }

  private func command(_ words: String...) throws -> HearthProcess {
    try HearthProcess(words, state: state, log: URL(filePath: directory + "/command.log"))
  }

  /// Creates a controller from the stored state.
  private mutating func controller() -> ControllerEngine? {
    do {
      let configuration = ControllerConfiguration(
        notBefore: Nodes.notBefore, attestation: try TestAttestation.verifier())
      let stored = try StoredNames(StateDirectory(state)).withDatabase { database throws(HomeError) in
        try database.controllerState()
      }
      return try ControllerEngine(configuration, state: stored, random: SystemRandomSource())
    } catch {
      problems.append("the stored state of the controller can't be used: \(error)")
      return nil
    }
  }

  /// - Returns: the number of kills.
  private mutating func rename(until limit: Instant) throws -> Int {
    var name = "Light 0"
    let begin = HostClock.now()
    if try command("rename", name, "Rose").wait() == 0 { name = "Rose" }
    let time = UInt64(max(1, (HostClock.now() - begin).nanoseconds / 1000))
    var kills = 0
    for number in 0..<Self.renames where HostClock.now() < limit {
      let wanted = "Rose \(number)"
      let rename = try command("rename", name, wanted)
      usleep(UInt32(random.next() % time))
      rename.kill()
      kills += 1
      guard let found = nameOfFirst() else {
        problems.append("the home's names can't be read after renaming was killed")
        break
      }
      if found != name && found != wanted { problems.append("\(name), renamed to \(wanted), is \(found)") }
      name = found
    }
    return kills
  }

  private func nameOfFirst() -> String? {
    (try? StoredNames(StateDirectory(state)).registry())?.device(1)?.name
  }
}
