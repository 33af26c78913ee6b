internal import GRDB
package import HomeModel
internal import MatterProtocol

extension HomeDatabase {
  /// Stores a whole home after changes were lost. The new log starts with the differences, and readers with an earlier
  /// anchor get a reset. The log is removed in slices, between which other transactions are possible.
  /// - Parameters:
  ///   - home: the current home. Names are as in the database, because they are stored before they are published.
  ///   - time: now, in microseconds since 1970.
  package func restart(with home: HomeReducer, at time: Int64) throws(HomeError) {
    while try compact(keeping: 0) > 0 {}
    try write { database in
      let changes = try self.load(database).state.changes(to: home.state).filter(\.isHeard)
      // A sequence number that is never assigned, so that no anchor is behind the loss.
      let place = try self.lastSequence(database).saturatingAdd(1)
      // The changes since the last slice.
      try database.execute(sql: "DELETE FROM log")
      try database.execute(sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'log'", arguments: [place])
      if database.changesCount == 0 {
        try database.execute(sql: "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'log')", arguments: [place])
      }
      try self.noteCompaction(upTo: place, database)
      try database.execute(sql: "DELETE FROM trial")
      var update = HomeUpdate(changes, at: time)
      update.trials = home.debouncer.trials
      try self.store([update], database, contacts: home.contacts)
    }
  }
}

extension HomeChange {
  /// Whether the change comes from a device, not from an edit.
  fileprivate var isHeard: Bool {
    switch self {
    case .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomRenamed, .roomRemoved, .deviceRenamed,
      .deviceMoved:
      false
    // The first device adds its structure, and a paired device its room.
    case .structureAdded, .roomAdded, .deviceAdded, .deviceRemoved, .sourceAdded, .sourceRemoved, .topology,
      .connectivity, .attribute, .event:
      true
    }
  }
}
