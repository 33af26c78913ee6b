import Foundation
import HearthHome
import MatterProtocol
import Runtime
import Scenario
import Simulation

/// Measures the cost of simulated worlds.
func simulationRows(_ report: inout Report, _ options: Options) throws {
  var size = SimulationSize()
  if options.isQuick { size = SimulationSize(devices: 50, hours: 2, runs: 50) }
  try simulationRows(&report, size)
}

/// The size of the simulations.
struct SimulationSize {
  var devices = 250
  var hours = 24
  var runs = 400
  /// Whether the targets apply to this size.
  var isWhole: Bool { devices == 250 && hours == 24 }
}

func simulationRows(_ report: inout Report, _ size: SimulationSize) throws {
  let rate = try waitFor { try await BaseScenario.rate(runs: size.runs) }
  report.add(
    Row(
      name: "simulation: pair, switch, lose, heal, on two threads", rate: rate,
      target: .init(text: "100/s", isMet: rate >= 100)))
  for isPaired in [false, true] {
    let devices = size.devices * 4
    let bytes = try SimulatedMemory.measure(devices: devices, isPaired: isPaired)
    report.add(
      Row(
        name: "simulation: memory of \(devices) devices\(isPaired ? ", commissioned, and a home of them" : "")",
        bytes: bytes,
        target: devices == 1000 && !isPaired ? .init(text: "100 MiB", isMet: bytes <= 100 * 1_048_576) : nil))
  }
  let day = try waitFor { try await SimulatedDay.run(devices: size.devices, hours: size.hours) }
  guard day.online == size.devices else { throw BenchError("\(size.devices - day.online) devices are not online") }
  report.add("simulation: \(size.devices) devices started and commissioned", Measured(times: [day.pairing]))
  report.add(
    "simulation: \(size.hours) hours with them, all subscribed, a fault a minute", Measured(times: [day.day]),
    target: size.isWhole ? .init(text: "10 s", isMet: day.day <= 10e9) : nil)
  let seeds = try waitFor { try await RandomHomes.rate(runs: min(size.runs, 40)) }
  report.add(
    Row(
      name: "simulation: random homes of \(RandomHomes.measuredDevices) devices, on one thread", rate: seeds,
      target: .init(text: "10/s", isMet: seeds >= 10)))
  let card = try waitFor { try await ScoreRows.card(devices: min(size.devices, 20), minutes: min(size.hours, 6) * 60) }
  report.notes.append(
    "Our controller, with a device away every five minutes, compared with the actual state:\n"
      + card.lines.map { "  \($0)" }.joined(separator: "\n"))
  report.notes.append(
    """
    The simulated day sent \(day.datagrams) datagrams, \(Int(day.day) / max(1, day.datagrams)) ns each; digest \
    \(String(day.digest, radix: 16)).
    """)
}

/// Measures the memory of simulated devices, in a child process.
enum SimulatedMemory {
  /// - Returns: bytes, without those of a process with a single device.
  static func measure(devices: Int, isPaired: Bool) throws -> Double {
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = ["simulate-memory", "\(devices)", isPaired ? "paired" : "fresh"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0, let bytes = Double(output.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw BenchError("the memory could not be measured: \(output)") }
    return bytes
  }

  /// The child process.
  static func child(devices: Int, isPaired: Bool) async throws {
    func run(_ count: Int) async throws -> Int {
      var options = SimulatedHomeOptions()
      options.keepsTrace = false
      options.isPaired = isPaired
      let run = await simulate(try SimulatedDay.definition(count), seed: 1, options) { _, world in
        try await world.simulation.sleep(for: .seconds(5))
        return residentBytes()
      }
      return try run.result.get()
    }
    // The memory with one device is mostly code.
    let before = try await run(1)
    print(try await run(devices) - before)
  }
}

extension HearthBench {
  /// Prints the figures of the simulation for other sizes.
  static func simulation() {
    let numbers = CommandLine.arguments.dropFirst(2).map { Int($0) ?? 0 }
    var size = SimulationSize()
    if numbers.count > 0 { size.devices = max(1, numbers[0]) }
    if numbers.count > 1 { size.hours = max(1, numbers[1]) }
    if numbers.count > 2 { size.runs = max(1, numbers[2]) }
    var report = Report()
    do { try simulationRows(&report, size) } catch { report.failures.append("simulation: \(error)") }
    print(report.table(DatagramSizes()))
  }

  /// Runs the child process of the memory measurement.
  static func simulatedMemory() {
    do {
      guard CommandLine.arguments.count == 4, let devices = Int(CommandLine.arguments[2]) else { exit(64) }
      let isPaired = CommandLine.arguments[3] == "paired"
      try waitFor { try await SimulatedMemory.child(devices: devices, isPaired: isPaired) }
    } catch {
      FileHandle.standardError.write(Data("simulate-memory: \(error)\n".utf8))
      exit(1)
    }
  }
}
