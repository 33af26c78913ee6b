internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// Which fabrics the device is on, and what is under way to change that.
///
/// Handlers change this; the engine then makes the messaging core and DNS-SD follow, whatever it was that changed.
struct CommissioningState: Sendable {
  /// By index.
  var fabrics: [Fabric] = [] { didSet { isChanged = true } }
  var failSafe: FailSafe? { didSet { isChanged = true } }
  var window: CommissioningWindow? { didSet { isChanged = true } }
  /// A session by passcode exists: nobody else is let in meanwhile.
  var isPASEBusy = false { didSet { isChanged = true } }
  /// Whether the engine has to look at it.
  var isChanged = true

  /// The most fabrics that are supported; SupportedFabrics.
  static let maximumFabrics = 5

  func fabric(_ index: FabricIndex) -> Fabric? { fabrics.first { $0.index == index } }

  /// The index that was given out last; 0 before the first. It goes round, so that what somebody remembers of a fabric that
  /// is gone does not soon mean another. Matter Core § 11.18.6.8.
  var lastIndex: UInt8 = 0

  var freeIndex: FabricIndex? {
    guard fabrics.count < Self.maximumFabrics else { return nil }
    return (0..<254).lazy.map { FabricIndex(UInt8((Int(lastIndex) + $0) % 254 + 1)) }.first { fabric($0) == nil }
  }

  mutating func put(_ fabric: Fabric) {
    fabrics.removeAll { $0.index == fabric.index }
    fabrics.append(fabric)
    fabrics.sort { $0.index < $1.index }
  }
}

/// What is undone unless commissioning is completed in time. Matter Core § 11.10.7.2.
struct FailSafe: Sendable {
  /// Longest time that a fail-safe may last, however often it is armed again.
  static let cumulativeLimit = Duration.seconds(900)
  static let recommendedSeconds: UInt16 = 60

  /// The fabric that armed it, or was added under it.
  var fabric: FabricIndex
  /// The session by passcode that it was armed for, if any.
  var session: SessionID?
  var deadline: Instant
  let lastDeadline: Instant
  /// The key of the last signing request, and what it is for.
  var signingRequest: (key: P256PrivateKey, isForUpdate: Bool)?
  /// A root that was added, TLV.
  var root: [UInt8]?
  var addedFabric: FabricIndex?
  /// What a fabric was before UpdateNOC.
  var updatedFabric: Fabric?
  /// What these attributes were, TLV.
  var regulatoryConfig: [UInt8]?
  var location: [UInt8]?

  init(fabric: FabricIndex, session: SessionID?, for duration: Duration, at now: Instant) {
    (self.fabric, self.session) = (fabric, session)
    lastDeadline = now + Self.cumulativeLimit
    deadline = min(now + duration, lastDeadline)
  }

  /// Whether a NOC was added or updated under it.
  var hasNOC: Bool { addedFabric != nil || updatedFabric != nil }

  /// What a restart needs to know to undo it; nil: nothing was done that would outlive one.
  var tlv: [UInt8]? {
    guard hasNOC || regulatoryConfig != nil || location != nil else { return nil }
    var writer = TLVWriter()
    writer.structure {
      if let addedFabric { $0.write(UInt64(addedFabric.rawValue), .context(0)) }
      if let updatedFabric { $0.write(octets: updatedFabric.tlv, .context(1)) }
      if let regulatoryConfig { $0.write(octets: regulatoryConfig, .context(2)) }
      if let location { $0.write(octets: location, .context(3)) }
    }
    return writer.bytes
  }

  /// One that the node did not live to see the end of, to be expired at once. Nil: it can't be read.
  init?(undoing tlv: [UInt8], at now: Instant) {
    guard let element = try? TLVElement(decoding: tlv) else { return nil }
    self.init(fabric: .none, session: nil, for: .zero, at: now)
    if case .unsigned(let added)? = element[0]?.value, let index = UInt8(exactly: added) {
      addedFabric = FabricIndex(index)
    }
    if case .octets(let bytes)? = element[1]?.value { updatedFabric = try? Fabric(tlv: bytes) }
    if case .octets(let bytes)? = element[2]?.value { regulatoryConfig = bytes }
    if case .octets(let bytes)? = element[3]?.value { location = bytes }
  }
}

/// The time in which the device can be commissioned. Matter Core § 11.19.
struct CommissioningWindow: Sendable {
  var isEnhanced: Bool
  var parameters: PASEParameters
  var discriminator: UInt16
  /// Nil: as long as the device has no fabric.
  var deadline: Instant?
  var openedBy: FabricIndex?
  var openedByVendor: VendorID?
  /// Of the DNS-SD instance.
  var instance: UInt64
  var failures = 0

  static let maximumFailures = 20
}

/// What a handler wants of the engine that does not follow from the state.
enum NodeRequest: Sendable {
  case setFabric(FabricIndex, SessionID)
  /// Ends sessions by passcode, once what they ask was answered.
  case closePASESessions
  /// Ends the sessions of a fabric but one.
  case closeSessions(FabricIndex, except: SessionID?)
}
