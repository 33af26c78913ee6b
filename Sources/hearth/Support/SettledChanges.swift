import HearthHome
import Synchronization

/// Selects the changes of the settled connectivity to report.
///
/// The settled connectivity is derived, and not in the log. A change together with the connectivity, as always without a grace time,
/// is not reported separately.
struct SettledChanges {
  private var known: [String: ConnectivityState] = [:]
  /// Devices whose settled state has changed separately from the connectivity, until they are settled as online again.
  private var separated: Set<String> = []

  /// - Parameter devices: the devices in their current state.
  init(_ devices: [HomeDevice] = []) {
    for device in devices { known[device.id] = device.settledConnectivity.connectivityState }
  }

  /// Records the settled connectivity of a device.
  /// - Parameters:
  ///   - state: the current settled state.
  ///   - isAlone: whether the change resulted from elapsed time, without another change.
  /// - Returns: whether to report the change.
  mutating func shouldReport(_ device: String, _ state: ConnectivityState, isAlone: Bool) -> Bool {
    let old = known.updateValue(state, forKey: device)
    guard old != state else { return false }
    // The first known state is not a change.
    if isAlone, let old, old != .unknown { separated.insert(device) }
    guard state != .unknown, separated.contains(device) else { return false }
    if state == .online { separated.remove(device) }
    return true
  }
}

/// A queue of changes that are not in the log and have not been printed yet.
final class UnloggedQueue: Sendable {
  enum Kind: Sendable {
    /// The settled connectivity has changed.
    case settled
    /// The route to the device has changed.
    case route
  }

  struct Entry: Sendable {
    var kind: Kind
    var device: HomeDevice
    /// In microseconds since 1970.
    var time: Int64
  }

  private let entries = Mutex<[Entry]>([])

  func add(_ kind: Kind, of device: HomeDevice, at time: Int64) {
    entries.withLock { $0.append(Entry(kind: kind, device: device, time: time)) }
  }

  /// Removes and returns all entries.
  func drain() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}
