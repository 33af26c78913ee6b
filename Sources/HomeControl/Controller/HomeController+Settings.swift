internal import HomeAutomation
package import HomeModel
internal import HomeStore
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// What the user set for the home, and what another process knows of contacts.
extension HomeController {
  /// So often it is read at most what another process knows of contacts.
  private static let contactPause = TimeAmount.seconds(5)

  /// How long a device must be away before its settled connectivity says so.
  package var grace: Duration { edge.value.reducer.grace }

  /// The settings of the home.
  package var settings: HomeSettings {
    get async throws(HomeError) {
      let grace = grace
      return try await withDatabase {
        HomeSettings(
          graceTime: grace, trustsTestDevices: try $0.trustsTestDevices(), interfaces: try $0.interfaces())
      }
    }
  }

  /// Stores settings, with effect in all processes that have the home open.
  /// - Returns: the settings after the change.
  package func change(_ changes: HomeSettings.Changes) async throws(HomeError) -> HomeSettings {
    try await withDatabase { database in
      if let grace = changes.graceTime { try database.setGrace(grace) }
      if let trusts = changes.trustsTestDevices { try database.setTrustsTestDevices(trusts) }
      if let interfaces = changes.interfaces { try database.setInterfaces(interfaces) }
    }
    if changes.graceTime != nil { try await readGrace() }
    return try await settings
  }

  /// Takes the grace time as the database has it now. Whoever began to read it earlier and comes back later changes nothing
  /// any more: what they bring is older.
  private func readGrace() async throws(HomeError) {
    graceReadings.begun += 1
    let reading = graceReadings.begun
    let grace =
      if let center { try await center.work { try $0.grace() } } else { try await withDatabase { try $0.grace() } }
    guard reading > graceReadings.inForce else { return }
    graceReadings.inForce = reading
    use(grace)
  }

  private func use(_ grace: Duration?) {
    // Who opened the home with a time of their own means that.
    guard options.following.grace == nil else { return }
    let grace = grace ?? .zero
    edge.value.host.perform { engine, now in
      if engine.reducer.grace != grace { engine.setGrace(grace, at: now) }
    }
  }

  /// Another process wrote into the database: the user may have set something there.
  func readSettings() async {
    guard center != nil else { return }
    // Where it can't be read now, what was set before holds. That nothing is set is an answer, too.
    try? await readGrace()
    isContactReadingDue = true
    await readContacts()
  }

  /// Takes in when devices were heard, as other processes wrote it down: what came too soon after the last time is read a little
  /// later.
  func readContacts() async {
    guard isContactReadingDue, let center else { return }
    guard contactsRead.map({ $0 + Self.contactPause <= eventLoop.now }) ?? true else { return }
    (contactsRead, isContactReadingDue) = (eventLoop.now, false)
    guard let contacts = try? await center.work({ try $0.contacts() }) else { return }
    edge.value.take(contacts, isFollower: isFollower)
  }

  /// Begins to have it stored from time to time when devices were heard.
  func keepContacts() {
    let period = TimeAmount.nanoseconds(options.following.contactPeriod.nanoseconds)
    contactKeeping = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { [weak self] _ in
      guard let self else { return }
      // On the loop that the actor lives on.
      assumeIsolated {
        $0.noteClock()
        $0.edge.value.keepContacts()
      }
    }
  }
}
