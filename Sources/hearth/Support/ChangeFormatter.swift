import HearthHome
import MatterModel

/// Formats changes of a home as lines and JSON objects, with the names at the time of each change.
struct ChangeFormatter {
  private var names: HomeState
  /// The last known records of devices, for the names in lines about removed devices.
  private var seen: [String: DeviceRecord] = [:]
  /// The names of removed rooms, by id.
  private var removedRooms: [String: String] = [:]
  private let raw: Bool
  /// Whether the changes that follow are older than `names`.
  private var isPast: Bool
  /// While `isPast`: the sources whose connectivity has been read from the log.
  private var reread: Set<SourceID> = []
  /// While `isPast`: the ids of devices, rooms and structures whose names have been read from the log.
  private var named: Set<String> = []

  /// - Parameters:
  ///   - names: the current home.
  ///   - isPast: whether changes that are older than `names` follow, up to its state.
  init(_ names: HomeState, raw: Bool = false, isPast: Bool = false) {
    (self.names, self.raw, self.isPast) = (names, raw, isPast)
  }

  /// Collects the names of removed devices and rooms, which earlier changes refer to.
  mutating func collectNames(from samples: [HomeSample]) {
    for sample in samples {
      if case .roomRemoved(let id) = sample.change { removedRooms[id] = sample.name }
      guard let name = sample.name, let id = sample.device, seen[id] == nil else { continue }
      seen[id] = Self.unknown(id, name: name, room: nil)
    }
  }

  /// Ends the phase of changes that are older than the home.
  mutating func reachPresent() { isPast = false }

  /// Returns whether the recorded name is the one before the change. For past changes it is the current name until the log has
  /// been read up to a change of the name.
  private mutating func knowsOldName(_ change: HomeChange) -> Bool {
    guard isPast else { return true }
    switch change {
    case .deviceAdded(let id, name: _, roomID: _, structureID: _), .deviceRenamed(let id, name: _),
      .roomRenamed(let id, name: _), .structureRenamed(let id, name: _):
      return !named.insert(id).inserted
    case .roomAdded(let room): return !named.insert(room.id).inserted
    case .structureAdded(let structure): return !named.insert(structure.id).inserted
    default: return true
    }
  }

  /// Formats a sample as an object and a line, each with time and anchor.
  ///
  /// The line is nil for a change of an inactive source, which does not affect the device as a whole.
  mutating func report(_ sample: HomeSample) -> (json: JSON, text: String?) {
    let before = device(of: sample)
    let room = room(of: sample.change) ?? sample.name
    let previous = activeSource(of: sample)
    apply(sample.change)
    let after = sample.isDeletion ? before : device(of: sample)
    let formatted = Self.format(
      sample, knowsOldName(sample.change) ? before?.name ?? room : nil, after, room: room, raw: raw, names)
    var json: JSON = ["type": .string(sample.sampleType.rawValue), "change": .string(formatted.kind)]
    if let after { json = json.adding("id", .string(after.id)).adding("room", .optional(after.room)) }
    json = json.adding(formatted.json)
    var text: String? = formatted.text
    if case .connectivity(let source, _) = sample.change, let after, let now = activeSource(of: sample) {
      json = json.adding(Self.deviceConnectivity(now.status))
      // For the first past change of a source, its earlier status is not known, and so not which source was active.
      let isRelevant = isPast && reread.insert(source).inserted || previous?.id == source || now.id == source
      text = isRelevant ? "\(after.fullName)  \(Self.words(now.status))" : nil
    }
    json = json.adding("time", .string(ClockText.iso(milliseconds: sample.time / 1000)))
      .adding("anchor", .string("\(sample.anchor)"))
    if let origin = sample.origin { json = json.adding("origin", .string(origin)) }
    return (json, text.map { Self.line(sample.time, sample.anchor, $0) })
  }

  /// Returns the active source of the device of a sample.
  private func activeSource(of sample: HomeSample) -> DeviceSource? {
    sample.device.flatMap { names.devices[$0]?.active }
  }

  /// Formats a reset: the log does not contain the changes after the requested anchor, because it was compacted or is another log.
  /// - Parameters:
  ///   - home: the home from which the following changes continue.
  ///   - devices: the requested devices of the home.
  ///   - time: in microseconds since 1970.
  mutating func reset(_ home: StoredHome, _ devices: [HomeDevice], at time: Int64) -> (json: JSON, text: String) {
    (names, isPast) = (home.state, false)
    return (
      [
        "reset": true, "time": .string(ClockText.iso(milliseconds: time / 1000)), "anchor": .string("\(home.anchor)"),
        "structures": .array(
          home.state.structures.map { HomeReport.json($0, isPrimary: $0.id == home.state.primaryStructureID) }),
        "rooms": .array(
          home.state.rooms.map {
            ["id": .string($0.id), "name": .string($0.name), "structure": .string($0.structureID)]
          }), "devices": .array(devices.compactMap { snapshot($0) }),
      ],
      Self.line(
        time, home.anchor,
        "reset: the log does not contain the changes since then; `hearth devices` shows the current state, new changes follow"
      )
    )
  }

