internal import MatterProtocol
internal import Simulation

/// What is wrong with the network around one machine, in virtual time and in real time.
struct MachineFaults {
  private(set) var isMute = false
  private(set) var isDeaf = false
  private(set) var hasMulticast = true
  /// Nil: nothing is said of it.
  private(set) var conditions: LinkConditions?
  /// The name of the network that it is in; nil: the home's own.
  private(set) var place: String?
  private(set) var familiesOff: Set<IPFamily> = []

  /// Whether others see by DNS-SD what it publishes, and whether it sees what they do.
  var isSeen: Bool { hasMulticast && !isMute && hasAddress }
  var sees: Bool { hasMulticast && !isDeaf && hasAddress }
  private var hasAddress: Bool { familiesOff.count < IPFamily.allCases.count }

  /// How the link to another machine is, of which both ends may say something; nil: neither does.
  func conditions(towards other: MachineFaults) -> LinkConditions? {
    guard let conditions, let others = other.conditions else { return conditions ?? other.conditions }
    return conditions.followed(by: others)
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
