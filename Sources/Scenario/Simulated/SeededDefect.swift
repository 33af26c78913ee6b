import HearthHome
import MatterController
import MatterDevice
import MatterProtocol

/// An injected programming error that the scenarios must detect. It is installed through the hooks of the engines.
public enum SeededDefect: String, Hashable, Sendable, CaseIterable {
  /// Unacknowledged messages are not retransmitted.
  case sendsOnce
  /// The least recently used session is evicted regardless of the shares of the fabrics.
  case evictsAnybody

  /// A device that loses power during commissioning keeps the changes made until then.
  case keepsHalfCommissioning
  /// A device restarts in its previous state regardless of its start-up attributes.
  case ignoresStartUp
  /// Changes during the transmission of a report are not reported.
  case reportsOneAtATime
  /// A device evicts its oldest subscription for a new one, regardless of the fabric.
  case endsOldestSubscription

  /// A controller tries a node at its last known address only.
  case staysAtAddress
  /// A controller tries a node at its discovered addresses only.
  case needsDiscovery

  /// A home ignores the announcements of devices.
  case ignoresAnnouncements
  /// A home assumes that its subscription with a device is alive, even if the device announces itself again.
  case trustsSubscriptions
  /// A home ignores the reachability that a bridge reports for its bridged devices.
  case ignoresReachable
  /// A home that starts only follows the devices of its first batch of concurrent connections.
  case followsFirstCallsOnly
  /// A home checks certificates against its clock even if the clock was never set.
  case trustsAnyClock

  /// Installs the defect in a device.
  func install(in device: inout DeviceConfiguration) {
    install(in: &device.limits)
    switch self {
    case .keepsHalfCommissioning: device.hooks.revertsCommissioningAtStart = false
    case .ignoresStartUp: device.hooks.appliesStartUpOnOff = false
    case .reportsOneAtATime: device.hooks.recordsChangesDuringReports = false
    case .endsOldestSubscription: device.hooks.evictsOldestSubscription = true
    default: break
    }
  }

  /// Installs the defect in a home and its controller.
  func install(in home: inout HomeConfiguration, _ controller: inout ControllerConfiguration) {
    install(in: &controller.node)
    switch self {
    case .staysAtAddress: controller.hooks.followsAddressChanges = false
    case .needsDiscovery: controller.hooks.usesStoredAddress = false
    case .ignoresAnnouncements: home.hooks.handlesAnnouncements = false
    case .trustsSubscriptions: home.hooks.probesSubscriptions = false
    case .ignoresReachable: home.hooks.appliesReachable = false
    case .followsFirstCallsOnly: home.hooks.followsAllNodes = false
    case .trustsAnyClock: home.hooks.rejectsUnsetClock = false
    default: break
    }
  }

  private func install(in node: inout NodeConfiguration) {
    switch self {
    case .sendsOnce: node.hooks.maximumTransmissions = 1
    case .evictsAnybody: node.hooks.hasFairShares = false
    default: break
    }
  }
}
