extension HomeState {
  /// Returns the changes from this home to another one: names, devices, connectivity and values. The order of
  /// structures and rooms and the numbers of events are ignored.
  package func changes(to other: HomeState) -> [HomeChange] {
    var difference = Difference(self)
    difference.addNames(of: other)
    difference.removeDevices(notIn: other)
    difference.addDevices(of: other)
    difference.setValues(of: other)
    difference.removeNames(notIn: other)
    return difference.changes
  }
}

// A home is encoded as the changes that create it from an empty one.
extension HomeState: Codable {
  public init(from decoder: any Decoder) throws {
    self.init()
    for change in try [HomeChange](from: decoder) { apply(change) }
  }

  public func encode(to encoder: any Encoder) throws { try HomeState().changes(to: self).encode(to: encoder) }
}

/// The changes so far, and the home that includes them.
private struct Difference {
  var state: HomeState
  var changes: [HomeChange] = []

  init(_ state: HomeState) { self.state = state }

  mutating func make(_ change: HomeChange) {
    state.apply(change)
    changes.append(change)
  }

  mutating func addNames(of other: HomeState) {
    for structure in other.structures {
      guard let known = state.structure(structure.id) else {
        make(.structureAdded(structure))
        continue
      }
      if known.name != structure.name { make(.structureRenamed(id: structure.id, name: structure.name)) }
    }
    if let primary = other.primaryStructureID, primary != state.primaryStructureID {
      make(.primaryStructureChosen(id: primary))
    }
    for room in other.rooms {
      if let known = state.room(room.id), known.structureID == room.structureID {
        if known.name != room.name { make(.roomRenamed(id: room.id, name: room.name)) }
      } else {
        if state.room(room.id) != nil { make(.roomRemoved(id: room.id)) }
        make(.roomAdded(room))
      }
    }
  }

  mutating func removeNames(notIn other: HomeState) {
    for room in state.rooms where other.room(room.id) == nil { make(.roomRemoved(id: room.id)) }
    for structure in state.structures where other.structure(structure.id) == nil {
      make(.structureRemoved(id: structure.id))
    }
  }

  mutating func removeDevices(notIn other: HomeState) {
    for device in state.orderedDevices {
      let new = other.devices[device.id]
      let isRemoved = new == nil || new?.structureID != device.structureID
      for source in device.sources.reversed() where isRemoved || new?.source(source.id) == nil {
        make(.sourceRemoved(source.id))
      }
      if isRemoved { make(.deviceRemoved(id: device.id)) }
    }
  }

  mutating func addDevices(of other: HomeState) {
    for device in other.orderedDevices {
      if let known = state.devices[device.id] {
        if known.name != device.name { make(.deviceRenamed(id: device.id, name: device.name)) }
        if known.roomID != device.roomID { make(.deviceMoved(id: device.id, roomID: device.roomID)) }
      } else {
        make(
          .deviceAdded(id: device.id, name: device.name, roomID: device.roomID, structureID: device.structureID))
      }
      for source in device.sources {
        if state.source(source.id) == nil { make(.sourceAdded(source.id, device: device.id)) }
        let known = state.source(source.id)
        if known?.endpoints != source.endpoints || known?.identity != source.identity {
          make(.topology(source.id, source.endpoints, source.identity))
        }
        if known?.status != source.status { make(.connectivity(source.id, source.status)) }
      }
    }
  }

  mutating func setValues(of other: HomeState) {
    for node in Set(state.values.keys).union(other.values.keys).sorted() {
      let (old, new) = (state.values[node] ?? NodeValues(), other.values[node] ?? NodeValues())
      guard old != new else { continue }
      for (path, _) in old.all where new[path] == nil { make(.attribute(node, path, value: nil)) }
      for (path, value) in new.all where old[path] != value { make(.attribute(node, path, value: value)) }
    }
  }
}
