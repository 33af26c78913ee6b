import MatterCertificates
public import MatterCrypto
public import MatterModel

/// What comes out of one epoch key of a group key set. Matter Core § 4.17.2.
public struct GroupKey: Sendable {
  /// As the administrator wrote it: 16 bytes, secret.
  public let epochKey: [UInt8]
  /// Stands in messages instead of a session's number. Others may have the same one. § 4.17.3.6.
  public let sessionID: UInt16
  let encryption: AESCCM
  let privacy: AESCCM

  /// - Parameter epochKey: 16 bytes.
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

  /// § 4.9.1.
  static func privacyKey(of operationalKey: [UInt8]) throws(CryptoError) -> [UInt8] {
    try HKDF.sha256(secret: operationalKey, salt: [], info: Array("PrivacyKey".utf8), count: 16)
  }

  /// Obfuscates the part of the header that tells who sends to whom, or undoes it. It hangs from the message's tag, so it is
  /// the last thing done to a message that goes out, and the first to one that comes in. § 4.9.3.
  /// - Parameter end: where the header ends.
  /// - Returns: false if there is no whole tag behind the header.
  func obfuscate(_ bytes: inout [UInt8], headerEnd end: Int) -> Bool {
    guard end >= Self.obfuscatedFrom, bytes.count >= end + AESCCM.tagByteCount else { return false }
    let nonce = [UInt8(sessionID >> 8), UInt8(sessionID & 0xFF)] + bytes.suffix(Nonce.byteCount - 2)
    guard let nonce = try? Nonce(bytes: nonce) else { return false }
    return (try? privacy.applyKeyStream(to: &bytes, Self.obfuscatedFrom..<end, nonce: nonce)) != nil
  }

  /// The message counter is the first field that is hidden.
  private static let obfuscatedFrom = 4
}

/// A key set that groups of a fabric use. Matter Core § 4.17.3.
public struct GroupKeySet: Sendable {
  /// As the fabric's administrator numbers them; 0 is the one for identity protection.
  public let id: UInt16
  /// The oldest first; at most three. What comes in may use any of them.
  public var keys: [GroupKey]
  /// The groups that are mapped to it.
  public var groups: [GroupID]
  /// Whether the groups share one multicast address instead of having one each. § 11.2.5.2.
  public var usesAllNodesAddress: Bool

  public init(id: UInt16, keys: [GroupKey], groups: [GroupID], usesAllNodesAddress: Bool = false) {
    (self.id, self.keys, self.groups, self.usesAllNodesAddress) = (id, keys, groups, usesAllNodesAddress)
  }

  /// What to send with: the second newest, so that a new key has time to get to everybody. § 4.17.3.3 has it so for nodes whose
  /// clocks are not sure to agree.
  var current: GroupKey? { keys.count > 2 ? keys[keys.count - 2] : keys.first }

  /// Where messages to one of the groups go. Matter Core § 2.5.6.2.
  public func address(of group: GroupID, fabricID: FabricID) -> IPAddress {
    .multicast(fabricID: fabricID, group: usesAllNodesAddress ? 0xFFFF : group)
  }
}

extension IPAddress {
  /// FF35:0040:FD, the fabric id, 00 and the group id: an address of this site made from a unique local prefix of 64 bits.
  /// Matter Core § 2.5.6.2.
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
