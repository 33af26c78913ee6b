public import MatterModel
public import MatterTLV

/// The timing and capabilities that a peer declares in DNS-SD and in handshakes. Matter Core § 4.13.1.
public struct SessionParameters: Hashable, Sendable {
  /// The retransmission interval of an idle peer (SII), which may be asleep. Default: 500 ms.
  public var idleInterval: Duration
  /// The retransmission interval of an active peer (SAI). Default: 300 ms.
  public var activeInterval: Duration
  /// The time that a peer stays active after it sent a message (SAT). Default: 4 s.
  public var activeThreshold: Duration
  /// The data model revision; nil if the peer declares none.
  public var dataModelRevision: UInt16?
  /// The interaction model revision; nil if the peer declares none.
  public var interactionModelRevision: UInt16?
  /// The version of the specification, such as 0x01040200 for 1.4.2; nil if the peer declares none.
  public var specificationVersion: UInt32?
  /// The maximum number of commands in one invoke request.
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

  /// The parameters of Hearth's own nodes: Matter 1.4.2.
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
    // The specification allows at most one hour; a peer could stall this node with longer intervals.
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
