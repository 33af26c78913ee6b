package import HomeModel
internal import HomeStore
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The settings of the home, and the times of contact.
extension HomeController {
  /// The time for which a device must be unreachable before its settled connectivity changes.
  package var grace: Duration { dispatcher.value.reducer.grace }

  package var settings: HomeSettings {
    get async throws(HomeError) {
      let grace = grace
      return try await withDatabase {
        HomeSettings(
          graceTime: grace, trustsTestDevices: try $0.trustsTestDevices(), interfaces: try $0.interfaces())
      }
    }
  }

  /// Stores settings and applies them.
  /// - Returns: the settings after the change.
  package func change(_ changes: HomeSettings.Changes) async throws(HomeError) -> HomeSettings {
    try await withDatabase { database in
      if let grace = changes.graceTime { try database.setGrace(grace) }
      if let trusts = changes.trustsTestDevices { try database.setTrustsTestDevices(trusts) }
      if let interfaces = changes.interfaces { try database.setInterfaces(interfaces) }
    }
    if let grace = changes.graceTime { use(grace) }
    return try await settings
  }

  private func use(_ grace: Duration) {
    // The time in the options overrides the setting.
    guard options.following.grace == nil else { return }
    dispatcher.value.host.perform { engine, now in
      if engine.reducer.grace != grace { engine.setGrace(grace, at: now) }
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
