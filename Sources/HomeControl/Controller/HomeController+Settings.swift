package import HomeModel
package import HomeStore
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The settings of the home, and the times of contact.
extension HomeController {
  package var settings: HomeSettings {
    get async throws(HomeError) {
      // The time in the options overrides the setting.
      let grace = dispatcher.value.reducer.debouncer.grace
      return modified(try await withDatabase { try $0.settings() }) { $0.graceTime = grace }
    }
  }

  /// Stores settings and applies them.
  /// - Returns: the settings after the change.
  package func change(_ changes: HomeSettings.Changes) async throws(HomeError) -> HomeSettings {
    try await withDatabase { try $0.change(changes) }
    if let grace = changes.graceTime { use(grace) }
    return try await settings
  }

  private func use(_ grace: Duration) {
    guard options.following.grace == nil else { return }
    dispatcher.value.host.perform { engine, now in
      if engine.reducer.debouncer.grace != grace { engine.setGrace(grace, at: now) }
    }
  }

  /// Starts to store the times of contact periodically.
  func keepContacts() {
    contactKeeping = schedule(each: options.following.contactPeriod) {
      $0.noteClock()
      $0.dispatcher.value.keepContacts()
    }
  }
}
