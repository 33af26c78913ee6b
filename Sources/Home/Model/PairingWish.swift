/// What was asked for when a device was paired: kept from before it is in the fabric until it has told what it is, so that an end
/// of the process at any moment takes neither the device nor its name.
public struct PairingWish: Hashable, Sendable {
  /// Nil: what it calls itself.
  public var name: String?
  /// The room as it was then, or is to be made; nil: none.
  public var room: Room?

  public init(name: String? = nil, room: Room? = nil) { (self.name, self.room) = (name, room) }
}

extension HomeState {
  /// The room that is meant by one that was wished for, whatever became of it since: the same one, else the one of its name, else
  /// one that is to be made, under the same id. Where its structure is gone, it is one of the primary structure.
  func place(of wished: Room) -> Room {
    if let known = room(wished.id) { return known }
    var place = wished
    if structure(wished.structureID) == nil { place.structureID = primaryStructureID ?? HomeReducer.firstStructure.id }
    return room(named: wished.name, in: place.structureID) ?? place
  }

  /// The changes that make the room that was wished for, where it has to be made.
  func making(_ wished: Room) -> (changes: [HomeChange], result: Room) {
    let place = place(of: wished)
    guard room(place.id) == nil else { return ([], place) }
    let structures: [HomeChange] =
      structure(place.structureID) == nil ? [.structureAdded(HomeReducer.firstStructure)] : []
    return (structures + [.roomAdded(place)], place)
  }
}
