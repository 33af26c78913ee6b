internal import GRDB
package import HomeModel
internal import MatterModel
internal import MatterProtocol

extension HomeDatabase {
  /// Stores a home after some of what happened in it was lost: the log begins anew with what is different now, and whoever has
  /// an anchor of before gets a reset.
  ///
  /// What others did to the home meanwhile is theirs to say: it is taken in first, as far as the home does not have it yet.
  /// - Parameters:
  ///   - home: as it is. Names of what is there are as the database has them: whoever changes one writes it there first.
  ///   - anchor: what others wrote up to there, the home has.
  ///   - time: now, in microseconds since 1970.
  /// - Returns: the place in the new log that the home is at; nil where others had written what it does not have.
  package func restart(with home: HomeReducer, after anchor: Anchor, at time: Int64) throws(HomeError) -> Anchor? {
    try write { database -> Anchor? in
      var home = home
      let others = try self.updates(after: anchor, database)
      for logged in others.updates { _ = home.reduce(.update(logged.update), at: time) }
      let stored = try self.load(database).state
      var changes = stored.changes(to: home.state).filter(\.isHeard)
      // Nobody can say any more what others did. Of a node that this home does not know they did it all.
      if others.mustReload { changes.removeAll { stored.isOfOtherNodes($0, than: home.state) } }
      // A number that is never given: nobody who has the last one is behind the loss.
      let place = try self.lastSequence(database).saturatingAdd(1)
      try database.execute(sql: "DELETE FROM log")
      try database.execute(sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'log'", arguments: [place])
      if database.changesCount == 0 {
        try database.execute(sql: "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'log')", arguments: [place])
      }
      try self.noteCompaction(upTo: place, nil, database)
      try database.execute(sql: "DELETE FROM trial")
      var update = HomeUpdate(changes, at: time)
      update.trials = home.trials
      var writer = ChangeWriter(database, writer: self.writer, after: place)
      _ = try writer.write(update)
      try writer.finish(home.contacts)
      return others.mustReload || !others.updates.isEmpty ? nil : try self.anchor(at: writer.sequence, database)
    }
  }
}

extension HomeState {
  /// Whether a change is about a node that another home does not have.
  fileprivate func isOfOtherNodes(_ change: HomeChange, than other: HomeState) -> Bool {
    var nodes = change.node.map { [$0] } ?? []
    if case .deviceRemoved(let id) = change { nodes = devices[id]?.sources.map(\.id.node) ?? [] }
    return nodes.contains { other.sources(of: $0).isEmpty }
  }
}

extension HomeChange {
  /// Whether it comes of what a device says, and not of what people do to what is there.
  fileprivate var isHeard: Bool {
    switch self {
    case .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomRenamed, .roomRemoved, .deviceRenamed,
      .deviceMoved:
      false
    // The first device of all brings its structure, and one that was paired for a room that.
    case .structureAdded, .roomAdded, .deviceAdded, .deviceRemoved, .sourceAdded, .sourceRemoved, .topology,
      .connectivity, .attribute, .event:
      true
    }
  }
}
