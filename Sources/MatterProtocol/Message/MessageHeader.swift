public import MatterModel
internal import MatterTLV

/// An error in decoding a message header.
public enum MessageError: Error, Hashable, Sendable {
  case truncated
  /// The version of the message format is not supported.
  case unknownVersion(UInt8)
  /// Reserved bits are set, or the specification forbids the combination of fields.
  case malformed
}

/// The unencrypted header of a message. Matter Core § 4.4.1.
public struct MessageHeader: Hashable, Sendable {
  /// The kind of session that a session id refers to.
  public enum SessionKind: UInt8, Sendable {
    case unicast = 0, group = 1
  }

  /// The destination of a message.
  public enum Destination: Hashable, Sendable {
    case none
    /// One node of a fabric.
    case node(NodeID)
    /// All members of a group.
    case group(GroupID)
  }

  /// The receiver's id of the session; 0 with `unicast` means the unsecured session.
  public var sessionID: UInt16
  public var sessionKind: SessionKind
  /// The message counter of the sender; part of the nonce.
  public var counter: UInt32
  /// The sender, present where the session does not determine it.
  public var source: NodeID?
  public var destination: Destination
  /// The P flag: the header is obfuscated with the privacy key.
  public var hasPrivacy: Bool
  /// The C flag: a control message, which has its own counters.
  public var isControl: Bool

  package init(
    sessionID: UInt16, sessionKind: SessionKind = .unicast, counter: UInt32, source: NodeID? = nil,
    destination: Destination = .none, hasPrivacy: Bool = false, isControl: Bool = false
  ) {
    self.sessionID = sessionID
    self.sessionKind = sessionKind
    self.counter = counter
    self.source = source
    self.destination = destination
    self.hasPrivacy = hasPrivacy
    self.isControl = isControl
  }

  /// Whether the message is sent outside of a secured session, unencrypted.
  public var isUnsecured: Bool { sessionKind == .unicast && sessionID == 0 }

  /// The security flags octet, which is also part of the nonce.
  var securityFlags: UInt8 { (hasPrivacy ? 0x80 : 0) | (isControl ? 0x40 : 0) | sessionKind.rawValue }

  /// Reads a header from the start of a datagram.
  /// - Returns: The header, and the offset at which the payload begins.
  public static func decode(_ bytes: [UInt8]) throws(MessageError) -> (header: MessageHeader, end: Int) {
    var reader = LittleEndianReader(bytes)
    guard let flags = reader.u8(), let sessionID = reader.u16(), let security = reader.u8(), let counter = reader.u32()
    else { throw .truncated }
    guard flags >> 4 == 0 else { throw .unknownVersion(flags >> 4) }
    guard flags & 0x08 == 0, security & 0x1C == 0, let kind = SessionKind(rawValue: security & 3) else {
      throw .malformed
    }
    var header = MessageHeader(
      sessionID: sessionID, sessionKind: kind, counter: counter, hasPrivacy: security & 0x80 != 0,
      isControl: security & 0x40 != 0)
    if flags & 0x04 != 0 {
      guard let source = reader.u64() else { throw .truncated }
      header.source = NodeID(source)
    }
    switch flags & 3 {
    case 0: break
    case 1:
      guard let node = reader.u64() else { throw .truncated }
      header.destination = .node(NodeID(node))
    case 2:
      guard let group = reader.u16() else { throw .truncated }
      header.destination = .group(GroupID(group))
    default: throw .malformed
    }
    if kind == .group && (header.source == nil || header.destination == .none) { throw .malformed }
    if security & 0x20 != 0 {  // MX: message extensions; skipped, because the specification defines none
      guard let length = reader.u16(), reader.skip(Int(length)) else { throw .truncated }
    }
    return (header, reader.offset)
  }

  package func encode(to bytes: inout [UInt8]) {
    var flags: UInt8 = source == nil ? 0 : 0x04
    switch destination {
    case .none: break
    case .node: flags |= 1
    case .group: flags |= 2
    }
    bytes.append(flags)
    bytes.append(littleEndian: sessionID)
    bytes.append(securityFlags)
    bytes.append(littleEndian: counter)
    if let source { bytes.append(littleEndian: source.rawValue) }
    switch destination {
    case .none: break
    case .node(let node): bytes.append(littleEndian: node.rawValue)
    case .group(let group): bytes.append(littleEndian: group.rawValue)
    }
  }

  /// Encodes a message with the payload written by `body`.
  /// - Parameter capacity: The expected size of the payload in bytes.
  /// - Returns: The datagram, and the offset of the end of its header, from which it is to be encrypted.
  func datagram(
    _ payload: PayloadHeader, capacity: Int, _ body: (inout TLVWriter) -> Void
  ) -> (bytes: [UInt8], end: Int) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity + 48)
    encode(to: &bytes)
    let end = bytes.count
    payload.encode(to: &bytes)
    var writer = TLVWriter(appendingTo: consume bytes)
    body(&writer)
    return ((consume writer).finish(), end)
  }
}
