public import Runtime

/// What the network around a running device is like.
public struct DeviceNetwork: Codable, Sendable, Hashable {
  /// What may inject it.
  public enum Fault: Codable, Sendable, Hashable {
    /// Nothing gets through any more.
    case partition
    /// Datagrams get through, and are treated so in either direction, whatever was said before.
    case conditions(LinkConditions)
    /// All is well again.
    case heal
  }

  /// Whether nothing gets through.
  public private(set) var isPartitioned = false
  /// How datagrams are treated in either direction; nil: nothing is wrong with them.
  public private(set) var conditions: LinkConditions?

  init() {}

  mutating func inject(_ fault: Fault) {
    switch fault {
    case .partition: isPartitioned = true
    case .conditions(let conditions): (isPartitioned, self.conditions) = (false, conditions)
    case .heal: self = DeviceNetwork()
    }
  }

  /// Whether nothing gets through, for either reason.
  var isCut: Bool { isPartitioned || conditions?.carriesNothing == true }
}
