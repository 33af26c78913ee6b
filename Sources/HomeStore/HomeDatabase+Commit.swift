package import GRDB
package import HomeModel
package import MatterProtocol

/// Progress of the log.
package enum LogCommit {
  /// All published batches up to this number are in the log.
  case batches(upTo: UInt64)
  /// The whole home was stored in place of batches that were lost, and a new log was started.
  case wholeHome
}

extension HomeDatabase {
  /// Stores updates of the process that follows the devices: the resulting state, and each change in the log, in one
  /// transaction.
  /// - Parameters:
  ///   - updates: the updates in order, based on the state that ``load()`` returned. Changes that don't apply are
  ///     logged without effect. An addition of an existing object is skipped.
  ///   - contacts: the changed times of last contact. Not logged.
  package func commit(_ updates: [HomeUpdate], contacts: [NodeID: Contact] = [:]) throws(HomeError) {
    try write { _ = try self.store(updates, $0, contacts: contacts) }
  }

  /// - Returns: the updates without additions of objects that were added before.
  @discardableResult
  func store(
    _ updates: [HomeUpdate], _ database: Database, contacts: [NodeID: Contact] = [:]
  ) throws -> [HomeUpdate] {
    var changes = ChangeWriter(database, generation: generation, after: try lastSequence(database))
    let written = try updates.map { try changes.write($0) }
    try changes.finish(contacts)
    return written
  }

  /// Stores waiting changes and then others, in one transaction.
  /// - Parameters:
  ///   - changes: changes of the controller's state, for which the commit waits for the disk if one of them is durable. The
  ///     updates in the queue continue to wait unless there is an update.
  ///   - update: an update that is stored together with the changes.
  /// - Returns: the stored changes that waited. If it throws, they wait again.
  package func commit(
    _ queue: WriteQueue, _ changes: [StoreChange] = [], with update: HomeUpdate? = nil
  ) throws(HomeError) -> WriteQueue.Batch {
    var taken = WriteQueue.Batch()
    let isDurable = changes.contains(where: \.isDurable)
    return try write(isDurable: isDurable, onRollback: { queue.putBack(taken) }) { database in
      taken = queue.removeAll(withUpdates: changes.isEmpty || update != nil)
      let updates = taken.updates + (update.map { [$0] } ?? [])
      if !updates.isEmpty || !taken.contacts.isEmpty { try self.store(updates, database, contacts: taken.contacts) }
      try ControllerTable.write(taken.entries.values, database)
      try ControllerTable.write(changes, database)
      return taken
    }
  }

  /// Changes names, rooms or devices in one transaction.
  /// - Parameters:
  ///   - origin: the client that made the call.
  ///   - time: now, in microseconds since 1970.
  ///   - body: receives the home without attribute values, and returns the changes. It may change other tables of the
  ///     database. If it throws, nothing is changed.
  /// - Returns: the update, and the result of `body`.
  /// - Throws: the error of `body`.
  package func change<R: Sendable>(
    origin: String?, at time: Int64, _ body: (Database, HomeState) throws -> (changes: [HomeChange], result: R)
  ) throws(HomeError) -> (update: HomeUpdate, result: R) {
    try write { database in
      let (changes, result) = try body(database, try Self.names(database))
      let written = try self.store([HomeUpdate(changes, at: time, origin: origin)], database)
      return (written[0], result)
    }
  }
}
