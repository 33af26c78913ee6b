package import MatterModel

/// Decisions of a device that a test or a simulated fault replaces.
package struct DeviceHooks: Sendable {
  // MARK: Programming errors
  /// Whether a commissioning that a power loss interrupted is reverted at the start.
  package var revertsCommissioningAtStart = true
  package var appliesStartUpOnOff = true
  /// Whether changes are recorded for a subscription while its report is being sent.
  package var recordsChangesDuringReports = true
  /// Whether a new subscription over the limit evicts the oldest one instead of being rejected.
  package var evictsOldestSubscription = false

  // MARK: Faults
  /// Whether requests are answered with the status BUSY.
  package var isBusy = false
  /// The time between a request and its execution. Its receipt is acknowledged at once.
  package var responseDelay = Duration.zero
  /// Whether subscribers get reports after the first one.
  package var sendsReports = true
  /// The interval at which all CASE sessions are dropped without notifying the peers; nil to keep them.
  package var sessionDropInterval: Duration?
  /// The credentials to use instead of those of the configuration.
  package var attestation: AttestationCredentials?
  /// The tables that accept no further entries.
  package var fullTables: Set<DeviceTable> = []
  /// How a software update fails.
  package var update: UpdateFault?
  /// The attributes that clients get in violation of the data model. The values on the device don't change.
  package var violations: [ConcreteAttributePath: ModelViolation] = [:]

  package init() {}
}

/// A failure of a software update, of the device that provides it or of the one that requests it.
package enum UpdateFault: String, Hashable, Sendable, Codable, CaseIterable {
  /// The provider answers queries with Busy.
  case busy
  /// The provider has no image.
  case unavailable
  /// The provider discontinues an update when it is to be applied.
  case refused
  /// The provider lets an update wait when it is to be applied.
  case delayed
  /// Provider or requestor end a transfer halfway.
  case interrupted
  /// The image that the provider sends or the requestor receives does not have its digest.
  case digest
  /// The new software does not start on the requestor, which continues with the old one.
  case rollback
}

/// A table of limited capacity.
package enum DeviceTable: String, Hashable, Sendable, Codable, CaseIterable {
  /// The fabrics: AddNOC is answered with TableFull.
  case fabrics
  /// The access control entries beyond the first of each fabric.
  case accessControl
  case groups
  /// The group key sets.
  case groupKeys
  case scenes, bindings, subscriptions
}