  /// Formats a change of the settled connectivity.
  /// - Parameters:
  ///   - time: in microseconds since 1970.
  ///   - anchor: the anchor of the last logged change.
  /// - Returns: nil if the device has no record.
  func settled(_ device: HomeDevice, at time: Int64, _ anchor: Anchor) -> (json: JSON, text: String)? {
    guard let record = record(of: device) else { return nil }
    let state = device.settledConnectivity.connectivityState.rawValue
    return (
      [
        "type": "connectivity", "change": "settledConnectivity", "id": .string(record.id),
        "room": .optional(record.room), "device": .string(record.name), "nodeID": .string("\(record.nodeID.rawValue)"),
        "settledConnectivityState": .string(state), "time": .string(ClockText.iso(milliseconds: time / 1000)),
        "anchor": .string("\(anchor)"),
      ], Self.line(time, anchor, "\(record.fullName)  settled: \(state)")
    )
  }

  /// Formats the connectivity of a device after a change of the route to the hub.
  /// - Parameters:
  ///   - time: in microseconds since 1970.
  ///   - anchor: the anchor of the last logged change.
  /// - Returns: nil if the device has no record or source.
  func routed(_ device: HomeDevice, at time: Int64, _ anchor: Anchor) -> (json: JSON, text: String)? {
    guard let record = record(of: device), let source = device.source
    else { return nil }
    let formatted = Self.format(.connectivity(source.id, source.status), nil, record, raw: raw, names)
    let json: JSON = [
      "type": "connectivity", "change": .string(formatted.kind), "id": .string(record.id),
      "room": .optional(record.room),
    ]
    return (
      json.adding(formatted.json).adding(Self.deviceConnectivity(source.status))
        .adding("time", .string(ClockText.iso(milliseconds: time / 1000))).adding("anchor", .string("\(anchor)")),
      Self.line(time, anchor, formatted.text)
    )
  }

  /// Returns a device with all its known attributes.
  private func snapshot(_ device: HomeDevice) -> JSON? {
    guard let record = record(of: device) else { return nil }
    let values = device.traits.flatMap { trait in
      trait.knownAttributes.compactMap { id -> JSON? in
        guard let value = trait.value(id) else { return nil }
        return AttributeValue(
          record, .init(trait.endpoint, trait.id.cluster, id), value, raw: raw,
          levels: names.levels(of: record.nodeID, on: trait.endpoint)
        ).json
      }
    }
    return DeviceTable.json(DeviceRow(device: device, record: record)).adding("attributes", .array(values))
  }

  private func record(of device: HomeDevice) -> DeviceRecord? {
    DeviceRecord(device.entry, room: device.roomID.flatMap { names.room($0)?.name })
  }

  private static func line(_ time: Int64, _ anchor: Anchor, _ text: String) -> String {
    "\(ClockText.time(milliseconds: time / 1000))  \(anchor)  \(text)"
  }

  // MARK: Names

  private mutating func apply(_ change: HomeChange) {
    switch change {
    // Only names are looked up in the home; values are in the samples.
    case .attribute, .event: break
    default: names.apply(change)
    }
  }

  private mutating func device(of sample: HomeSample) -> DeviceRecord? {
    guard let id = sample.device else { return nil }
    guard let entry = names.devices[id] else { return seen[id] ?? Self.unknown(id, name: sample.name ?? id, room: nil) }
    let room = entry.roomID.flatMap { names.room($0)?.name ?? removedRooms[$0] }
    let record = DeviceRecord(entry, room: room) ?? Self.unknown(id, name: entry.name, room: room)
    seen[id] = record
    return record
  }

  /// Returns a record for a device that has no source, or was removed before the formatter was created.
  private static func unknown(_ id: String, name: String, room: String?) -> DeviceRecord {
    let node = SourceID(id.prefix { $0 != "-" })?.node ?? NodeID(0)
    return DeviceRecord(
      DeviceEntry(id: id, name: name, structureID: ""), DeviceSource(SourceID(node)), room: room)
  }

  /// Returns the name of the room or structure that a change is about.
  private func room(of change: HomeChange) -> String? {
    switch change {
    case .roomAdded(let room): room.name
    case .roomRenamed(let id, _), .roomRemoved(let id): names.room(id)?.name
    case .structureAdded(let structure): structure.name
    case .structureRenamed(let id, _), .structureRemoved(let id), .primaryStructureChosen(let id):
      names.structure(id)?.name
    default: nil
    }
  }

  // MARK: Text

  private typealias Formatted = (kind: String, json: JSON, text: String)

