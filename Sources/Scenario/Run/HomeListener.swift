internal import HearthHome
internal import NIOCore
internal import Synchronization

/// Observes each change of a home synchronously, on the home's event loop, with the state right after the change.
///
/// No change is merged with the next one. A notification is also not an event on the observer's machine, so that a
/// listener does not keep a run alive that would otherwise end for lack of progress.
final class HomeListener: Sendable {
  private let isOpen = Atomic(true)

  /// - Parameters:
  ///   - identities: the devices of the definition.
  ///   - handler: called once with the current state and no changes, before this returns, and then for each update.
  init(
    to home: Home, _ identities: DeviceIdentities, _ handler: @escaping @Sendable (HomeView, [HomeChange]) -> Void
  ) async {
    let backend = home.backend
    let notify: @Sendable (HomeReducer, [HomeChange]) -> Void = { reducer, changes in
      let devices = reducer.state.orderedDevices.map { backend.value(of: $0, reducer) }
      handler(HomeView(state: reducer.state, devices: devices, identities: identities), changes)
    }
    let begin: @Sendable () -> Void = { [weak self] in
      let view = backend.view
      notify(view.reducer, [])
      view.stream.addListener { event in
        guard let self, self.isOpen.load(ordering: .relaxed) else { return false }
        switch event {
        case .update(let update, let reducer): notify(reducer, update.changes)
        case .reloaded(let reducer, _, _): notify(reducer, [])
        case .hub, .contacts: break
        case .ended: return false
        }
        return true
      }
    }
    if backend.eventLoop.inEventLoop { begin() } else { backend.eventLoop.execute(begin) }
    // Runs after `begin`, as it needs the same loop.
    _ = await backend.state
  }

  /// Ends the observation.
  func close() { isOpen.store(false, ordering: .relaxed) }
}
