import Home
import Synchronization

/// What is to be told of the connectivity that lasted for the home's grace time. It follows from the rest, and is not in the
/// log: where it changes together with the connectivity, as it does without a grace time, that says it all.
struct SettledChanges {
  private var known: [String: ConnectivityState] = [:]
  /// The devices that somebody was told another settled state of than the present one.
  private var apart: Set<String> = []

  /// - Parameter devices: as they are.
  init(_ devices: [HomeDevice] = []) {
    for device in devices { known[device.id] = device.settledConnectivity.connectivityState }
  }

  /// - Parameters:
  ///   - state: the settled one of a device now.
  ///   - isAlone: whether nothing happened but that time passed.
  /// - Returns: whether that is to be told.
  mutating func isNews(_ device: String, _ state: ConnectivityState, isAlone: Bool) -> Bool {
    let old = known.updateValue(state, forKey: device)
    guard old != state else { return false }
    // Of what nobody knew before it is told how it is.
    if isAlone, let old, old != .unknown { apart.insert(device) }
    guard state != .unknown, apart.contains(device) else { return false }
    if state == .online { apart.remove(device) }
    return true
  }
}

/// What is in no log, and nobody has told of yet.
final class UnloggedQueue: Sendable {
  enum Kind: Sendable {
    /// It has been as it is for the home's grace time.
    case settled
    /// It is reached by another route, or by none.
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

  func take() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}
