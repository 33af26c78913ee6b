public import Runtime

/// The faults of the network around a running device.
public struct DeviceNetwork: Codable, Sendable, Hashable {
  /// A fault to inject.
  public enum Fault: Codable, Sendable, Hashable {
    /// No datagram gets through.
    case partition
    /// Datagrams get through under these conditions in both directions; replaces earlier faults.
    case conditions(LinkConditions)
    /// Removes all faults.
    case heal
  }

  /// Whether a partition is active.
  public private(set) var isPartitioned = false
  /// The conditions in both directions; nil for none.
  public private(set) var conditions: LinkConditions?

  init() {}

  mutating func inject(_ fault: Fault) {
    switch fault {
    case .partition: isPartitioned = true
    case .conditions(let conditions): (isPartitioned, self.conditions) = (false, conditions)
    case .heal: self = DeviceNetwork()
    }
  }

  /// Whether nothing gets through, by a partition or by the conditions.
  var isCut: Bool { isPartitioned || conditions?.carriesNothing == true }
}
