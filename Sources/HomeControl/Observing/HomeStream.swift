package import HomeModel
package import HomeStore

/// The point where all changes of a home are published. Confined to the event loop.
///
/// A batch gets its sequence number, is handed to the store, and then reaches the listeners and the observers of
/// collections and devices. Each of them computes its value from the batch and the state after it, at once or when it is
/// iterated; nothing is computed without an observer.
package final class HomeStream {
  /// What a listener receives.
  package enum Event {
    /// A batch, and the state that includes it.
    case update(HomeUpdate, HomeReducer)
    /// The state was loaded as a whole; the changes are unknown.
    case reloaded(HomeReducer, from: HomeReducer, at: Int64)
    case hub(HubState)
    /// Contacts with devices, which are not changes.
    case contacts([NodeID: Contact])
    /// The home is closed; this is the last event.
    case ended
  }

  /// Receives an event on the event loop; returns whether it stays registered.
  package typealias Listener = (Event) -> Bool

  /// The observers of collections and devices.
  package let observers = HomeObservers()
  /// The number of the last batch; 0 before the first one.
  package private(set) var sequence: UInt64 = 0
  package private(set) var hubState = HubState.notAvailable
  package private(set) var isEnded = false
  /// Stores a batch with the times of contact later; nil if the home is stored elsewhere.
  package var store: ((HomeUpdate, [NodeID: Contact]) -> Void)?
  /// Called when batches can be read from the log.
  package var onCommit: ((LogCommit) -> Void)?
  /// In the order of registration, so that simulations are reproducible.
  private var listeners: [(id: Int, receive: Listener)] = []
  private var lastListener = 0

  package init() {}

  // MARK: Listeners

  /// - Returns: the number for ``removeListener(_:)``.
  @discardableResult
  package func addListener(_ listener: @escaping Listener) -> Int {
    lastListener += 1
    if isEnded { _ = listener(.ended) } else { listeners.append((lastListener, listener)) }
    return lastListener
  }

  package func removeListener(_ id: Int) { listeners.removeAll { $0.id == id } }

  private func notify(_ event: Event) {
    for listener in listeners where !listener.receive(event) { removeListener(listener.id) }
  }

  // MARK: Publishing

  /// Publishes a batch.
  /// - Parameter reducer: the state that includes it.
  package func publish(_ update: HomeUpdate, _ reducer: HomeReducer) {
    sequence += 1
    var update = update
    update.sequence = sequence
    store?(update, reducer.contacts)
    notify(.update(update, reducer))
    observers.update(update, reducer)
  }

  /// Publishes a state that was loaded as a whole.
  /// - Parameter time: now, in microseconds since 1970.
  package func reload(_ reducer: HomeReducer, from old: HomeReducer, at time: Int64) {
    notify(.reloaded(reducer, from: old, at: time))
    observers.reload(reducer)
  }

  package func publish(_ hub: HubState) {
    guard hub != hubState else { return }
    hubState = hub
    notify(.hub(hub))
  }

  package func publish(_ contacts: [NodeID: Contact]) {
    if !listeners.isEmpty, !contacts.isEmpty { notify(.contacts(contacts)) }
  }

  package func end() {
    isEnded = true
    notify(.ended)
    listeners = []
    (store, onCommit) = (nil, nil)
    observers.end()
  }
}
