public import MatterModel

/// Why bytes are not a message.
public enum MessageError: Error, Hashable, Sendable {
  case truncated
  /// A later version of the message format.
  case unknownVersion(UInt8)
  /// Reserved bits are set, or a combination that the standard forbids.
  case malformed
}

/// The part of a message that is never encrypted. Matter Core § 4.4.1.
public struct MessageHeader: Hashable, Sendable {
  /// What a session id refers to.
  public enum SessionKind: UInt8, Sendable {
    case unicast = 0, group = 1
  }

  /// Whom a message is for.
  public enum Destination: Hashable, Sendable {
    case none
    /// One node of a fabric.
    case node(NodeID)
    /// All members of a group.
    case group(GroupID)
  }

  /// The receiver's id of the session; 0 with `unicast` is the unsecured session.
  public var sessionID: UInt16
  public var sessionKind: SessionKind
  /// Which message of its sender this is; part of the nonce.
  public var counter: UInt32
  /// Who sent it, where the session does not say.
  public var source: NodeID?
  public var destination: Destination
  /// P: the header is obfuscated with the privacy key.
  public var hasPrivacy: Bool
  /// C: a control message, with counters of its own.
  public var isControl: Bool

  public init(
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

  /// Whether nothing of it is encrypted: before there is a session.
  public var isUnsecured: Bool { sessionKind == .unicast && sessionID == 0 }

  /// The octet that also goes into the nonce.
  public var securityFlags: UInt8 { (hasPrivacy ? 0x80 : 0) | (isControl ? 0x40 : 0) | sessionKind.rawValue }

  /// Reads a header from the start of a datagram.
  /// - Returns: the header, and where the payload begins.
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
    if security & 0x20 != 0 {  // MX: extensions, which nobody defines yet; passed over
      guard let length = reader.u16(), reader.skip(Int(length)) else { throw .truncated }
    }
    return (header, reader.offset)
  }

  public func encode(to bytes: inout [UInt8]) {
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
}
