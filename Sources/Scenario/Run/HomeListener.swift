internal import Home
internal import NIOCore
internal import Synchronization

/// Hears of each change of a home at once, on the home's own loop, with the home as it is right after it.
///
/// So no change hides behind the next one, and none is something that happens to whoever waits on another machine: of a run in which
/// somebody waits in vain, nothing that only listens may keep the end away.
final class HomeListener: Sendable {
  private let isOpen = Atomic(true)

  /// - Parameters:
  ///   - uniqueIDs: of the devices of the definition, by their path.
  ///   - hear: called for the home as it is now, with no changes, before this returns; and then for each of its updates.
  init(
    to home: Home, _ uniqueIDs: [String: String], _ hear: @escaping @Sendable (HomeView, [HomeChange]) -> Void
  ) async {
    let backend = home.backend
    let tell: @Sendable (HomeReducer, [HomeChange]) -> Void = { reducer, changes in
      let devices = reducer.state.orderedDevices.map { backend.value(of: $0, reducer) }
      hear(HomeView(state: reducer.state, devices: devices, uniqueIDs: uniqueIDs), changes)
    }
    let begin: @Sendable () -> Void = { [weak self] in
      let view = backend.view
      tell(view.reducer, [])
      view.observers.addEar { news in
        guard let self, self.isOpen.load(ordering: .relaxed) else { return false }
        switch news {
        case .update(let update, let reducer): tell(reducer, update.changes)
        case .reloaded(let reducer, _, _): tell(reducer, [])
        case .hub, .contacts: break
        case .ended: return false
        }
        return true
      }
    }
    if backend.eventLoop.inEventLoop { begin() } else { backend.eventLoop.execute(begin) }
    // On the same loop, and so behind it.
    _ = await backend.state
  }

  /// It hears nothing more.
  func close() { isOpen.store(false, ordering: .relaxed) }
}
