internal import GRDB
internal import MatterModel

extension HomeDatabase {
  /// Stores a home after some of what happened in it was lost: the log begins anew with what is different now, and whoever has
  /// an anchor of before gets a reset.
  /// - Parameters:
  ///   - state: the home as it is. Names, rooms and structures are in the database: they are only changed where that can be.
  ///   - trials: all that there are now; those that are stored are of before the loss.
  ///   - time: now, in microseconds since 1970.
  func restart(
    with state: HomeState, contacts: [NodeID: Contact], trials: [String: SettlingTrial], at time: Int64
  ) throws(HomeError) {
    let logged = try write { database -> LoggedUpdate in
      let changes = try self.load(database).state.changes(to: state).filter(\.isHeard)
      // A number that is never given: nobody who has the last one is behind the loss.
      let place = try self.lastSequence(database) + 1
      try database.execute(sql: "DELETE FROM log")
      try database.execute(sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'log'", arguments: [place])
      if database.changesCount == 0 {
        try database.execute(sql: "INSERT INTO sqlite_sequence (seq, name) VALUES (?, 'log')", arguments: [place])
      }
      try database.execute(
        sql: """
          INSERT INTO meta (key, value) VALUES ('compacted', ?)
          ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)
          """, arguments: [place])
      try LogGaps.forget(before: place, database)
      try database.execute(sql: "DELETE FROM trial")
      var update = HomeUpdate(changes, at: time)
      update.trials = trials
      var writer = ChangeWriter(database, writer: self.writer, after: place)
      let (written, devices) = try writer.write(update)
      try writer.finish(contacts)
      return LoggedUpdate(
        update: written, anchor: try self.anchor(at: writer.sequence, database), devices: devices)
    }
    bell.ring([logged])
  }
}

extension HomeChange {
  /// Whether it comes of what a device says, and not of what people do to the home.
  fileprivate var isHeard: Bool {
    switch self {
    case .structureAdded, .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomAdded, .roomRenamed,
      .roomRemoved, .deviceRenamed, .deviceMoved:
      false
    case .deviceAdded, .deviceRemoved, .sourceAdded, .sourceRemoved, .topology, .connectivity, .attribute, .event:
      true
    }
  }
}
