// Merging of a device with several sources: names and rooms that a user selected are kept, regardless of when the
// sources turn out to be one device.
extension HomeReducer {
  /// Whether a bridged endpoint is another device now, while the previous one has further sources.
  func isReplaced(_ source: DeviceSource) -> Bool {
    guard let known = state.source(source.id), let before = known.identity.uniqueID,
      let now = source.identity.uniqueID, now != before, let device = state.device(of: source.id)
    else { return false }
    return device.sources.count > 1
      && !device.sources.contains { $0.id != source.id && $0.identity.isSameDevice(as: source.identity) }
  }

  /// Merges two devices that turn out to be one.
  ///
  /// The name and room of the older device are kept; if the user selected none for it, those of the other one are used.
  package mutating func merge(_ own: DeviceEntry, _ other: DeviceEntry, _ update: inout HomeUpdate) {
    // A device can't change its structure: if only one of them is in a room, that one is kept.
    let isInOtherRoom = own.roomID != nil && other.roomID == nil && own.structureID != other.structureID
    let (kept, removed) = isInOtherRoom ? (own, other) : (other, own)
    let isOwnOlder = own.sources.lazy.map(\.id).min().flatMap { id in other.sources.allSatisfy { id < $0.id } } ?? false
    let (older, younger) = isOwnOlder ? (own, other) : (other, own)
    for source in removed.sources { make(.sourceAdded(source.id, device: kept.id), &update) }
    make(.deviceRemoved(id: removed.id), &update)
    let name = older.chosenName ?? younger.chosenName
    let rooms = [older, younger].filter { $0.structureID == kept.structureID }.lazy.compactMap(\.roomID)
    setNames(name, rooms.first.flatMap { state.room($0) }, to: kept, &update)
  }

  /// Applies the requested name and room to a device that is in the home by another source. A room of another structure
  /// is ignored.
  package mutating func apply(_ placement: DevicePlacement, to device: DeviceEntry, _ update: inout HomeUpdate) {
    var room: Room?
    if let requested = placement.room, state.place(of: requested).structureID == device.structureID {
      room = makeRoom(requested, &update)
    }
    setNames(placement.name, room, to: device, &update)
  }

  /// Returns the resolved room, which is added if it does not exist.
  mutating func makeRoom(_ requested: Room, _ update: inout HomeUpdate) -> Room {
    let place = state.place(of: requested)
    guard state.room(place.id) == nil else { return place }
    if state.structure(place.structureID) == nil { make(.structureAdded(Self.firstStructure), &update) }
    make(.roomAdded(place), &update)
    return place
  }

  private mutating func setNames(_ name: String?, _ room: Room?, to device: DeviceEntry, _ update: inout HomeUpdate) {
    let roomID = room.flatMap { $0.structureID == device.structureID ? $0.id : nil } ?? device.roomID
    let name = state.availableName(name ?? device.name, in: roomID, of: device.structureID, except: device.id)
    if roomID != device.roomID { make(.deviceMoved(id: device.id, roomID: roomID), &update) }
    if name != device.name { make(.deviceRenamed(id: device.id, name: name), &update) }
  }
}

extension HomeState {
  /// Returns the id of a new device. The id that corresponds to the source may be in use by a device that has lost this
  /// source.
  package func availableID(for source: SourceID) -> String {
    let wanted = source.description
    guard devices[wanted] != nil else { return wanted }
    var number = 2
    while devices["\(wanted)-\(number)"] != nil { number += 1 }
    return "\(wanted)-\(number)"
  }
}

extension DeviceEntry {
  /// The name that a user selected; nil if it is the reported name, optionally with a number appended.
  fileprivate var chosenName: String? {
    let isDefault = sources.contains { HomeNames.isNumbered(name, $0.identity.defaultName(by: $0.id)) }
    return isDefault ? nil : name
  }
}

extension DeviceIdentity {
  /// The name of a device without a user-selected name.
  package func defaultName(by source: SourceID) -> String {
    ownName ?? "Device \(source.description.replacing("/", with: "-"))"
  }
}
