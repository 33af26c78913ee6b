import ArgumentParser
import Home
import MatterModel

/// `hearth devices`.
struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The devices of the home, and how they are.")
  @OptionGroup var home: HomeOptions
  @Option(help: "Only those in this room.") var room: String?
  @Option(help: "Only those of this kind: light, plug, sensor, or a type's name.") var kind: String?
  @Flag(help: "Only those that can't be reached.") var offline = false
  @Flag(help: "Print the table again whenever something changes.") var watch = false

  func run() async throws {
    let registry = try home.registry()
    let room = try room.map { try registry.knownRoom($0) }
    let devices = registry.devices.filter { device in
      (room == nil || device.room == room) && (kind.map { DeviceKindName.matches(device.typeNames, $0) } ?? true)
    }
    try home.check(devices)
    if devices.isEmpty {
      home.output.result([], "")
      home.output.progress(
        registry.devices.isEmpty
          ? "There is no device yet; pair one with `hearth pair CODE`." : "No device is like that.")
      return
    }
    let patience = Duration.milliseconds(2500)
    try await home.withHome(patience: patience) { session in
      var shown = ""
      repeat {
        let all = await session.status(of: devices, timeout: home.network.timeout?.duration ?? patience)
        let statuses = offline ? all.filter { !$0.isOnline } : all
        let now = HomeSession.now()
        let table = DeviceTable.text(statuses, now: now)
        let essence = statuses.map { "\($0.connectivity)\($0.state)" }.joined()
        if !watch || essence != shown {
          home.output.result(.array(statuses.map(DeviceTable.json)), table)
          shown = essence
        }
        if watch { try await Task.sleep(for: .seconds(1)) }
      } while watch
    }
  }
}

/// Families of device types.
enum DeviceKindName {
  /// Whether one of the types is of the kind: the kind is in its name.
  static func matches(_ types: [String], _ kind: String) -> Bool {
    let kind = kind.lowercased()
    return types.contains { type in
      let type = type.lowercased()
      // A light switch is no light.
      return kind == "light" ? type.hasSuffix("light") : type.contains(kind)
    }
  }
}

/// Devices as a table and as JSON.
enum DeviceTable {
  static func text(_ statuses: [DeviceStatus], now: Int64) -> String {
    var table = Table("NAME", "ROOM", "TYPE", "STATE", "CONNECTIVITY", "LOCALITY", "LAST CONTACT")
    for status in statuses {
      let state = status.state.text
      table.add(
        status.device.name, status.device.room ?? "–", type(status.device),
        state.isEmpty ? "–" : status.isOnline ? state : "(\(state))", status.connectivity.rawValue,
        status.isOnline ? status.locality : "–", contact(status, now: now))
    }
    return table.text
  }

  private static func type(_ device: DeviceRecord) -> String {
    let names = device.typeNames
    guard let first = names.first else { return "–" }
    return names.count == 1 ? first : "\(first) +\(names.count - 1)"
  }

  static func contact(_ status: DeviceStatus, now: Int64) -> String {
    let ago = status.lastContact.map { TimeSpan.ago(milliseconds: now - $0) } ?? "never"
    return status.reason.map { "\(ago), \($0)" } ?? ago
  }

  static func json(_ status: DeviceStatus) -> JSON {
    let parts: [JSON] = status.state.parts.map { part in
      var object: JSON = ["endpoint": .integer(part.endpoint.rawValue)]
      if let isOn = part.isOn { object = object.adding("onOff", .bool(isOn)) }
      if let level = part.level {
        object = object.adding("currentLevel", .integer(level)).adding("level", .integer(HomeUnits.percent(level)))
      }
      if let color = part.color { object = object.adding("color", .string(color.description)) }
      return object
    }
    let state: JSON = [
      "text": .string(status.state.text), "isLast": .bool(!status.isOnline), "parts": .array(parts),
    ]
    return status.device.jsonNames
      .adding("types", .array(status.device.typeNames.map { .string($0) }))
      .adding("online", .bool(status.isOnline))
      .adding("connectivityState", .string(status.connectivity.rawValue))
      .adding("connectivityReason", .optional(status.reason))
      .adding("dataSourceLocality", .string(status.locality))
      .adding("state", state)
      .adding("lastContact", status.lastContact.map { .string(ClockText.iso(milliseconds: $0)) } ?? .null)
  }
}
