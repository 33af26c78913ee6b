import ArgumentParser
import Home
import MatterProtocol
import Runtime
import VirtualDevices

/// `hearth sim net`.
struct SimNet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "net", abstract: "Make the network around a device a bad one, and mend it.",
    discussion: """
      It goes for what the device sends and for what it is sent, until --heal, or until the devices are stopped; what is not \
      named is as it should be: conditions end a partition. What is under way is lost if nothing gets through when it arrives; \
      what the device sent before it was stopped comes early. Service discovery gets through unless nothing does. Without \
      options it says how it is. \
      For example:
        hearth sim net Kitchen/Lamp --loss 30% --latency 80ms --jitter 40ms
        hearth sim net Kitchen/Lamp --partition
        hearth sim net Kitchen/Lamp --heal
      """)
  @OptionGroup var options: GlobalOptions
  @Argument(help: "The device.") var device: String
  @Option(help: ArgumentHelp("How many datagrams are lost.", valueName: "share"), transform: Self.share)
  var loss: Ratio?
  @Option(help: ArgumentHelp("How long each takes.", valueName: "time"), transform: Self.time) var latency: Duration?
  @Option(help: ArgumentHelp("How much longer at most, each its own time.", valueName: "time"), transform: Self.time)
  var jitter: Duration?
  @Option(help: ArgumentHelp("How many come twice.", valueName: "share"), transform: Self.share) var duplicate: Ratio?
  @Option(
    help: ArgumentHelp("How many are held back, so that others overtake them.", valueName: "share"),
    transform: Self.share)
  var reorder: Ratio?
  @Flag(help: "Nothing gets through.") var partition = false
  @Flag(help: "All is well again.") var heal = false

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
      throw ValidationError("either conditions, such as --loss 30%, or --partition, or --heal")
    }
  }

  /// What was named; nil: nothing was.
  private var conditions: LinkConditions? {
    guard loss != nil || latency != nil || jitter != nil || duplicate != nil || reorder != nil else { return nil }
    return LinkConditions(
      latency: latency ?? .zero, jitter: jitter ?? .zero, loss: loss ?? .never, duplication: duplicate ?? .never,
      reordering: reorder ?? .never)
  }

  private var fault: DeviceNetwork.Fault? {
    partition ? .partition : heal ? .heal : conditions.map { .conditions($0) }
  }

  func run() throws {
    let running = try RunningDevices(options)
    let entry = try running.resolve(device)
    if let fault { try running.send(.network(device: entry.path, fault), to: entry) }
    let fleet = try running.send(.status, to: entry).fleet
    let network = fleet?.devices.first { $0.path == entry.node.path }?.network
    options.output.result(
      (["device": .string(entry.path)] as JSON).adding(VirtualDeviceReport.json(network)),
      fault == nil ? VirtualDeviceReport.text(network) ?? "nothing is wrong with it" : "")
  }
}

extension VirtualDeviceReport {
  /// What is wrong with the network around a device, in the words of the options; nil: nothing is.
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
      "partitioned": .bool(network?.isPartitioned ?? false), "lossPercent": .decimal(conditions?.loss.percent ?? 0),
      "latencyMilliseconds": .integer(conditions?.latency.milliseconds ?? 0),
      "jitterMilliseconds": .integer(conditions?.jitter.milliseconds ?? 0),
      "duplicatePercent": .decimal(conditions?.duplication.percent ?? 0),
      "reorderPercent": .decimal(conditions?.reordering.percent ?? 0),
    ]
  }
}
