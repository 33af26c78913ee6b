import ArgumentParser
import Glibc
import HearthHome
import HomeText
import MatterClusters
import MatterModel

/// `hearth devices`.
struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices of the home and their state.")
  @OptionGroup var home: HomeOptions
  @Option(help: "List only devices in this room; `home/room` if several homes have a room of this name.")
  var room: String?
  @Option(help: "List only devices of this kind: light, plug, sensor, or the name of a device type.") var kind: String?
  @Flag(help: "List only offline devices, without partially online ones.") var offline = false
  @Flag(help: "Print the table again after each change; on a terminal, redraw it in place.") var watch = false

  func run() async throws {
    let state = try await Names(global: home.global, hub: home.hub).state()
    let registry = HomeRegistry(state)
    let room = try room.map { try state.knownRoom($0).id }
    if let kind { try Self.check(kind, among: registry.devices) }
    let wanted = registry.devices.filter { isWanted($0, in: state.devices[$0.id]?.roomID, room) }
    try home.check(wanted)
    if wanted.isEmpty && !watch {
      home.output.result([], "")
      home.output.progress(
        registry.devices.isEmpty
          ? "no devices yet; pair one with `hearth pair CODE`" : "no matching device")
      return
    }
    let timeout = home.network.timeout?.duration ?? .milliseconds(2500)
    var options = try home.options(timeout: timeout)
    options.following.wakesObservers = watch
    try await home.withHomeUntilInterrupted(options) { session in
      try await session.follow()
      try await home.output.reportingWaits {
        await session.waitForConnectivity(of: Set(wanted.map(\.id)), timeout: timeout)
      }
      try Task.checkCancellation()
      guard watch else { return try await show(session, room) }
      try await showChanges(session, room)
    }
  }

  /// Prints the table again after each change, until the task is canceled.
  private func showChanges(_ session: Home, _ room: String?) async throws {
    let screen = TableScreen(isInPlace: !home.output.json && isatty(STDOUT_FILENO) == 1)
    let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observation = session.updates().sink { _ in signal.yield() }
    defer { observation.cancel() }
    // Redraws periodically, because the table has relative times, and for devices that other processes pair.
    async let _: Void = {
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(TableScreen.period))
        signal.yield()
      }
    }()
    signal.yield()
    for await _ in signals {
      try await show(session, room, on: screen)
      // Changes within this interval are drawn together.
      try await Task.sleep(for: .milliseconds(250))
    }
    try Task.checkCancellation()
  }

  /// - Throws: `notFound` if the text is neither a family of devices nor part of the name of a device type.
  static func check(_ kind: String, among devices: [DeviceRecord]) throws(HomeError) {
    let names = DeviceTypes.all.map { ElementNames.deviceType($0.id) } + devices.flatMap(\.typeNames)
    guard DeviceFamily.named(kind) == nil, !names.contains(where: { $0.lowercased().contains(kind.lowercased()) })
    else { return }
    let families = DeviceFamily.all.map(\.name)
    throw HomeError(
      .notFound,
      "unknown kind of device “\(kind)”; expected \(families.joined(separator: ", ")), or the name of a device type",
      candidates: NearestName.suggestions(for: kind, in: families + names))
  }

  /// - Parameters:
  ///   - ownRoom: the id of the room that contains the device; nil: none.
  ///   - room: the id of the requested room; nil: any.
  private func isWanted(_ device: DeviceRecord, in ownRoom: String?, _ room: String?) -> Bool {
    (room == nil || ownRoom == room) && (kind.map { device.isOfKind($0) } ?? true)
  }

  private func show(_ session: Home, _ room: String?, on screen: TableScreen? = nil) async throws {
    let devices = try await session.devices().list()
    let state = await session.state
    var reports: [DeviceRow] = []
    for device in devices {
      guard let record = DeviceRecord(device.entry, room: device.roomID.flatMap { state.room($0) }?.name),
        isWanted(record, in: device.roomID, room),
        !offline || device.sourceConnectivity.connectivityState == .offline
      else { continue }
      reports.append(DeviceRow(device: device, record: record))
    }
    let now = Home.now()
    let table = DeviceTable.text(reports, now: now)
    guard let screen else {
      home.output.result(.array(reports.map(DeviceTable.json)), reports.isEmpty ? "" : table)
      if reports.isEmpty { home.output.progress(offline ? "no device is offline" : "no matching device") }
      return
    }
    guard screen.needsUpdate(reports.map(\.fingerprint), table, at: now) else { return }
    if home.output.json {
      home.output.result(.array(reports.map(DeviceTable.json)), "")
    } else {
      home.output.screen(
        screen.text(table, rows: Terminal.rows, colors: Terminal.hasColors(STDOUT_FILENO)))
    }
  }
}

