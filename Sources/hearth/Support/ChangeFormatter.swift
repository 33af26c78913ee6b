import Home
import MatterModel

/// Changes of a home as lines and as JSON objects, with the names that things have at each of them.
struct ChangeFormatter {
  private var names: HomeState
  /// Devices as they were seen last: what is gone still has a name in the lines that say so.
  private var seen: [String: DeviceRecord] = [:]
  /// How rooms were called that are gone by now.
  private var goneRooms: [String: String] = [:]
  private let raw: Bool
  /// Whether the changes that follow are older than the home it began with, of which ways they have said how they are, and what by
  /// how it is called.
  private var isPast: Bool
  private var reread: Set<SourceID> = []
  private var named: Set<String> = []

  /// - Parameters:
  ///   - names: the home as it is.
  ///   - isPast: whether changes that are older than it follow, and bring it back to where it was.
  init(_ names: HomeState, raw: Bool = false, isPast: Bool = false) {
    (self.names, self.raw, self.isPast) = (names, raw, isPast)
  }

  /// Takes in how that was called which is gone by now: samples that follow may be of the time before.
  mutating func learn(_ samples: [HomeSample]) {
    for sample in samples {
      if case .roomRemoved(let id) = sample.change { goneRooms[id] = sample.name }
      guard let name = sample.name, let id = sample.device, seen[id] == nil else { continue }
      seen[id] = Self.unknown(id, name: name, room: nil)
    }
  }

  /// All changes that are older than the home were told: it is where it was.
  mutating func reachPresent() { isPast = false }

  /// Whether the name that something has is the one that it had before a change. In the past it is the one of much later, until
  /// the log has said another.
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

  /// A sample's line and its object, each with time and anchor. No line where it says nothing of a device as a whole: that a way to
  /// it comes or goes that does not count. The object says so, too.
  mutating func report(_ sample: HomeSample) -> (json: JSON, text: String?) {
    let before = device(of: sample)
    let room = room(of: sample.change) ?? sample.name
    let counted = way(of: sample)
    apply(sample.change)
    let after = sample.isDeletion ? before : device(of: sample)
    let told = Self.told(
      sample, knowsOldName(sample.change) ? before?.name ?? room : nil, after, room: room, raw: raw, names)
    var json: JSON = ["type": .string(sample.type.rawValue), "change": .string(told.kind)]
    if let after { json = json.adding("id", .string(after.id)).adding("room", .optional(after.room)) }
    json = json.adding(told.json)
    var text: String? = told.text
    if case .connectivity(let source, _) = sample.change, let after, let now = way(of: sample) {
      json = json.adding(Self.whole(now.status))
      // How a way was before it is read of is not known, and so not which one counted.
      let isNews = isPast && reread.insert(source).inserted || counted?.id == source || now.id == source
      text = isNews ? "\(after.fullName)  \(Self.words(now.status))" : nil
    }
    json = json.adding("time", .string(ClockText.iso(milliseconds: sample.time / 1000)))
      .adding("anchor", .string("\(sample.anchor)"))
    if let origin = sample.origin { json = json.adding("origin", .string(origin)) }
    return (json, text.map { Self.line(sample.time, sample.anchor, $0) })
  }

  /// The way that counts to the device that a sample is about.
  private func way(of sample: HomeSample) -> DeviceSource? { sample.device.flatMap { names.devices[$0]?.active } }

