import ArgumentParser
import Glibc
import Home
import MatterClusters
import MatterModel

/// `hearth devices`.
struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The devices of the home, and how they are.")
  @OptionGroup var home: HomeOptions
  @Option(help: "Only those in this room; `home/room` where several homes have one of this name.") var room: String?
  @Option(help: "Only those of this kind: light, plug, sensor, or a type's name.") var kind: String?
  @Flag(help: "Only those that are offline, not those of which a part is there.") var offline = false
  @Flag(help: "Show the table again whenever something changes; on a terminal, in its place.") var watch = false

  func run() async throws {
    let names = Names(global: home.global, hub: home.hub)
    let awaited = try names.awaited()
    let state = try await names.state()
    let registry = HomeRegistry(state)
    let room = try room.map { try state.knownRoom($0).id }
    if let kind { try Self.check(kind, among: registry.devices) }
    let wanted = registry.devices.filter { isWanted($0, in: state.devices[$0.id]?.roomID, room) }
    try home.check(wanted)
    if wanted.isEmpty && awaited.isEmpty && !watch {
      home.output.result([], "")
      home.output.progress(
        registry.devices.isEmpty
          ? "There is no device yet; pair one with `hearth pair CODE`." : "No device is like that.")
      return
    }
    let timeout = home.network.timeout?.duration ?? .milliseconds(2500)
    var options = try home.options(timeout: timeout)
    options.following.wakesObservers = watch
    try await home.withHomeUntilInterrupted(options) { session in
      try await session.follow()
      try await home.output.tellingWaits {
        await session.waitForConnectivity(of: Set(wanted.map(\.id) + awaited), timeout: timeout)
      }
      try Task.checkCancellation()
      guard watch else { return try await show(session, room) }
      let screen = TableScreen(isInPlace: !home.output.json && isatty(STDOUT_FILENO) == 1)
      // Several changes at a time are one.
      while true {
        try await show(session, room, on: screen)
        try await Task.sleep(for: .milliseconds(250))
      }
    }
  }

  /// - Throws: `notFound` for what is no kind of device: neither a family, nor in the name of a type.
  static func check(_ kind: String, among devices: [DeviceRecord]) throws(HomeError) {
    let names = DeviceTypes.all.map { ElementNames.deviceType($0.id) } + devices.flatMap(\.typeNames)
    guard DeviceFamily.named(kind) == nil, !names.contains(where: { $0.lowercased().contains(kind.lowercased()) })
    else { return }
    let families = DeviceFamily.all.map(\.name)
    throw HomeError(
      .notFound,
      "there is no kind of device “\(kind)”; expected \(families.joined(separator: ", ")), or a type's name",
      candidates: NearestName.suggestions(for: kind, in: families + names))
  }

  /// - Parameters:
  ///   - place: the id of the room that it is in.
  ///   - room: the id of the one that was asked for; nil: none was.
  private func isWanted(_ device: DeviceRecord, in place: String?, _ room: String?) -> Bool {
    (room == nil || place == room) && (kind.map { device.isOfKind($0) } ?? true)
  }

  private func show(_ session: Home, _ room: String?, on screen: TableScreen? = nil) async throws {
    // What was paired and has not told yet what it is, is in the home all the same.
    let awaited = await session.awaited()
    // One that tells it just now is in both.
    let devices = try await session.devices().list()
    let state = await session.state
    let known = Set(devices.map(\.id))
    var reports: [DeviceRow] = []
    for device in devices + awaited.devices.filter({ !known.contains($0.id) }) {
      let place = device.roomID.flatMap { state.room($0) ?? awaited.home.room($0) }
      guard let record = device.record(room: place?.name),
        isWanted(record, in: device.roomID, room),
        !offline || device.sourceConnectivity.connectivityState == .offline
      else { continue }
      reports.append(DeviceRow(device: device, record: record))
    }
    let now = Home.now()
    let table = DeviceTable.text(reports, now: now)
    guard let screen else {
      home.output.result(.array(reports.map(DeviceTable.json)), reports.isEmpty ? "" : table)
      if reports.isEmpty { home.output.progress(offline ? "No device is offline." : "No device is like that.") }
      return
    }
    guard screen.isNews(reports.map(\.essence), table, at: now) else { return }
    if home.output.json {
      home.output.result(.array(reports.map(DeviceTable.json)), "")
    } else {
      home.output.screen(
        screen.text(table, rows: TableScreen.rows, colors: Terminal.hasColors(STDOUT_FILENO)))
    }
  }
}

