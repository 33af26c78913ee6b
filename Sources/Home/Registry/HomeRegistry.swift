public import MatterModel

/// The names in a home: its rooms, and its devices with their rooms.
///
/// Names keep the case they were given in and are compared without it.
public struct HomeRegistry: Hashable, Sendable {
  /// In the order they were added.
  public private(set) var rooms: [String] = []
  /// In the order of their node ids.
  public private(set) var devices: [DeviceRecord] = []

  public init() {}

  /// The longest name, in Unicode code points.
  public static let longestName = 60

  public func device(_ node: NodeID) -> DeviceRecord? { devices.first { $0.nodeID == node } }

  /// Adds a device, or replaces what is known of it. Its room is added where it is new.
  /// - Returns: the record as it is kept: a name that another device of the room has gets a number behind it.
  @discardableResult
  public mutating func put(_ record: DeviceRecord) throws(HomeError) -> DeviceRecord {
    var record = record
    record.name = try Self.checked(record.name)
    if let room = record.room { record.room = try existingOrNewRoom(room) }
    let base = record.name
    var number = 2
    while isTaken(record.name, room: record.room, except: record.nodeID) {
      record.name = "\(base) \(number)"
      number += 1
    }
    devices.removeAll { $0.nodeID == record.nodeID }
    devices.insert(record, at: devices.firstIndex { $0.nodeID > record.nodeID } ?? devices.count)
    return record
  }

  /// Forgets a device.
  public mutating func remove(_ node: NodeID) { devices.removeAll { $0.nodeID == node } }

  /// Gives a device another name.
  /// - Throws: `badArguments` where the name is not allowed or another device of the same room has it.
  @discardableResult
  public mutating func rename(_ node: NodeID, to name: String) throws(HomeError) -> DeviceRecord {
    let name = try Self.checked(name)
    guard let index = devices.firstIndex(where: { $0.nodeID == node }) else { throw Self.unknown(node) }
    guard !isTaken(name, room: devices[index].room, except: node) else {
      throw HomeError(.badArguments, "there is another “\(name)” \(Self.place(devices[index].room)); take another name")
    }
    devices[index].name = name
    return devices[index]
  }

  /// Puts a device into a room; nil takes it out of its room.
  @discardableResult
  public mutating func assign(_ node: NodeID, to room: String?) throws(HomeError) -> DeviceRecord {
    guard let index = devices.firstIndex(where: { $0.nodeID == node }) else { throw Self.unknown(node) }
    var target: String?
    if let room { target = try knownRoom(room) }
    guard !isTaken(devices[index].name, room: target, except: node) else {
      throw HomeError(
        .badArguments, "there is another “\(devices[index].name)” \(Self.place(target)); rename one of them")
    }
    devices[index].room = target
    return devices[index]
  }

  // MARK: Rooms

  public mutating func addRoom(_ name: String) throws(HomeError) -> String {
    let name = try Self.checked(name)
    guard room(name) == nil else { throw HomeError(.badArguments, "there is a room “\(name)” already") }
    rooms.append(name)
    return name
  }

  public mutating func renameRoom(_ old: String, to new: String) throws(HomeError) -> String {
    let old = try knownRoom(old)
    let new = try Self.checked(new)
    if let other = room(new), other != old { throw HomeError(.badArguments, "there is a room “\(other)” already") }
    rooms = rooms.map { $0 == old ? new : $0 }
    for index in devices.indices where devices[index].room == old { devices[index].room = new }
    return new
  }

  /// Removes a room; its devices stay, in no room.
  public mutating func removeRoom(_ name: String) throws(HomeError) -> String {
    let name = try knownRoom(name)
    for device in devices where device.room == name {
      if isTaken(device.name, room: nil, except: device.nodeID) {
        throw HomeError(
          .badArguments, "there is another “\(device.name)” in no room; rename it before you remove “\(name)”")
      }
    }
    for index in devices.indices where devices[index].room == name { devices[index].room = nil }
    rooms.removeAll { $0 == name }
    return name
  }

  /// The room of this name in any case.
  public func room(_ name: String) -> String? { rooms.first { Self.same($0, name) } }

  /// The room of this name.
  /// - Throws: `notFound` with what may have been meant.
  public func knownRoom(_ name: String) throws(HomeError) -> String {
    if let room = room(name) { return room }
    throw HomeError(
      .notFound, "there is no room “\(name)”", candidates: NearestName.suggestions(for: name, in: rooms))
  }

  private mutating func existingOrNewRoom(_ name: String) throws(HomeError) -> String {
    if let room = room(name) { return room }
    return try addRoom(name)
  }

  // MARK: Names

  private func isTaken(_ name: String, room: String?, except node: NodeID) -> Bool {
    devices.contains { $0.nodeID != node && $0.room == room && Self.same($0.name, name) }
  }

  static func same(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

  /// A name without the blanks around it, if it is one that can be told from a path.
  static func checked(_ name: String) throws(HomeError) -> String {
    let scalars = Array(name.unicodeScalars)
    guard let start = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let end = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { throw HomeError(.badArguments, "a name needs at least one letter") }
    var trimmed = String.UnicodeScalarView()
    trimmed.append(contentsOf: scalars[start...end])
    let text = String(trimmed)
    guard trimmed.count <= longestName else {
      throw HomeError(.badArguments, "“\(text)” has \(trimmed.count) characters, a name has at most \(longestName)")
    }
    if let bad = text.first(where: { $0 == "/" || $0 == "*" || $0.isNewline }) {
      throw HomeError(
        .badArguments, "a name can't have “\(bad == "/" || bad == "*" ? String(bad) : "a new line")” in it")
    }
    return text
  }

  private static func unknown(_ node: NodeID) -> HomeError {
    HomeError(.notFound, "there is no node \(node.rawValue) in the home")
  }

  private static func place(_ room: String?) -> String { room.map { "in “\($0)”" } ?? "in no room" }
}
