package import MatterCrypto

/// The rules for names in a home. Names keep their case and are compared without it.
package enum HomeNames {
  /// The maximum length of a name, in Unicode code points; longer names are truncated.
  package static let longestName = 60

  /// Returns a name without surrounding whitespace, truncated if it is too long.
  /// - Returns: the name, and whether it was truncated.
  /// - Throws: ``HomeError`` `badArguments` if nothing is left, or the name could be taken for a path.
  package static func checked(_ name: String) throws(HomeError) -> (name: String, wasCut: Bool) {
    let scalars = Array(name.unicodeScalars)
    guard let start = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let end = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { throw HomeError(.badArguments, "a name needs at least one letter") }
    let trimmed = String.UnicodeScalarView(scalars[start...end])
    if let bad = trimmed.first(where: { !isAllowed($0) }) {
      let what =
        bad == "/" || bad == "*" ? "“\(bad)”" : bad.isLineEnd ? "a new line" : "the control character \(bad.escaped)"
      throw HomeError(.badArguments, "a name can't have \(what) in it")
    }
    guard trimmed.count > longestName else { return (String(trimmed), false) }
    var cut = String.UnicodeScalarView(trimmed.prefix(longestName))
    // The truncation may leave whitespace at the end.
    while let last = cut.last, last.properties.isWhitespace { cut.removeLast() }
    return (String(cut), true)
  }

  /// Whether two names are equal regardless of case.
  package static func same(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

  /// Whether a name equals another one, optionally with a number appended by
  /// ``HomeState/availableName(_:in:of:except:)``.
  static func isNumbered(_ name: String, _ base: String) -> Bool {
    if name == base { return true }
    guard let blank = name.lastIndex(of: " "), let number = Int(name[name.index(after: blank)...]), number > 1 else {
      return false
    }
    return name == numbered(base, number)
  }

  fileprivate static func numbered(_ name: String, _ number: Int) -> String {
    let suffix = " \(number)"
    return String(name.unicodeScalars.prefix(longestName - suffix.unicodeScalars.count)) + suffix
  }

  /// Converts a name that a device reports to an allowed one; nil if nothing is left.
  package static func allowed(_ text: String?) -> String? {
    guard let text else { return nil }
    let plain = String.UnicodeScalarView(text.unicodeScalars.map { isAllowed($0) ? $0 : " " })
    return (try? checked(String(plain)))?.name
  }

  /// Excludes path separators, wildcards and control characters.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "/" && scalar != "*" && !scalar.isControl
  }
}

// Edits of the names of a home: each returns the changes that perform it, or throws the reason why it is invalid.
extension HomeState {
  // MARK: Structures

  /// Returns a new structure and the changes that add it.
  /// - Parameter id: the id of the new structure, which must never have been used.
  /// - Throws: ``HomeError`` `badArguments` if the name is in use or invalid.
  package func addingStructure(_ name: String, id: String) throws(HomeError) -> (Structure, [HomeChange]) {
    let name = try HomeNames.checked(name).name
    guard !structures.contains(where: { HomeNames.same($0.name, name) }) else {
      throw HomeError(.badArguments, "there is a structure “\(name)” already")
    }
    let structure = Structure(id: id, name: name)
    return (structure, [.structureAdded(structure)])
  }

  /// Returns the changes that rename a structure.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` if the name is in use or invalid.
  package func renamingStructure(_ id: String, to name: String) throws(HomeError) -> [HomeChange] {
    guard structure(id) != nil else { throw HomeError(.notFound, "there is no structure \(id)") }
    let name = try HomeNames.checked(name).name
    guard !structures.contains(where: { $0.id != id && HomeNames.same($0.name, name) }) else {
      throw HomeError(.badArguments, "there is a structure “\(name)” already")
    }
    return [.structureRenamed(id: id, name: name)]
  }

  /// Returns the changes that select the primary structure; none if it is already the primary one.
  package func choosingPrimaryStructure(_ id: String) throws(HomeError) -> [HomeChange] {
    guard structure(id) != nil else { throw HomeError(.notFound, "there is no structure \(id)") }
    return id == primaryStructureID ? [] : [.primaryStructureChosen(id: id)]
  }

