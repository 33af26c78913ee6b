package import HomeModel
package import MatterProtocol
internal import Synchronization

/// Changes that wait for the next transaction.
///
/// The event loop adds changes. The transaction that gets the write lock next takes them, on whichever thread it runs,
/// so that changes are stored in their order.
package final class WriteQueue: Sendable {
  /// Changes that are stored together.
  package struct Batch: Sendable {
    package var updates: [HomeUpdate] = []
    /// The changed times of last contact.
    package var contacts: [NodeID: Contact] = [:]
    /// Changes of the controller's state, by key.
    package var entries: [String: StoreChange] = [:]

    package init() {}

    package var isEmpty: Bool { updates.isEmpty && contacts.isEmpty && entries.isEmpty }
  }

  private struct State {
    var batch = Batch()
    /// Whether updates are dropped, because earlier ones were lost.
    var dropsUpdates = false
  }

  private let state = Mutex(State())

  package init() {}

  package var isEmpty: Bool { state.withLock { $0.batch.isEmpty } }

  /// - Returns: the number of waiting updates.
  @discardableResult
  package func add(
    _ updates: [HomeUpdate] = [], contacts: [NodeID: Contact] = [:], entries: [StoreChange] = []
  ) -> Int {
    state.withLock { state in
      state.batch.updates += updates
      state.batch.contacts.merge(contacts) { $1 }
      for entry in entries { state.batch.entries[entry.key] = entry }
      return state.batch.updates.count
    }
  }

  /// Drops all waiting updates and contacts, and those of a transaction that fails from now on.
  package func dropUpdates() {
    state.withLock { ($0.batch.updates, $0.batch.contacts, $0.dropsUpdates) = ([], [:], true) }
  }

  /// Keeps updates again after ``dropUpdates()``.
  package func resume() { state.withLock { $0.dropsUpdates = false } }

  /// Removes and returns the waiting changes; to be called within the transaction that stores them.
  func removeAll(withUpdates: Bool) -> Batch {
    state.withLock { state in
      var taken = state.batch
      state.batch = Batch()
      guard !withUpdates else { return taken }
      (state.batch.updates, state.batch.contacts) = (taken.updates, taken.contacts)
      (taken.updates, taken.contacts) = ([], [:])
      return taken
    }
  }

  /// Puts the changes of a failed transaction before the ones that were added since.
  func putBack(_ batch: Batch) {
    state.withLock { state in
      state.batch.entries.merge(batch.entries) { later, _ in later }
      guard !state.dropsUpdates else { return }
      state.batch.updates = batch.updates + state.batch.updates
      state.batch.contacts.merge(batch.contacts) { later, _ in later }
    }
  }
}
