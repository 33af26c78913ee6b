/// The name and room that are requested for a device at its pairing.
package struct DevicePlacement: Hashable, Sendable {
  /// The name; nil: the name that the device reports.
  package var name: String?
  /// The room at the time of the request, which is created if necessary; nil: none.
  package var room: Room?

  package init(name: String? = nil, room: Room? = nil) { (self.name, self.room) = (name, room) }
}

extension HomeState {
  /// Resolves a requested room: the room with its id, else the room with its name, else a new one with its id. If its
  /// structure was removed, the primary structure is used.
  func place(of requested: Room) -> Room {
    if let known = room(requested.id) { return known }
    var place = requested
    if structure(requested.structureID) == nil {
      place.structureID = primaryStructureID ?? HomeReducer.firstStructure.id
    }
    return room(named: requested.name, in: place.structureID) ?? place
  }
}