/// A device and its place, as a line of the table.
struct DeviceRow {
  var device: HomeDevice
  var record: DeviceRecord

  var isOnline: Bool { device.sourceConnectivity.connectivityState == .online }
  /// Whether some of it is.
  var isPartlyOnline: Bool { isOnline || device.sourceConnectivity.connectivityState == .partiallyOnline }

  /// What makes a line another one; that time passes does not.
  var essence: String {
    "\(record.fullName) \(record.typeNames) \(device.sourceConnectivity) \(device.settledConnectivity) "
      + "\(device.offlineReason?.text ?? "") \(DeviceTable.state(self)) \(device.state)"
  }

  /// Whether what is known of an endpoint is what it said last, and not what is the case now.
  func isLast(_ endpoint: EndpointID) -> Bool { device.traits.first { $0.endpoint == endpoint }?.isStale ?? !isOnline }
}

extension DeviceRecord {
  /// Whether one of its types is of a family (`light`), or has a name with this in it.
  func isOfKind(_ kind: String) -> Bool {
    if let family = DeviceFamily.named(kind) {
      return applicationEndpoints.contains { $0.deviceTypes.contains { family.contains($0) } }
    }
    return typeNames.contains { $0.lowercased().contains(kind.lowercased()) }
  }
}

/// Devices as a table and as JSON.
enum DeviceTable {
  static func text(_ rows: [DeviceRow], now: Int64) -> String {
    var table = Table("NAME", "ROOM", "TYPE", "STATE", "CONNECTIVITY", "LOCALITY", "LAST CONTACT")
    for row in rows {
      let state = state(row)
      table.add(
        row.record.name, row.record.room ?? "–", type(row.record), state.isEmpty ? "–" : state,
        row.device.sourceConnectivity.connectivityState.rawValue, locality(row), contact(row, now: now))
    }
    return table.text
  }

  /// What it is doing; in brackets what it, or a part of it, did when it was heard last.
  static func state(_ row: DeviceRow) -> String {
    let parts = row.device.state.parts
    if !parts.isEmpty, parts.allSatisfy({ row.isLast($0.endpoint) }) { return "(\(row.device.state.text))" }
    return parts.map { row.isLast($0.endpoint) ? "(\($0.text))" : $0.text }.joined(separator: ", ")
  }

  private static func type(_ device: DeviceRecord) -> String {
    let names = device.typeNames
    guard let first = names.first else { return "–" }
    return names.count == 1 ? first : "\(first) +\(names.count - 1)"
  }

  static func locality(_ row: DeviceRow) -> String {
    row.isPartlyOnline ? row.device.sourceConnectivity.dataSourceLocality.rawValue : "–"
  }

  static func contact(_ row: DeviceRow, now: Int64) -> String {
    let ago = row.device.contact.last.map { TimeSpan.ago(milliseconds: max(0, now - $0 / 1000)) } ?? "never"
    return row.device.offlineReason.map { "\(ago), \($0.text)" } ?? ago
  }

  private static func json(_ reading: DeviceState.Reading) -> JSON {
    let path = ConcreteAttributePath(.root, reading.cluster, reading.attribute)
    return [
      "attribute": .string(ElementNames.attribute(path)),
      "value": .encoded(ElementNames.schema(path).json(of: reading.value)), "text": .string(reading.text),
    ]
  }

