internal import GRDB
public import MatterModel

/// Where updates came to be in the log.
public struct CommittedUpdates: Hashable, Sendable {
  /// The place behind all of them.
  public var anchor: Anchor
  /// The place behind each, in their order.
  public var anchors: [Anchor]
}

extension HomeDatabase {
  /// Stores what the process that follows the devices heard: the state after all updates, and each change in the log,
  /// in one transaction.
  /// - Parameters:
  ///   - updates: in the order they happened. Every change has to have been applied to the state that ``load()`` gave, or
  ///     be ready to: what fits nothing is logged, and changes nothing.
  ///   - contacts: when nodes were heard last, of those where it changed. Not logged.
  @discardableResult
  public func commit(
    _ updates: [HomeUpdate], contacts: [NodeID: Contact] = [:]
  ) throws(HomeError) -> CommittedUpdates {
    try write { database in
      let start = try self.lastSequence(database)
      var changes = ChangeWriter(database, writer: self.writer, after: start)
      var anchors: [Anchor] = []
      for update in updates {
        try changes.write(update)
        anchors.append(Anchor(log: self.logID, sequence: changes.sequence))
      }
      try changes.finish(contacts)
      return CommittedUpdates(anchor: Anchor(log: self.logID, sequence: changes.sequence), anchors: anchors)
    }
  }

  /// Changes names, rooms or devices: several processes may, and each sees what the others did before.
  /// - Parameters:
  ///   - origin: the client whose call it is.
  ///   - time: now, in microseconds since 1970.
  ///   - body: gets the home without its values, and says what is to be changed. Nothing is where it throws.
  /// - Returns: what was done, the place in the log behind it, and what `body` had to say.
  /// - Throws: what `body` throws.
  public func change<R: Sendable>(
    origin: String?, at time: Int64,
    _ body: (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) throws(HomeError) -> (update: HomeUpdate, anchor: Anchor, result: R) {
    try write { database in
      let (changes, result) = try body(try self.names(database))
      let update = HomeUpdate(changes, at: time, origin: origin)
      var writer = ChangeWriter(database, writer: self.writer, after: try self.lastSequence(database))
      try writer.write(update)
      try writer.finish([:])
      return (update, Anchor(log: self.logID, sequence: writer.sequence), result)
    }
  }
}
