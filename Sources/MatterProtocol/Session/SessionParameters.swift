public import MatterModel
public import MatterTLV

/// What a peer says of its timing and abilities, in DNS-SD and when a session is made. Matter Core § 4.13.1.
public struct SessionParameters: Hashable, Sendable {
  /// How long to wait before a retransmission to a peer that may be asleep (SII). 500 ms unless it says otherwise.
  public var idleInterval: Duration
  /// The same while the peer is awake (SAI). 300 ms unless it says otherwise.
  public var activeInterval: Duration
  /// How long a peer stays awake after it was heard (SAT). 4 s unless it says otherwise.
  public var activeThreshold: Duration
  /// Which version of the data model it follows; nil: it does not say.
  public var dataModelRevision: UInt16?
  /// Which version of the interaction model it follows; nil: it does not say.
  public var interactionModelRevision: UInt16?
  /// Which version of the standard, as 0x01040200 for 1.4.2; nil: it does not say.
  public var specificationVersion: UInt32?
  /// How many commands one invoke may carry.
  public var maximumPathsPerInvoke: UInt16

  public init(
    idleInterval: Duration = .milliseconds(500), activeInterval: Duration = .milliseconds(300),
    activeThreshold: Duration = .milliseconds(4000), dataModelRevision: UInt16? = nil,
    interactionModelRevision: UInt16? = nil, specificationVersion: UInt32? = nil, maximumPathsPerInvoke: UInt16 = 1
  ) {
    self.idleInterval = idleInterval
    self.activeInterval = activeInterval
    self.activeThreshold = activeThreshold
    self.dataModelRevision = dataModelRevision
    self.interactionModelRevision = interactionModelRevision
    self.specificationVersion = specificationVersion
    self.maximumPathsPerInvoke = maximumPathsPerInvoke
  }

  /// What Hearth's own nodes say: Matter 1.4.2.
  public static let own = SessionParameters(
    dataModelRevision: 19, interactionModelRevision: UInt16(MatterProtocol.interactionModelRevision),
    specificationVersion: 0x0104_0200, maximumPathsPerInvoke: 10)
}

extension SessionParameters: ModelValue {
  public static var schema: Schema { .any }

  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init()
    try reader.structure(bytes) { (reader, tag) throws(TLVError) in
      switch tag {
      case .context(1): idleInterval = .milliseconds(Int64(try reader.unsigned(as: UInt32.self)))
      case .context(2): activeInterval = .milliseconds(Int64(try reader.unsigned(as: UInt32.self)))
      case .context(3): activeThreshold = .milliseconds(Int64(try reader.unsigned(as: UInt16.self)))
      case .context(4): dataModelRevision = try reader.unsigned(as: UInt16.self)
      case .context(5): interactionModelRevision = try reader.unsigned(as: UInt16.self)
      case .context(6): specificationVersion = try reader.unsigned(as: UInt32.self)
      case .context(7): maximumPathsPerInvoke = try reader.unsigned(as: UInt16.self)
      default: break
      }
    }
    // An hour is the longest interval that the standard allows; longer ones would only serve to stall us.
    idleInterval = min(idleInterval, .seconds(3600))
    activeInterval = min(activeInterval, .seconds(3600))
  }

  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) {
    writer.structure(tag) {
      $0.write(UInt64(clamping: idleInterval.milliseconds), .context(1))
      $0.write(UInt64(clamping: activeInterval.milliseconds), .context(2))
      $0.write(UInt64(clamping: activeThreshold.milliseconds), .context(3))
      if let dataModelRevision { $0.write(UInt64(dataModelRevision), .context(4)) }
      if let interactionModelRevision { $0.write(UInt64(interactionModelRevision), .context(5)) }
      if let specificationVersion { $0.write(UInt64(specificationVersion), .context(6)) }
      $0.write(UInt64(maximumPathsPerInvoke), .context(7))
    }
  }
}
