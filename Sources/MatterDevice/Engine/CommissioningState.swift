internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// The fabrics of the device, and commissioning in progress.
///
/// Handlers change this state; the engine then updates the messaging core and DNS-SD accordingly.
struct CommissioningState: Sendable {
  /// Sorted by index.
  var fabrics: [Fabric] = [] { didSet { isChanged = true } }
  @Boxed var failSafe: FailSafe? {
    didSet {
      isChanged = true
      failSafeDeadline = failSafe?.deadline
    }
  }
  /// The deadline of the fail-safe, which is needed more often than the rest of it.
  private(set) var failSafeDeadline: Instant?
  var window: CommissioningWindow? { didSet { isChanged = true } }
  /// Whether a PASE session exists, during which no other can be established.
  var isPASEBusy = false { didSet { isChanged = true } }
  /// Whether the state changed since the engine last applied it.
  var isChanged = true

  /// The value of SupportedFabrics.
  static let maximumFabrics = 5

  func fabric(_ index: FabricIndex) -> Fabric? { fabrics.first { $0.index == index } }

  /// The index that was assigned last; 0 before the first. Indices are assigned cyclically, so that references to a
  /// removed fabric do not soon refer to another one. Matter Core § 11.18.6.8.
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

/// The changes to undo unless commissioning completes in time. Matter Core § 11.10.7.2.
struct FailSafe: Sendable {
  /// The maximum total duration, however often the fail-safe is armed again.
  static let cumulativeLimit = Duration.seconds(900)
  static let recommendedSeconds: UInt16 = 60

  /// The fabric that armed it, or was added under it.
  var fabric: FabricIndex
  /// The PASE session that it was armed on, if any.
  var session: SessionID?
  var deadline: Instant
  let lastDeadline: Instant
  /// The key of the last CSR, and whether it is for UpdateNOC.
  var signingRequest: (key: P256PrivateKey, isForUpdate: Bool)?
  /// The added root certificate, TLV.
  var root: [UInt8]?
  var addedFabric: FabricIndex?
  /// The fabric before UpdateNOC.
  var updatedFabric: Fabric?
  /// The previous values of these attributes, TLV.
  var regulatoryConfig: [UInt8]?
  var location: [UInt8]?

  init(fabric: FabricIndex, session: SessionID?, for duration: Duration, at now: Instant) {
    (self.fabric, self.session) = (fabric, session)
    lastDeadline = now + Self.cumulativeLimit
    deadline = min(now + duration, lastDeadline)
  }

  /// Whether a NOC was added or updated under the fail-safe.
  var hasNOC: Bool { addedFabric != nil || updatedFabric != nil }

  /// The changes to undo after a restart; nil if none of them is persistent.
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

  /// Restores the fail-safe of an earlier run, to be expired immediately. Returns nil if the bytes can't be decoded.
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

/// An open commissioning window. Matter Core § 11.19.
struct CommissioningWindow: Sendable {
  var isEnhanced: Bool
  var parameters: PASEParameters
  var discriminator: UInt16
  /// nil for a window that is open as long as the device has no fabric.
  var deadline: Instant?
  var openedBy: FabricIndex?
  var openedByVendor: VendorID?
  /// The number in the DNS-SD instance name.
  var instance: UInt64
  var failures = 0

  static let maximumFailures = 20
}

/// An action that a command handler requests from the engine, and that the changed state alone does not imply.
enum NodeRequest: Sendable {
  case setFabric(FabricIndex, SessionID)
  /// Closes the PASE sessions after their pending responses were sent.
  case closePASESessions
  /// Closes the sessions of a fabric except one.
  case closeSessions(FabricIndex, except: SessionID?)
  /// Sends a command to another node, or requests a file from it.
  case send(BoundCommand)
  /// Sends a command to the bindings of an endpoint.
  case control(CommandData, from: EndpointID)
}
