import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterModel
import MatterProtocol
import VirtualDevices

/// `hearth sim set`.
struct SimSet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change attributes as the physical device would.",
    discussion: """
      Takes DEVICE.CLUSTER.ATTRIBUTE=VALUE, or with an endpoint DEVICE.2.CLUSTER.ATTRIBUTE=VALUE. The endpoints of a bridged \
      device and of a part are numbered within it, from 1, with 0 for its node. An attribute that follows a course (`behave` of \
      the definition file) keeps the value until the device starts again. Parts of appliances that no attribute describes are \
      DEVICE.PART=STATE. For example:
        hearth sim set Kitchen/Lamp.onOff.onOff=true                                 the switch is operated
        hearth sim set Outdoor.temperatureMeasurement.measuredValue=-5C              the sensor measures a temperature
        hearth sim set Kitchen/Dishwasher.door=open                                  the door is opened
        hearth sim set 'Desk Lamp.bridgedDeviceBasicInformation.reachable=false'     the bridge loses the device
      """)
  @OptionGroup var options: SimOptions
  @Flag(help: "Take values as encoded, without units.") var raw = false
  @Argument(help: ArgumentHelp("The attributes and their values.", valueName: "path=value")) var assignments: [String]

  func run() async throws {
    try await options.withDevices { running in
      var requests: [(RunningDevices.Entry, ControlRequest)] = []
      for (path, value) in try Write.pairs(assignments) {
        if let (entry, endpoint, part) = Self.part(path, in: running) {
          requests.append((entry, .part(device: entry.path, endpoint: endpoint, name: part, state: value)))
          continue
        }
        let target = try SimAttributePath(path, in: running)
        let tlv = try await AttributeUnits.parse(
          value, cluster: target.cluster, attribute: target.attribute, raw: raw, named: path,
          levels: AttributeUnits.isLevel(target.cluster, target.attribute) ? levels(target, running) : .standard)
        requests.append(
          (
            target.entry,
            .set(
              device: target.entry.path, endpoint: target.endpoint, cluster: target.cluster.rawValue,
              attribute: target.attribute.rawValue, value: tlv)
          ))
      }
      for (entry, request) in requests { try await running.send(request, to: entry) }
      options.output.result(["set": .int(requests.count)], "")
    }
  }

  /// Parses DEVICE.PART or DEVICE.2.PART; nil for the path of an attribute.
  private static func part(_ path: String, in running: RunningDevices) -> (RunningDevices.Entry, UInt16?, String)? {
    guard let parts = DottedPath(path, names: 1, isDevice: running.isDevice), let name = parts.names.last,
      let entry = try? running.resolve(parts.device)
    else { return nil }
    return (entry, parts.endpoint, name)
  }

  /// Returns the level range of the device, or that of a light if the device does not have the attributes.
  private func levels(_ target: SimAttributePath, _ running: RunningDevices) async -> LevelRange {
    func value(_ attribute: Attribute<LevelControl, UInt8>) async -> UInt8? {
      let request = ControlRequest.get(
        device: target.entry.path, endpoint: target.endpoint, cluster: target.cluster.rawValue,
        attribute: attribute.id.rawValue)
      return (try? await running.send(request, to: target.entry).value).flatMap { try? UInt8(tlv: $0) }
    }
    return LevelRange(
      lowest: await value(LevelControl.minLevel) ?? LevelRange.standard.lowest,
      highest: await value(LevelControl.maxLevel) ?? LevelRange.standard.highest)
  }
}

/// `hearth sim get`.
struct SimGet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Read an attribute directly from the device.")
  @OptionGroup var options: SimOptions
  @Argument(
    help: ArgumentHelp("The attribute: DEVICE.CLUSTER.ATTRIBUTE or DEVICE.2.CLUSTER.ATTRIBUTE.", valueName: "path"))
  var path: String

  func run() async throws {
    try await options.withDevices { running in
      let target = try SimAttributePath(path, in: running)
      let reply = try await running.send(
        .get(
          device: target.entry.path, endpoint: target.endpoint, cluster: target.cluster.rawValue,
          attribute: target.attribute.rawValue), to: target.entry)
      let schema = ElementNames.info(target.attribute, of: target.cluster)?.schema ?? .any
      let value = reply.value ?? []
      options.output.result(["value": .encoded(schema.json(of: value))], schema.text(of: value))
    }
  }
}

/// The path of an attribute of a running device, parsed from the command line.
struct SimAttributePath {
  let entry: RunningDevices.Entry
  let endpoint: UInt16?
  let cluster: ClusterID
  let attribute: AttributeID

