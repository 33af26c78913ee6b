import ArgumentParser
import Home
import MatterClusters
import MatterModel
import MatterProtocol
import VirtualDevices

/// `hearth sim set`.
struct SimSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change attributes as the physical device would.",
    discussion: """
      DEVICE.CLUSTER.ATTRIBUTE=VALUE, or with an endpoint: DEVICE.2.CLUSTER.ATTRIBUTE=VALUE. For example:
        hearth sim set Kitchen/Lamp.onOff.onOff=true                                 somebody is at the switch
        hearth sim set 'Desk Lamp.bridgedDeviceBasicInformation.reachable=false'     the bridge lost it
      """)
  @OptionGroup var options: GlobalOptions
  @Flag(help: "Values are the wire's.") var raw = false
  @Argument(help: ArgumentHelp("What to change, and into what.", valueName: "path=value")) var assignments: [String]

  func run() throws {
    let running = try RunningDevices(options)
    var requests: [(RunningDevices.Entry, ControlRequest)] = []
    for (path, value) in try Write.pairs(assignments) {
      let place = try SimPlace(path, in: running)
      let tlv = try AttributeUnits.parse(
        value, cluster: place.cluster, attribute: place.attribute, raw: raw, named: path,
        levels: AttributeUnits.isLevel(place.cluster, place.attribute) ? levels(place, running) : .standard)
      requests.append(
        (
          place.entry,
          .set(
            device: place.entry.path, endpoint: place.endpoint, cluster: place.cluster.rawValue,
            attribute: place.attribute.rawValue, value: tlv)
        ))
    }
    for (entry, request) in requests { try running.send(request, to: entry) }
    options.output.result(["set": .integer(requests.count)], "")
  }

  /// The levels that the device has; those of a light where it does not tell.
  private func levels(_ place: SimPlace, _ running: RunningDevices) -> LevelRange {
    func value(_ attribute: Attribute<LevelControl, UInt8>) -> UInt8? {
      let request = ControlRequest.get(
        device: place.entry.path, endpoint: place.endpoint, cluster: place.cluster.rawValue,
        attribute: attribute.id.rawValue)
      return (try? running.send(request, to: place.entry).value).flatMap { try? UInt8(tlv: $0) }
    }
    return LevelRange(
      lowest: value(LevelControl.minLevel) ?? LevelRange.standard.lowest,
      highest: value(LevelControl.maxLevel) ?? LevelRange.standard.highest)
  }
}

/// `hearth sim get`.
struct SimGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "What an attribute is, as the device itself has it.")
  @OptionGroup var options: GlobalOptions
  @Argument(help: ArgumentHelp("DEVICE.CLUSTER.ATTRIBUTE, or DEVICE.2.CLUSTER.ATTRIBUTE.", valueName: "path"))
  var path: String

  func run() throws {
    let running = try RunningDevices(options)
    let place = try SimPlace(path, in: running)
    let reply = try running.send(
      .get(
        device: place.entry.path, endpoint: place.endpoint, cluster: place.cluster.rawValue,
        attribute: place.attribute.rawValue), to: place.entry)
    let schema = ElementNames.info(place.attribute, of: place.cluster)?.schema ?? .any
    let value = reply.value ?? []
    options.output.result(["value": .encoded(schema.json(of: value))], schema.text(of: value))
  }
}

/// An attribute of a running device, as the command line names it.
struct SimPlace {
  let entry: RunningDevices.Entry
  let endpoint: UInt16?
  let cluster: ClusterID
  let attribute: AttributeID

  /// Names may have dots in them, so the cluster and the attribute are the last parts.
  init(_ path: String, in running: RunningDevices) throws(HomeError) {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 3, let attributeName = parts.last else {
      throw HomeError(.badArguments, "“\(path)” is no DEVICE.CLUSTER.ATTRIBUTE, such as Kitchen/Lamp.onOff.onOff")
    }
    let clusterName = parts[parts.count - 2]
    guard let cluster = ClusterCatalogue.cluster(named: clusterName) else {
      throw HomeError(
        .notFound, "there is no cluster “\(clusterName)”",
        candidates: NearestName.suggestions(for: clusterName, in: ClusterCatalogue.all.map { $0.name }))
    }
    guard let info = cluster.attribute(named: attributeName) else {
      throw HomeError(
        .notFound, "\(cluster.name) has no attribute “\(attributeName)”",
        candidates: NearestName.suggestions(for: attributeName, in: cluster.attributes.map(\.name)))
    }
    (self.cluster, attribute) = (cluster.id, info.id)
    let front = parts.dropLast(2)
    // What looks like an endpoint may be a part of the name.
    if front.count > 1, let number = front.last.flatMap({ UInt16($0) }),
      (try? running.resolve(front.joined(separator: "."))) == nil
    {
      endpoint = number
      entry = try running.resolve(front.dropLast().joined(separator: "."))
    } else {
      endpoint = nil
      entry = try running.resolve(front.joined(separator: "."))
    }
  }
}