/// A device with its name and room, for one line of the table.
struct DeviceRow {
  var device: HomeDevice
  var record: DeviceRecord

  var isOnline: Bool { device.sourceConnectivity.connectivityState == .online }
  /// Whether at least a part of the device is online.
  var isPartlyOnline: Bool { isOnline || device.sourceConnectivity.connectivityState == .partiallyOnline }

  /// All that the line shows, except for relative times.
  var fingerprint: String {
    "\(record.fullName) \(record.typeNames) \(device.sourceConnectivity) \(device.settledConnectivity) "
      + "\(device.offlineReason?.text ?? "") \(DeviceTable.state(self)) \(device.state)"
  }

  /// Whether the known values of an endpoint may be stale.
  func isStale(_ endpoint: EndpointID) -> Bool { device.traits.first { $0.endpoint == endpoint }?.isStale ?? !isOnline }
}

extension DeviceRecord {
  /// Returns whether a device type belongs to the family (`light`), or has a name that contains the text.
  func isOfKind(_ kind: String) -> Bool {
    if let family = DeviceFamily.named(kind) {
      return applicationEndpoints.contains { $0.deviceTypes.contains { family.contains($0) } }
    }
    return typeNames.contains { $0.lowercased().contains(kind.lowercased()) }
  }
}

/// Formats devices as a table and JSON.
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

  /// The state of the device. Stale parts are in parentheses.
  static func state(_ row: DeviceRow) -> String {
    let parts = row.device.state.parts
    if !parts.isEmpty, parts.allSatisfy({ row.isStale($0.endpoint) }) { return "(\(row.device.state.text))" }
    return parts.map { row.isStale($0.endpoint) ? "(\($0.text))" : $0.text }.joined(separator: ", ")
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
      var object: JSON = ["endpoint": .int(part.endpoint.rawValue)]
      if let isOn = part.isOn { object = object.adding("onOff", .bool(isOn)) }
      if let level = part.level {
        object = object.adding("currentLevel", .int(level)).adding("level", .int(part.percent ?? 0))
      }
      if let color = part.color { object = object.adding("color", .string(color.description)) }
      if !part.readings.isEmpty { object = object.adding("readings", .array(part.readings.map(json))) }
      return object.adding("isLast", .bool(row.isStale(part.endpoint)))
    }
    let isStale = parts.isEmpty ? !row.isPartlyOnline : device.state.parts.allSatisfy { row.isStale($0.endpoint) }
    let state: JSON = ["text": .string(device.state.text), "isLast": .bool(isStale), "parts": .array(parts)]
    func time(_ microseconds: Int64?) -> JSON {
      microseconds.map { .string(ClockText.iso(milliseconds: $0 / 1000)) } ?? .null
    }
    return row.record.jsonNames
      .adding("types", .texts(row.record.typeNames))
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

/// Repeated output of a table: redrawn in place on a terminal, otherwise printed below the previous one.
final class TableScreen {
  private let isInPlace: Bool
  private var shown: (fingerprint: [String], table: String, time: Int64)?
  /// The interval at which relative times, such as "2 s ago", are redrawn on a terminal, in milliseconds.
  static let period: Int64 = 5000

  init(isInPlace: Bool) { self.isInPlace = isInPlace }

  /// Returns whether a table has to be printed, and records it as printed if so.
  ///
  /// A table that differs only in relative times is printed after a few seconds, and only in place.
  /// - Parameters:
  ///   - fingerprint: the content that causes an update at once.
  ///   - now: the time in milliseconds, by any clock.
  func needsUpdate(_ fingerprint: [String], _ table: String, at now: Int64) -> Bool {
    if let shown, shown.fingerprint == fingerprint {
      // The absolute difference, so that a clock that was set back does not stop updates.
      guard isInPlace, shown.table != table, abs(now - shown.time) >= Self.period else { return false }
    }
    shown = (fingerprint, table, now)
    return true
  }

  /// Returns the table with the control sequences that redraw it in place.
  ///
  /// The cursor moves to the upper left corner, each line is cleared to its end, and all lines below are cleared.
  /// Output that is larger than the terminal would scroll it: long lines are cut by the terminal, and excess lines are
  /// replaced by their number.
  /// - Parameter rows: the number of lines of the terminal; nil: not known.
  func text(_ table: String, rows: Int? = nil, colors: Bool = false) -> String {
    let table = colors ? Paint.result(table.shown(lines: true)) : table.shown(lines: true)
    guard isInPlace else { return table }
    var lines = table.split(separator: "\n", omittingEmptySubsequences: false)
    // The last line is left for the cursor.
    if let rows, lines.count > rows - 1 {
      let shown = max(rows - 2, 1)
      let rest = lines.count - shown
      lines = lines.prefix(shown) + ["… and \(rest) more"]
    }
    return "\u{1B}[?7l\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J\u{1B}[?7h"
  }
}
