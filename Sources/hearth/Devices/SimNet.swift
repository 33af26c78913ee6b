import ArgumentParser
import HearthHome
import MatterProtocol
import Runtime
import VirtualDevices

/// `hearth sim net`.
struct SimNet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "net", abstract: "Inject network faults around a device, or remove them.",
    discussion: """
      Faults apply to datagrams in both directions until --heal, or until the devices are stopped. Each call replaces the \
      previous faults: conditions end a partition. A partition also drops datagrams in flight that arrive while it lasts. When \
      the device is stopped, delayed datagrams that it sent are delivered early. Service discovery is affected by a partition \
      only. Without options, prints the current faults. For example:
        hearth sim net Kitchen/Lamp --loss 30% --latency 80ms --jitter 40ms
        hearth sim net Kitchen/Lamp --partition
        hearth sim net Kitchen/Lamp --heal
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String
  @Option(help: ArgumentHelp("The share of datagrams to drop.", valueName: "share"), transform: Self.share)
  var loss: Ratio?
  @Option(help: ArgumentHelp("The delay of each datagram.", valueName: "time"), transform: Self.time)
  var latency: Duration?
  @Option(
    help: ArgumentHelp("The maximum additional random delay of each datagram.", valueName: "time"),
    transform: Self.time)
  var jitter: Duration?
  @Option(help: ArgumentHelp("The share of datagrams to duplicate.", valueName: "share"), transform: Self.share)
  var duplicate: Ratio?
  @Option(
    help: ArgumentHelp("The share of datagrams to hold back, so that others overtake them.", valueName: "share"),
    transform: Self.share)
  var reorder: Ratio?
  @Flag(help: "Drop all datagrams.") var partition = false
  @Flag(help: "Remove all faults.") var heal = false

  private static func share(_ text: String) throws -> Ratio {
    guard let ratio = Ratio(percent: text) else { throw ValidationError("expected a share from 0% to 100%") }
    return ratio
  }

  private static func time(_ text: String) throws -> Duration {
    guard let time = TimeText.duration(text) else { throw ValidationError(TimeText.example) }
    if let expected = TimeText.missingUnit(text) { throw ValidationError("expected \(expected)") }
    return time
  }

  func validate() throws {
    guard [conditions != nil, partition, heal].count(where: \.self) <= 1 else {
      throw ValidationError("conditions (such as --loss 30%), --partition and --heal are mutually exclusive")
    }
  }

  /// The conditions of the options; nil if none was given.
  private var conditions: LinkConditions? {
    guard loss != nil || latency != nil || jitter != nil || duplicate != nil || reorder != nil else { return nil }
    return LinkConditions(
      latency: latency ?? .zero, jitter: jitter ?? .zero, loss: loss ?? .never, duplication: duplicate ?? .never,
      reordering: reorder ?? .never)
  }

  private var fault: DeviceNetwork.Fault? {
    partition ? .partition : heal ? .heal : conditions.map { .conditions($0) }
  }

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(device)
      if let fault { try await running.send(.network(device: entry.path, fault), to: entry) }
      let fleet = try await running.send(.status, to: entry).fleet
      let network = fleet?.devices.first { $0.path == entry.node.path }?.network
      options.output.result(
        (["device": .string(entry.path)] as JSON).adding(VirtualDeviceReport.json(network)),
        fault == nil ? VirtualDeviceReport.text(network) ?? "no faults" : "")
    }
  }
}

extension VirtualDeviceReport {
  /// The network faults around a device, named like the options; nil if there are none.
  static func text(_ network: DeviceNetwork?) -> String? {
    guard let network else { return nil }
    var parts = network.isPartitioned ? ["partitioned"] : []
    if let conditions = network.conditions {
      func add(_ name: String, _ share: Ratio) {
        if share.percent > 0 { parts.append("\(name) \(decimal(share.percent))%") }
      }
      func add(_ name: String, _ time: Duration) {
        if time > .zero { parts.append("\(name) \(TimeSpan.text(time))") }
      }
      add("loss", conditions.loss)
      add("latency", conditions.latency)
      add("jitter", conditions.jitter)
      add("duplicate", conditions.duplication)
      add("reorder", conditions.reordering)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func decimal(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }

  static func json(_ network: DeviceNetwork?) -> JSON {
    let conditions = network?.conditions
    return [
      "partitioned": .bool(network?.isPartitioned ?? false), "lossPercent": .number(conditions?.loss.percent ?? 0),
      "latencyMilliseconds": .int(conditions?.latency.milliseconds ?? 0),
      "jitterMilliseconds": .int(conditions?.jitter.milliseconds ?? 0),
      "duplicatePercent": .number(conditions?.duplication.percent ?? 0),
      "reorderPercent": .number(conditions?.reordering.percent ?? 0),
    ]
  }
}