/// `hearth sim press`.
struct SimPress: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "press", abstract: "Use the buttons of a switch.",
    discussion: """
      short, long and double press and release; down presses and holds; up lets go; latch moves a latching switch to \
      --position. The command is done when the hand has begun; what it does takes its time. For example:
        hearth sim press Remote double --button On
        hearth sim press Remote short --count 3 --hold 500ms --gap 500ms
        hearth sim press 'Fan speed' latch --position 2
      """)
  enum Action: String, CaseIterable, ExpressibleByArgument { case short, long, double, down, up, latch }

  @OptionGroup var options: GlobalOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "What to do: short, long, double, down, up or latch.") var action: Action = .short
  @Option(help: ArgumentHelp("Which of several buttons: its name, or its number from 1.", valueName: "name"))
  var button: String?
  @Option(help: ArgumentHelp("How many presses, one after the other.", valueName: "n")) var count: Int?
  @Option(help: ArgumentHelp("How long each press is.", valueName: "time")) var hold: TimeSpan?
  @Option(help: ArgumentHelp("How long it is let go between presses.", valueName: "time")) var gap: TimeSpan?
  @Option(help: ArgumentHelp("The position to press, or to move to.", valueName: "n")) var position: UInt8?

  func validate() throws {
    if let count, !(1...100).contains(count) { throw ValidationError("--count is a number from 1 to 100") }
    if action == .latch, position == nil { throw ValidationError("latch needs --position") }
  }

  func run() throws {
    let running = try RunningDevices(options)
    let entry = try running.resolve(device)
    try running.send(.move(device: entry.path, button: try index(entry), moves: moves), to: entry)
    options.output.result(["device": .string(entry.path), "action": .string(action.rawValue)], "")
  }

  private var moves: [ControlRequest.Move] {
    let position = position ?? 1
    switch action {
    case .down: return [.init(position: position, after: 0)]
    case .up: return [.init(position: 0, after: 0)]
    case .latch: return [.init(position: position, after: 0)]
    case .short, .long, .double:
      let hold = hold?.duration ?? (action == .long ? .seconds(2) : .milliseconds(100))
      let gap = gap?.duration ?? .milliseconds(200)
      let count = count ?? (action == .double ? 2 : 1)
      return (0..<count).flatMap { index in
        [
          ControlRequest.Move(position: position, after: index == 0 ? 0 : gap.milliseconds),
          ControlRequest.Move(position: 0, after: hold.milliseconds),
        ]
      }
    }
  }

  private func index(_ entry: RunningDevices.Entry) throws(HomeError) -> Int {
    guard let button else {
      guard entry.buttons.count > 1 else { return 0 }
      throw HomeError(
        .ambiguousTarget, "it has \(entry.buttons.count) buttons; say which with --button", device: entry.path,
        candidates: entry.buttons)
    }
    if let index = entry.buttons.firstIndex(where: { $0.lowercased() == button.lowercased() }) { return index }
    if let number = Int(button), (1...max(1, entry.buttons.count)).contains(number) { return number - 1 }
    throw HomeError(
      .notFound, "it has no button “\(button)”", device: entry.path,
      candidates: NearestName.suggestions(for: button, in: entry.buttons))
  }
}

/// `hearth sim power`.
struct SimPower: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "Take a device its power, and give it back.",
    discussion: """
      A device without power vanishes without a goodbye; when the power comes back it starts with what it remembers. \
      A device behind a bridge can't be reached by it meanwhile.
      """)
  enum Power: String, CaseIterable, ExpressibleByArgument {
    case on, off, cycle

    var request: ControlRequest.Power {
      switch self {
      case .on: .on
      case .off: .off
      case .cycle: .cycle
      }
    }
  }

  @OptionGroup var options: GlobalOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "on, off, or cycle: off and on again after a second.") var power: Power

  func run() throws {
    let running = try RunningDevices(options)
    let entry = try running.resolve(device)
    try running.send(.power(device: entry.path, power.request), to: entry)
    options.output.result(["device": .string(entry.path), "power": .string(power.rawValue)], "")
  }
}

/// `hearth sim drops`.
struct SimDrops: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drops", abstract: "How many messages a device did not take in since it started, by reason.",
    discussion: """
      Commands to what it is bound to count too, where they came to nothing. Reasons that begin with dns. are those of service \
      discovery, which all devices of a process share.
      """)
  @OptionGroup var options: GlobalOptions
  @Argument(help: "The device.") var device: String

  func run() throws {
    let entry = try RunningDevices(options).resolve(device)
    var drops = entry.node.drops.sorted { $0.key < $1.key }
    for (reason, count) in entry.discoveryDrops.sorted(by: { $0.key < $1.key }) {
      drops.append((key: "dns.\(reason)", value: count))
    }
    var table = Table("REASON", "MESSAGES")
    for (reason, count) in drops { table.add(reason, "\(count)") }
    options.output.result(VirtualDeviceReport.json(drops), drops.isEmpty ? "none" : table.text)
  }
}
