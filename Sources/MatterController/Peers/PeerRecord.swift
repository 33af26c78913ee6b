public import MatterModel
public import MatterProtocol
internal import MatterTLV

/// The stored data of a node of the fabric.
public struct PeerRecord: Hashable, Sendable {
  public let nodeID: NodeID
  /// The last known address.
  public internal(set) var address: SocketAddress?
  package internal(set) var parameters = SessionParameters()
  public internal(set) var vendorID: VendorID = 0
  /// Assigned by the vendor; 0 if unknown.
  public internal(set) var productID: UInt16 = 0
  /// The timing of a node that supports a long idle time; nil for others.
  var longIdle: LongIdleTiming?
  /// Nil if unknown.
  public internal(set) var attestation: DeviceAttestation?

  init(_ nodeID: NodeID) { self.nodeID = nodeID }

  /// Store key: `peer/` and 16 lowercase hexadecimal digits.
  static func key(_ nodeID: NodeID) -> String { prefix + digits(nodeID) }
  /// Prefix of the store keys of all records.
  public static let prefix = "peer/"

  /// Returns the records in a controller's store.
  static func records(in state: StoredState) -> [NodeID: PeerRecord] {
    let records = state.lazy.filter { $0.key.hasPrefix(prefix) }.compactMap { PeerRecord(tlv: $0.value) }
    return Dictionary(records.map { ($0.nodeID, $0) }) { $1 }
  }

  /// Store key of the node's session resumption record.
  static func resumptionKey(_ nodeID: NodeID) -> String { resumptionPrefix + digits(nodeID) }
  /// Prefix of the store keys of all session resumption records.
  public static let resumptionPrefix = "resumption/"

  static func digits(_ nodeID: NodeID) -> String { nodeID.rawValue.hexadecimal(16).lowercased() }

  var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(nodeID.rawValue, .context(0))
      if let address {
        $0.write(octets: address.ip.bytes, .context(1))
        $0.write(UInt64(address.port), .context(2))
        if case .v6(_, _, let scope) = address.ip, scope != 0 { $0.write(UInt64(scope), .context(3)) }
      }
      $0.write(UInt64(clamping: parameters.idleInterval.milliseconds), .context(4))
      $0.write(UInt64(clamping: parameters.activeInterval.milliseconds), .context(5))
      $0.write(UInt64(clamping: parameters.activeThreshold.milliseconds), .context(6))
      $0.write(UInt64(vendorID.rawValue), .context(7))
      $0.write(UInt64(productID), .context(8))
      if let attestation { $0.write(attestation.rawValue, .context(9)) }
      if let longIdle {
        $0.write(UInt64(clamping: longIdle.idleDuration.components.seconds), .context(10))
        $0.write(UInt64(clamping: longIdle.activeThreshold.milliseconds), .context(11))
      }
    }
    return writer.bytes
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv) else { return nil }
    func number(_ tag: UInt8) -> UInt64? {
      if case .unsigned(let value)? = element[tag]?.value { value } else { nil }
    }
    guard let nodeID = number(0) else { return nil }
    self.nodeID = NodeID(nodeID)
    if case .octets(let bytes)? = element[1]?.value, let port = number(2),
      let ip = IPAddress(bytes: bytes, scope: UInt32(clamping: number(3) ?? 0))
    {
      address = SocketAddress(ip, port: UInt16(clamping: port))
    }
    func milliseconds(_ tag: UInt8, _ usual: Duration) -> Duration {
      number(tag).map { .milliseconds(Int64(min($0, 3_600_000))) } ?? usual
    }
    parameters = SessionParameters(
      idleInterval: milliseconds(4, parameters.idleInterval),
      activeInterval: milliseconds(5, parameters.activeInterval),
      activeThreshold: milliseconds(6, parameters.activeThreshold))
    vendorID = VendorID(UInt16(clamping: number(7) ?? 0))
    productID = UInt16(clamping: number(8) ?? 0)
    if case .string(let text)? = element[9]?.value { attestation = DeviceAttestation(rawValue: text) }
    if let idle = number(10), let threshold = number(11) {
      longIdle = LongIdleTiming(
        idleDuration: .seconds(Int64(min(idle, 64_800))), activeThreshold: .milliseconds(Int64(min(threshold, 65_535))))
    }
  }
}

extension SessionParameters {
  /// The MRP timing in a service's TXT record.
  init(_ service: MatterService) {
    self.init()
    if let interval = service.idleInterval { idleInterval = interval }
    if let interval = service.activeInterval { activeInterval = interval }
    if let threshold = service.activeThreshold { activeThreshold = threshold }
  }
}