  private static func format(
    _ sample: HomeSample, _ oldName: String?, _ after: DeviceRecord?, room: String?, raw: Bool, _ home: HomeState
  ) -> Formatted {
    if let device = after { return format(sample.change, oldName, device, raw: raw, home) }
    func container(_ kind: String, _ type: String, _ id: String, _ text: String) -> Formatted {
      let name = room ?? id
      return (kind, ["id": .string(id), "name": .string(name)], "\(type) \(name)  \(text)")
    }
    switch sample.change {
    case .roomAdded(let room): return container("roomAdded", "room", room.id, "added")
    case .roomRemoved(let id): return container("roomRemoved", "room", id, "removed")
    case .structureAdded(let structure): return container("structureAdded", "structure", structure.id, "added")
    case .structureRemoved(let id): return container("structureRemoved", "structure", id, "removed")
    case .primaryStructureChosen(let id):
      return container("primaryStructureChosen", "structure", id, "now primary")
    case .roomRenamed(let id, let name): return renamed("room", id, from: oldName, to: name)
    case .structureRenamed(let id, let name): return renamed("structure", id, from: oldName, to: name)
    default:
      // The node is not a device yet, or was removed.
      guard let node = sample.node else { return (sample.sampleType.rawValue, [:], sample.sampleType.rawValue) }
      let name = "\(node.rawValue)"
      return format(sample.change, nil, unknown(name, name: name, room: nil), raw: raw, home)
    }
  }

  private static func renamed(_ type: String, _ id: String, from old: String?, to name: String) -> Formatted {
    // For a past change the recorded name may already be the new one.
    let old = old == name ? nil : old
    return (
      "\(type)Renamed", ["id": .string(id), "name": .string(name), "was": .optional(old)],
      "\(type) \(name)  renamed" + (old.map { ", was \($0)" } ?? "")
    )
  }

  /// Returns the connectivity of a device as a whole.
  /// - Parameter status: the status of its active source.
  private static func deviceConnectivity(_ status: SourceStatus) -> JSON {
    [
      "deviceConnectivityState": .string(status.connectivity.connectivityState.rawValue),
      "deviceDataSourceLocality": .string(status.connectivity.dataSourceLocality.rawValue),
    ]
  }

  private static func words(_ status: SourceStatus) -> String {
    let (state, locality) = (status.connectivity.connectivityState, status.connectivity.dataSourceLocality)
    return status.reason.map { "\(state.rawValue) (\($0.text))" }
      ?? (state == .online ? "online (\(locality.rawValue))" : state.rawValue)
  }

  private static func format(
    _ change: HomeChange, _ oldName: String?, _ device: DeviceRecord, raw: Bool, _ home: HomeState
  ) -> Formatted {
    func about(_ kind: String, _ words: String, _ more: JSON = [:]) -> Formatted {
      let json: JSON = ["device": .string(device.name), "nodeID": .string("\(device.nodeID.rawValue)")]
      return (kind, json.adding(more), "\(device.fullName)  \(words)")
    }
    var device = device
    // The node of the change, which may belong to an inactive source.
    if let node = change.node { device.source.id.node = node }
    switch change {
    case .attribute(let node, let path, let value?):
      let value = AttributeValue(
        device, path, value, raw: raw, levels: home.levels(of: node, on: path.endpoint))
      return ("attribute", value.json, "\(value.pathText)  \(value.text)")
    case .attribute(_, let path, nil):
      let value = AttributeValue(device, path, [0x14], raw: true)
      return ("attribute", value.json.adding("gone", true), "\(value.pathText)  removed")
    case .event(_, let data):
      let value = EventValue(device, data)
      return ("event", value.json, "\(value.pathText)  \(value.text)")
    case .connectivity(let source, let status):
      let state = status.connectivity.connectivityState
      let locality = status.connectivity.dataSourceLocality
      return about(
        "connectivity", words(status),
        [
          "connectivityState": .string(state.rawValue), "connectivityReason": .optional(status.reason?.text),
          "dataSourceLocality": .string(locality.rawValue), "source": .string("\(source)"),
        ])
    case .deviceAdded: return about("deviceAdded", "added")
    case .deviceRemoved: return about("deviceRemoved", "removed")
    case .deviceRenamed(_, let name):
      let old = oldName == name ? nil : oldName
      return about("deviceRenamed", "renamed" + (old.map { ", was \($0)" } ?? ""), ["was": .optional(old)])
    case .deviceMoved(_, let room):
      let text = room == nil ? "moved out of its room" : "moved"
      return about("deviceMoved", device.room.map { "moved to \($0)" } ?? text)
    case .sourceAdded(let source, _):
      return about("sourceAdded", "source \(source) added", ["source": .string("\(source)")])
    case .sourceRemoved(let source):
      return about("sourceRemoved", "source \(source) removed", ["source": .string("\(source)")])
    case .topology(let source, _, _):
      let types = device.typeNames
      return about(
        "topology", "types: " + (types.isEmpty ? "none" : types.joined(separator: ", ")),
        ["types": .texts(types), "source": .string("\(source)")])
    case .structureAdded, .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomAdded, .roomRenamed,
      .roomRemoved:
      return about("topology", "changed")
    }
  }
}