  /// Parses a path from its end, because names may contain dots.
  init(_ path: String, in running: RunningDevices) throws(HomeError) {
    guard let parts = DottedPath(path, names: 2, isDevice: running.isDevice), let clusterName = parts.names.first,
      let attributeName = parts.names.last, let cluster = try HomeRegistry.cluster(clusterName),
      let attribute = try HomeRegistry.element(attributeName, of: cluster, .attribute)
    else {
      throw HomeError(.badArguments, "“\(path)”: expected DEVICE.CLUSTER.ATTRIBUTE, such as Kitchen/Lamp.onOff.onOff")
    }
    (self.cluster, self.attribute, endpoint) = (cluster, AttributeID(attribute), parts.endpoint)
    entry = try running.resolve(parts.device)
  }
}

/// `hearth sim press`.
struct SimPress: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "press", abstract: "Press the buttons of a switch.",
    discussion: """
      short, long and double press and release; down presses and holds; up releases; latch moves a latching switch to \
      --position. The command returns when the action has started. For example:
        hearth sim press Remote double --button On
        hearth sim press Remote short --count 3 --hold 500ms --gap 500ms
        hearth sim press 'Fan speed' latch --position 2
      """)
  enum Action: String, CaseIterable, ExpressibleByArgument { case short, long, double, down, up, latch }

  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "The action: short, long, double, down, up or latch.") var action: Action = .short
  @Option(help: ArgumentHelp("The button of a device with several: its name, or its number from 1.", valueName: "name"))
  var button: String?
  @Option(help: ArgumentHelp("The number of presses.", valueName: "n")) var count: Int?
  @Option(help: ArgumentHelp("The duration of each press.", valueName: "time")) var hold: TimeSpan?
  @Option(help: ArgumentHelp("The pause between presses.", valueName: "time")) var gap: TimeSpan?
  @Option(help: ArgumentHelp("The position to press or to move to.", valueName: "n")) var position: UInt8?

  func validate() throws {
    if let count, !(1...100).contains(count) { throw ValidationError("--count: expected 1 to 100") }
    if action == .latch, position == nil { throw ValidationError("latch requires --position") }
  }

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(device)
      if action == .latch, !entry.hasPosition {
        throw HomeError(.refused, "has no latch; expected a switch with positions", device: entry.path)
      }
      try await running.send(.move(device: entry.path, button: try index(entry), moves: moves), to: entry)
      options.output.result(["device": .string(entry.path), "action": .string(action.rawValue)], "")
    }
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
        .ambiguousTarget, "has \(entry.buttons.count) buttons; choose one with --button", device: entry.path,
        candidates: entry.buttons)
    }
    if let index = entry.buttons.firstIndex(where: { $0.lowercased() == button.lowercased() }) { return index }
    if let number = Int(button), (1...max(1, entry.buttons.count)).contains(number) { return number - 1 }
    throw HomeError.unknown("no button “\(button)”", button, in: entry.buttons, device: entry.path)
  }
}

/// `hearth sim power`.
struct SimPower: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "Cut or restore the power of a device.",
    discussion: """
      A device that loses power disappears without a notification, and starts from its stored state when the power returns. \
      A bridged device without power is unreachable for its bridge.
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "The power: on, off, or cycle (off, and on after one second).") var power: ControlRequest.Power

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(device)
      try await running.send(.power(device: entry.path, power), to: entry)
      options.output.result(["device": .string(entry.path), "power": .string(power.rawValue)], "")
    }
  }
}

/// `hearth sim trigger`.
struct SimTrigger: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trigger", abstract: "Cause a test event, such as smoke.",
    discussion: """
      The events are those that certification tests cause with TestEventTrigger and the enable key. Without an event they \
      are listed. For example:
        hearth sim trigger 'Hall Alarm'
        hearth sim trigger 'Hall Alarm' smokeWarning
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "The name of the event, or its number.") var event: String?

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(device)
      let events = try await running.send(.trigger(device: entry.path, event: event), to: entry).events ?? []
      var table = Table("EVENT", "TRIGGER")
      var objects: [JSON] = []
      for event in events {
        let trigger = "0x" + event.trigger.hexadecimal(16).lowercased()
        table.add(event.name, trigger)
        objects.append(["name": .string(event.name), "trigger": .string(trigger)])
      }
      let text = event != nil ? "" : events.isEmpty ? "none" : table.text
      options.output.result(["device": .string(entry.path), "events": .array(objects)], text)
    }
  }
}

/// `hearth sim drops`.
struct SimDrops: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drops", abstract: "Count the messages that a device dropped since its start, by reason.",
    discussion: """
      Includes failed commands to bound devices. Reasons that begin with dns. are those of service discovery, which all \
      devices of a process share.
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The device.") var device: String

  func run() async throws {
    let entry = try await options.withDevices { try $0.resolve(device) }
    var drops = entry.node.drops.sorted { $0.key < $1.key }
    for (reason, count) in entry.discoveryDrops.sorted(by: { $0.key < $1.key }) {
      drops.append((key: "dns.\(reason)", value: count))
    }
    var table = Table("REASON", "MESSAGES")
    for (reason, count) in drops { table.add(reason, "\(count)") }
    options.output.result(VirtualDeviceReport.json(drops), drops.isEmpty ? "none" : table.text)
  }
}