  /// What is said where the log does not have what followed a place: it does not go back so far, or is another one by now. The
  /// lines that follow are behind it.
  /// - Parameter devices: those of the home that are wanted.
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
        "reset: the log can't say what has happened since; `hearth devices` shows the home as it is, what follows is new"
      )
    )
  }

  /// What is said of a device that has been as it is for the home's grace time.
  /// - Parameters:
  ///   - time: in microseconds since 1970.
  ///   - anchor: what came before it.
  func settled(_ device: HomeDevice, at time: Int64, _ anchor: Anchor) -> (json: JSON, text: String)? {
    guard let record = device.record(room: device.roomID.flatMap { names.room($0)?.name }) else { return nil }
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

  /// What is said of a device that is reached by another route than before, or by none.
  /// - Parameters:
  ///   - time: in microseconds since 1970.
  ///   - anchor: what came before it.
  func routed(_ device: HomeDevice, at time: Int64, _ anchor: Anchor) -> (json: JSON, text: String)? {
    guard let record = device.record(room: device.roomID.flatMap { names.room($0)?.name }), let source = device.source
    else { return nil }
    let told = Self.told(.connectivity(source.id, source.status), nil, record, raw: raw, names)
    let json: JSON = [
      "type": "connectivity", "change": .string(told.kind), "id": .string(record.id), "room": .optional(record.room),
    ]
    return (
      json.adding(told.json).adding(Self.whole(source.status))
        .adding("time", .string(ClockText.iso(milliseconds: time / 1000))).adding("anchor", .string("\(anchor)")),
      Self.line(time, anchor, told.text)
    )
  }

  /// A device with all that is known of it.
  private func snapshot(_ device: HomeDevice) -> JSON? {
    guard let record = device.record(room: device.roomID.flatMap { names.room($0)?.name }) else { return nil }
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

  private static func line(_ time: Int64, _ anchor: Anchor, _ text: String) -> String {
    "\(ClockText.time(milliseconds: time / 1000))  \(anchor)  \(text)"
  }

  // MARK: Names

  private mutating func apply(_ change: HomeChange) {
    switch change {
    // Only names are looked up here: values are in the samples.
    case .attribute, .event: break
    default: names.apply(change)
    }
  }

  private mutating func device(of sample: HomeSample) -> DeviceRecord? {
    guard let id = sample.device else { return nil }
    guard let entry = names.devices[id] else { return seen[id] ?? Self.unknown(id, name: sample.name ?? id, room: nil) }
    let room = entry.roomID.flatMap { names.room($0)?.name ?? goneRooms[$0] }
    let record = DeviceRecord(entry, room: room) ?? Self.unknown(id, name: entry.name, room: room)
    seen[id] = record
    return record
  }

  /// A device that has no way to it, or was gone before we came.
  private static func unknown(_ id: String, name: String, room: String?) -> DeviceRecord {
    var record = DeviceRecord(nodeID: SourceID(id.prefix { $0 != "-" })?.node ?? NodeID(0), name: name, room: room)
    record.id = id
    return record
  }

  /// The name of the room or structure that a change is about, or that a device comes into.
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

  // MARK: Words

  private typealias Told = (kind: String, json: JSON, text: String)

  private static func told(
    _ sample: HomeSample, _ oldName: String?, _ after: DeviceRecord?, room: String?, raw: Bool, _ home: HomeState
  ) -> Told {
    if let device = after { return told(sample.change, oldName, device, raw: raw, home) }
    func place(_ kind: String, _ thing: String, _ id: String, _ text: String) -> Told {
      let name = room ?? id
      return (kind, ["id": .string(id), "name": .string(name)], "\(thing) \(name)  \(text)")
    }
    switch sample.change {
    case .roomAdded(let room): return place("roomAdded", "room", room.id, "added")
    case .roomRemoved(let id): return place("roomRemoved", "room", id, "removed")
    case .structureAdded(let structure): return place("structureAdded", "structure", structure.id, "added")
    case .structureRemoved(let id): return place("structureRemoved", "structure", id, "removed")
    case .primaryStructureChosen(let id):
      return place("primaryStructureChosen", "structure", id, "is the primary one")
    case .roomRenamed(let id, let name): return renamed("room", id, from: oldName, to: name)
    case .structureRenamed(let id, let name): return renamed("structure", id, from: oldName, to: name)
    default:
      // Of a node that is no device yet, or none any more.
      guard let node = sample.node else { return (sample.type.rawValue, [:], sample.type.rawValue) }
      let name = "\(node.rawValue)"
      return told(sample.change, nil, unknown(name, name: name, room: nil), raw: raw, home)
    }
  }

  private static func renamed(_ thing: String, _ id: String, from old: String?, to name: String) -> Told {
    // Told from a place in the log where it was called so already.
    let old = old == name ? nil : old
    return (
      "\(thing)Renamed", ["id": .string(id), "name": .string(name), "was": .optional(old)],
      "\(thing) \(name)  renamed" + (old.map { ", was \($0)" } ?? "")
    )
  }

  /// How a device is as a whole, by the way that counts.
  private static func whole(_ status: SourceStatus) -> JSON {
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

  private static func told(
    _ change: HomeChange, _ oldName: String?, _ device: DeviceRecord, raw: Bool, _ home: HomeState
  ) -> Told {
    func about(_ kind: String, _ words: String, _ more: JSON = [:]) -> Told {
      let json: JSON = ["device": .string(device.name), "nodeID": .string("\(device.nodeID.rawValue)")]
      return (kind, json.adding(more), "\(device.fullName)  \(words)")
    }
    var device = device
    // Whose endpoint it is, which need not be the way that counts.
    if let node = change.node { device.nodeID = node }
    switch change {
    case .attribute(let node, let path, let value?):
      let value = AttributeValue(
        device, path, value, raw: raw, levels: home.levels(of: node, on: path.endpoint))
      return ("attribute", value.json, "\(value.pathText)  \(value.text)")
    case .attribute(_, let path, nil):
      let value = AttributeValue(device, path, [0x14], raw: true)
      return ("attribute", value.json.adding("gone", true), "\(value.pathText)  gone")
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
      let place = room == nil ? "moved out of its room" : "moved"
      return about("deviceMoved", device.room.map { "moved to \($0)" } ?? place)
    case .sourceAdded(let source, _):
      return about("sourceAdded", "found at \(source)", ["source": .string("\(source)")])
    case .sourceRemoved(let source):
      return about("sourceRemoved", "no longer at \(source)", ["source": .string("\(source)")])
    case .topology(let source, _, _):
      let types = device.typeNames
      return about(
        "topology", "is " + (types.isEmpty ? "of no type" : types.joined(separator: ", ")),
        ["types": .array(types.map { .string($0) }), "source": .string("\(source)")])
    case .structureAdded, .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomAdded, .roomRenamed,
      .roomRemoved:
      return about("topology", "changed")
    }
  }
}