  /// Returns the structure with this name, in any case.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  package func knownStructure(_ name: String) throws(HomeError) -> Structure {
    if let structure = structures.first(where: { HomeNames.same($0.name, name) }) { return structure }
    throw HomeError.unknown("there is no home “\(name)”", name, in: structures.map(\.name))
  }

  // MARK: Rooms

  /// Returns the room of a structure with this name, in any case.
  package func room(named name: String, in structureID: String) -> Room? {
    rooms.first { HomeNames.same($0.name, name) && $0.structureID == structureID }
  }

  /// Returns the room with this name, in any case, optionally after the name of its structure: `Cottage/Kitchen`.
  /// - Returns: nil if there is none.
  /// - Throws: ``HomeError`` `ambiguousTarget` with all matches, if several structures have such a room.
  package func room(called text: String) throws(HomeError) -> Room? {
    let found = rooms.filter { HomeNames.same($0.name, text) || HomeNames.same(fullName(of: $0), text) }
    guard found.count > 1 else { return found.first }
    throw HomeError(
      .ambiguousTarget, "“\(text)” matches \(found.count) rooms; name one of them",
      candidates: found.map { fullName(of: $0) })
  }

  /// Returns the room with this name, or a new one: `Cottage/Kitchen` names the structure, else it is the primary one.
  /// - Parameter random: the source of the id of a new room.
  /// - Throws: ``HomeError`` `notFound` if there is no such structure, `badArguments` if the name is invalid, and the
  ///   errors of ``room(called:)``.
  package func roomToBe(
    called text: String, _ random: any RandomSource = SystemRandomSource()
  ) throws(HomeError) -> Room {
    if let room = try room(called: text) { return room }
    guard let stroke = text.firstIndex(of: "/") else {
      return Room(
        id: Identifiers.new(random), name: try HomeNames.checked(text).name,
        structureID: primaryStructureID ?? HomeReducer.firstStructure.id)
    }
    let structure = try knownStructure(String(text[..<stroke]))
    let name = try HomeNames.checked(String(text[text.index(after: stroke)...])).name
    return Room(id: Identifiers.new(random), name: name, structureID: structure.id)
  }

  /// `Cottage/Kitchen`.
  package func fullName(of room: Room) -> String {
    "\(structure(room.structureID)?.name ?? room.structureID)/\(room.name)"
  }

  /// Returns the room with this name; see ``room(called:)``.
  /// - Throws: ``HomeError`` `notFound` with similar names, `ambiguousTarget` with all matches.
  package func knownRoom(_ name: String) throws(HomeError) -> Room {
    if let room = try room(called: name) { return room }
    throw HomeError.unknown("there is no room “\(name)”", name, in: rooms.map(\.name))
  }

  /// Returns the changes that add a room, and the room.
  /// - Parameters:
  ///   - structureID: the structure; nil: the primary one, which is created if there is none.
  ///   - id: the id of the new room, which must never have been used.
  package func addingRoom(
    _ name: String, to structureID: String? = nil, id: String
  ) throws(HomeError) -> (changes: [HomeChange], result: Room) {
    let name = try HomeNames.checked(name).name
    guard let home = structureID ?? primaryStructureID else {
      let room = Room(id: id, name: name, structureID: HomeReducer.firstStructure.id)
      return ([.structureAdded(HomeReducer.firstStructure), .roomAdded(room)], room)
    }
    guard structure(home) != nil else { throw HomeError(.notFound, "there is no structure \(home)") }
    guard room(named: name, in: home) == nil else {
      throw HomeError(.badArguments, "there is a room “\(name)” already")
    }
    let room = Room(id: id, name: name, structureID: home)
    return ([.roomAdded(room)], room)
  }

  /// Returns the changes that rename a room; none if it already has the name.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` if another room of the structure has the name, and for the room
  ///   for the entire home.
  package func renamingRoom(_ id: String, to name: String) throws(HomeError) -> [HomeChange] {
    let room = try changeableRoom(id)
    let name = try HomeNames.checked(name).name
    if let other = self.room(named: name, in: room.structureID), other.id != id {
      throw HomeError(.badArguments, "there is a room “\(other.name)” already")
    }
    return name == room.name ? [] : [.roomRenamed(id: id, name: name)]
  }

  /// Returns the changes that remove a room and move its devices to the room for the entire home.
  package func removingRoom(_ id: String) throws(HomeError) -> [HomeChange] {
    let room = try changeableRoom(id)
    var changes: [HomeChange] = []
    for device in orderedDevices where device.roomID == id {
      guard !isTaken(device.name, in: nil, of: device.structureID, except: device.id) else {
        throw HomeError(
          .badArguments, "there is another “\(device.name)” in no room; rename it before you remove “\(room.name)”")
      }
      changes.append(.deviceMoved(id: device.id, roomID: nil))
    }
    return changes + [.roomRemoved(id: id)]
  }

  private func changeableRoom(_ id: String) throws(HomeError) -> Room {
    if structures.contains(where: { $0.roomForEntireHome().id == id }) {
      throw HomeError(.badArguments, "the room for the entire home can't be renamed or removed")
    }
    guard let room = room(id) else { throw HomeError(.notFound, "there is no room with the id \(id)") }
    return room
  }

  // MARK: Devices

  /// Returns the changes that rename a device; none if it already has the name.
  package func renamingDevice(_ id: String, to name: String) throws(HomeError) -> [HomeChange] {
    let device = try knownDevice(id)
    let name = try HomeNames.checked(name).name
    guard !isTaken(name, in: device.roomID, of: device.structureID, except: id) else {
      throw HomeError(.badArguments, "there is another “\(name)” \(place(device.roomID)); take another name")
    }
    return name == device.name ? [] : [.deviceRenamed(id: id, name: name)]
  }

  /// Returns the changes that move a device.
  /// - Parameter roomID: the room; nil, or the id of the room for the entire home, removes the device from its room.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` if another device of the room has its name, and for a room of
  ///   another structure.
  package func movingDevice(_ id: String, to roomID: String?) throws(HomeError) -> [HomeChange] {
    let device = try knownDevice(id)
    var target: String?
    if let roomID {
      let whole = structures.lazy.map { $0.roomForEntireHome() }.first { $0.id == roomID }
      guard let room = room(roomID) ?? whole else {
        throw HomeError(.notFound, "there is no room with the id \(roomID)")
      }
      guard room.structureID == device.structureID else { throw apart(device, room) }
      target = room.isForEntireHome ? nil : room.id
    }
    guard !isTaken(device.name, in: target, of: device.structureID, except: id) else {
      throw HomeError(.badArguments, "there is another “\(device.name)” \(place(target)); rename one of them")
    }
    return target == device.roomID ? [] : [.deviceMoved(id: id, roomID: target)]
  }

  private func apart(_ device: DeviceEntry, _ room: Room) -> HomeError {
    let (own, other) = (structure(device.structureID)?.name, structure(room.structureID)?.name)
    let place = "“\(other ?? room.structureID)”"
    return HomeError(
      .badArguments,
      "a device of “\(own ?? device.structureID)” can't be moved to "
        + (room.isForEntireHome ? place : "the room “\(room.name)” of \(place)"), device: device.name)
  }

  /// The device with this id.
  /// - Throws: ``HomeError`` `notFound`.
  package func knownDevice(_ id: String) throws(HomeError) -> DeviceEntry {
    guard let device = devices[id] else { throw HomeError(.notFound, "there is no device \(id) in the home") }
    return device
  }

  /// Returns a name that is unused in the room: the wanted one, or with a number appended.
  package func availableName(_ wanted: String, in roomID: String?, of structureID: String, except id: String) -> String
  {
    var name = wanted
    var number = 2
    while isTaken(name, in: roomID, of: structureID, except: id) {
      name = HomeNames.numbered(wanted, number)
      number += 1
    }
    return name
  }

  private func isTaken(_ name: String, in roomID: String?, of structureID: String, except id: String) -> Bool {
    devices(named: name).contains { $0.id != id && $0.roomID == roomID && $0.structureID == structureID }
  }

  private func place(_ roomID: String?) -> String {
    roomID.flatMap { room($0) }.map { "in “\($0.name)”" } ?? "in no room"
  }
}