  static func json(_ row: DeviceRow) -> JSON {
    let device = row.device
    let parts: [JSON] = device.state.parts.map { part in
      var object: JSON = ["endpoint": .integer(part.endpoint.rawValue)]
      if let isOn = part.isOn { object = object.adding("onOff", .bool(isOn)) }
      if let level = part.level {
        object = object.adding("currentLevel", .integer(level)).adding("level", .integer(part.percent ?? 0))
      }
      if let color = part.color { object = object.adding("color", .string(color.description)) }
      if !part.readings.isEmpty { object = object.adding("readings", .array(part.readings.map(json))) }
      return object.adding("isLast", .bool(row.isLast(part.endpoint)))
    }
    // Of the whole where it is of all parts.
    let isLast = parts.isEmpty ? !row.isPartlyOnline : device.state.parts.allSatisfy { row.isLast($0.endpoint) }
    let state: JSON = ["text": .string(device.state.text), "isLast": .bool(isLast), "parts": .array(parts)]
    func time(_ microseconds: Int64?) -> JSON {
      microseconds.map { .string(ClockText.iso(milliseconds: $0 / 1000)) } ?? .null
    }
    return row.record.jsonNames
      .adding("types", .array(row.record.typeNames.map { .string($0) }))
      .adding("online", .bool(row.isOnline))
      .adding("connectivityState", .string(device.sourceConnectivity.connectivityState.rawValue))
      .adding("settledConnectivityState", .string(device.settledConnectivity.connectivityState.rawValue))
      .adding("connectivityReason", .optional(device.offlineReason?.text))
      .adding("dataSourceLocality", .string(device.sourceConnectivity.dataSourceLocality.rawValue))
      .adding("state", state)
      .adding("lastContact", time(device.contact.last))
      .adding("nextReport", time(device.contact.nextReport))
  }
}

/// A table that is shown again and again: on a terminal in its place, else one below the other.
final class TableScreen {
  private let isInPlace: Bool
  private var shown: (essence: [String], table: String, time: Int64)?
  /// How old "2 s ago" may become on a terminal, in milliseconds.
  private static let period: Int64 = 5000

  init(isInPlace: Bool) { self.isInPlace = isInPlace }

  /// Whether it is another table than the last one, and to be shown; one that only says how long ago something was is
  /// another after some seconds, and only where it takes the place of the last.
  /// - Parameters:
  ///   - essence: what makes it another one at once.
  ///   - now: in milliseconds, by any clock.
  func isNews(_ essence: [String], _ table: String, at now: Int64) -> Bool {
    if let shown, shown.essence == essence {
      // A clock that was put back does not stop it.
      guard isInPlace, shown.table != table, abs(now - shown.time) >= Self.period else { return false }
    }
    shown = (essence, table, now)
    return true
  }

  /// The text with what puts it in the place of the last one: home, each line cleared to its end, and all below. What a terminal
  /// does not hold would move what is above out of it, and stay there: lines are cut at its edge, and those that are too many
  /// are counted.
  /// - Parameter rows: how many lines the terminal has; nil: not known.
  func text(_ table: String, rows: Int? = nil, colors: Bool = false) -> String {
    let table = colors ? Paint.result(table.shown(lines: true)) : table.shown(lines: true)
    guard isInPlace else { return table }
    var lines = table.split(separator: "\n", omittingEmptySubsequences: false)
    // The cursor is on the one below.
    if let rows, lines.count > rows - 1 {
      let shown = max(rows - 2, 1)
      let rest = lines.count - shown
      lines = lines.prefix(shown) + ["… and \(rest) more"]
    }
    return "\u{1B}[?7l\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J\u{1B}[?7h"
  }

  /// How many lines standard output's terminal has; nil: it does not say.
  static var rows: Int? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return nil }
    return Int(size.ws_row)
  }
}
