internal import MatterProtocol
internal import Simulation

/// The network faults around one machine, in virtual time and in real time.
struct MachineFaults {
  private(set) var isMute = false
  private(set) var isDeaf = false
  private(set) var hasMulticast = true
  /// The conditions of the machine's links; nil if not set.
  private(set) var conditions: LinkConditions?
  /// The name of the machine's network; nil for the home's own.
  private(set) var place: String?
  private(set) var familiesOff: Set<IPFamily> = []

  /// Whether other machines can find its services by DNS-SD, and whether it can find theirs.
  var isVisible: Bool { hasMulticast && !isMute && hasAddress }
  var seesOthers: Bool { hasMulticast && !isDeaf && hasAddress }
  private var hasAddress: Bool { familiesOff.count < IPFamily.allCases.count }

  /// Returns the combined conditions of the link to another machine; nil if neither end sets any.
  func conditions(toward other: MachineFaults) -> LinkConditions? {
    guard let conditions, let others = other.conditions else { return conditions ?? other.conditions }
    return conditions.chained(with: others)
  }

  mutating func inject(_ fault: NetworkFault) {
    switch fault {
    case .partition: (isMute, isDeaf) = (true, true)
    case .mute: isMute = true
    case .deaf: isDeaf = true
    case .heal: self = MachineFaults()
    case .conditions(let conditions): self.conditions = conditions
    case .multicast(let works): hasMulticast = works
    case .place(let name): place = name
    case .family(let family, true): familiesOff.remove(family)
    case .family(let family, false): familiesOff.insert(family)
    }
  }
}
