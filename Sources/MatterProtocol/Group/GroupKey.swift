import MatterCertificates
public import MatterCrypto
public import MatterModel

/// The operational keys derived from one epoch key of a group key set. Matter Core § 4.17.2.
public struct GroupKey: Sendable {
  /// The secret epoch key, 16 bytes, as written by the administrator.
  public let epochKey: [UInt8]
  /// The group session id in messages. Different keys may have the same one. § 4.17.3.6.
  package let sessionID: UInt16
  let encryption: AESCCM
  let privacy: AESCCM

  /// Derives the keys from an epoch key of 16 bytes.
  public init(epochKey: [UInt8], compressedFabricID: UInt64) throws(CryptoError) {
    self.epochKey = epochKey
    let operational = try FabricIdentity.operationalKey(epochKey: epochKey, compressedFabricID: compressedFabricID)
    sessionID = try Self.sessionID(of: operational)
    encryption = try AESCCM(key: SymmetricKey(operational))
    privacy = try AESCCM(key: SymmetricKey(try Self.privacyKey(of: operational)))
  }

  static func sessionID(of operationalKey: [UInt8]) throws(CryptoError) -> UInt16 {
    let hash = try HKDF.sha256(secret: operationalKey, salt: [], info: Array("GroupKeyHash".utf8), count: 2)
    return hash.reduce(0) { $0 << 8 | UInt16($1) }
  }

  /// Derives the privacy key. § 4.9.1.
  static func privacyKey(of operationalKey: [UInt8]) throws(CryptoError) -> [UInt8] {
    try HKDF.sha256(secret: operationalKey, salt: [], info: Array("PrivacyKey".utf8), count: 16)
  }

  /// Obfuscates the counter and addresses of the header, or reverses the obfuscation. The nonce contains the tag of the
  /// message, so this is the last step in sending and the first in receiving. § 4.9.3.
  /// - Parameter end: The offset of the end of the header.
  /// - Returns: false if the header isn't followed by at least a tag.
  func obfuscate(_ bytes: inout [UInt8], headerEnd end: Int) -> Bool {
    guard end >= Self.obfuscatedFrom, bytes.count >= end + AESCCM.tagByteCount else { return false }
    let nonce = [UInt8(sessionID >> 8), UInt8(sessionID & 0xFF)] + bytes.suffix(Nonce.byteCount - 2)
    guard let nonce = try? Nonce(bytes: nonce) else { return false }
    return (try? privacy.applyKeyStream(to: &bytes, Self.obfuscatedFrom..<end, nonce: nonce)) != nil
  }

  /// The offset of the message counter, the first obfuscated field.
  private static let obfuscatedFrom = 4
}

/// A group key set of a fabric. Matter Core § 4.17.3.
public struct GroupKeySet: Sendable {
  /// The id assigned by the administrator; 0 is the identity protection key set.
  public let id: UInt16
  /// At most three keys, the oldest first. Incoming messages may use any of them.
  public var keys: [GroupKey]
  /// The groups mapped to the key set.
  public var groups: [GroupID]
  /// Whether the groups share one multicast address instead of using one per group. § 11.2.5.2.
  public var usesAllNodesAddress: Bool

  public init(id: UInt16, keys: [GroupKey], groups: [GroupID], usesAllNodesAddress: Bool = false) {
    (self.id, self.keys, self.groups, self.usesAllNodesAddress) = (id, keys, groups, usesAllNodesAddress)
  }

  /// The key for outgoing messages: the second newest, so that a new key has time to reach all members. § 4.17.3.3
  /// specifies this for nodes without synchronized clocks.
  var current: GroupKey? { keys.count > 2 ? keys[keys.count - 2] : keys.first }

  /// Returns the multicast address of a group. Matter Core § 2.5.6.2.
  public func address(of group: GroupID, fabricID: FabricID) -> IPAddress {
    .multicast(fabricID: fabricID, group: usesAllNodesAddress ? 0xFFFF : group)
  }
}

extension IPAddress {
  /// Returns the multicast address of a group: FF35:0040:FD, the fabric id, 00 and the group id. It is site-local and
  /// based on a unique local prefix of 64 bits. Matter Core § 2.5.6.2.
  public static func multicast(fabricID: FabricID, group: GroupID) -> IPAddress {
    .v6(
      high: 0xFF35_0040_FD00_0000 | fabricID.rawValue >> 40,
      low: fabricID.rawValue << 24 | UInt64(group.rawValue), scope: 0)
  }
}

/// The group keys of one fabric.
struct FabricGroupKeys: Sendable {
  let fabric: FabricIndex
  var sets: [GroupKeySet]
}
