internal import MatterModel

// One device by several ways: what people chose for it is kept, however late it turns out to be one.
extension HomeReducer {
  /// Whether a bridge has another device now where it had one that lives on by another way.
  func isAnother(_ source: Topology.Source) -> Bool {
    guard let known = state.source(source.id), let before = known.identity.uniqueID,
      let now = source.identity.uniqueID, now != before, let device = state.device(of: source.id)
    else { return false }
    return device.sources.count > 1
      && !device.sources.contains { $0.id != source.id && $0.identity.isSameDevice(as: source.identity) }
  }

  /// A device turns out to be one that is there already by another way.
  ///
  /// What the older one was called and where it was put counts, and where nobody chose that, what was chosen for the other.
  package mutating func join(_ own: DeviceEntry, _ twin: DeviceEntry, _ update: inout HomeUpdate) {
    // A device stays in its building: the one that was put into a room has to be the one that stays.
    let isPutElsewhere = own.roomID != nil && twin.roomID == nil && own.structureID != twin.structureID
    let (kept, gone) = isPutElsewhere ? (own, twin) : (twin, own)
    let isOwnOlder = own.sources.lazy.map(\.id).min().flatMap { id in twin.sources.allSatisfy { id < $0.id } } ?? false
    let (older, younger) = isOwnOlder ? (own, twin) : (twin, own)
    for source in gone.sources { make(.sourceAdded(source.id, device: kept.id), &update) }
    make(.deviceRemoved(id: gone.id), &update)
    let name = older.chosenName ?? younger.chosenName
    let rooms = [older, younger].filter { $0.structureID == kept.structureID }.lazy.compactMap(\.roomID)
    grant(name, rooms.first.flatMap { state.room($0) }, to: kept, &update)
  }

  /// Gives a device that is there already, by another way or since it was quick, the name and the room that were asked for when
  /// it was paired. A room of another structure than its own it does not get.
  package mutating func grant(_ wish: PairingWish, to device: DeviceEntry, _ update: inout HomeUpdate) {
    var room: Room?
    if let wished = wish.room, state.place(of: wished).structureID == device.structureID {
      let (changes, place) = state.making(wished)
      for change in changes { make(change, &update) }
      room = place
    }
    grant(wish.name, room, to: device, &update)
  }

  private mutating func grant(_ name: String?, _ room: Room?, to device: DeviceEntry, _ update: inout HomeUpdate) {
    let roomID = room.flatMap { $0.structureID == device.structureID ? $0.id : nil } ?? device.roomID
    let name = state.availableName(name ?? device.name, in: roomID, of: device.structureID, except: device.id)
    if roomID != device.roomID { make(.deviceMoved(id: device.id, roomID: roomID), &update) }
    if name != device.name { make(.deviceRenamed(id: device.id, name: name), &update) }
  }
}

extension HomeState {
  /// The id of a device that is seen by a way for the first time. A device that lives on by another way may have the way's own.
  package func availableID(for source: SourceID) -> String {
    let wanted = source.description
    guard devices[wanted] != nil else { return wanted }
    var number = 2
    while devices["\(wanted)-\(number)"] != nil { number += 1 }
    return "\(wanted)-\(number)"
  }
}

extension DeviceEntry {
  /// Its name where people gave it that; nil where it is called what it calls itself, be it with a number behind.
  fileprivate var chosenName: String? {
    let isDefault = sources.contains { HomeNames.isNumbered(name, $0.identity.defaultName(by: $0.id)) }
    return isDefault ? nil : name
  }
}

extension DeviceIdentity {
  /// What a device is called that nobody gave a name.
  package func defaultName(by way: SourceID) -> String {
    ownName ?? "Device \(way.description.replacing("/", with: "-"))"
  }
}
