public import MatterCrypto

/// The message by which an intermittently connected device notifies a registered client that it is active. It is
/// unsecured, but its payload is encrypted with the key of the registration. Matter Core, Check-In Protocol.
public struct CheckInMessage: Hashable, Sendable {
  /// The ICDCounter of the device, which never repeats with the same key.
  public var counter: UInt32
  /// Data of the device: the active mode threshold in milliseconds, 16 bits, little-endian. § 9.16.
  public var applicationData: [UInt8]

  /// The length of the key of a registration, in bytes.
  public static let keyByteCount = 16

  /// Creates a message.
  package init(counter: UInt32, applicationData: [UInt8] = []) {
    (self.counter, self.applicationData) = (counter, applicationData)
  }

  /// Creates a message with the active mode threshold of the device.
  public init(counter: UInt32, activeThreshold: Duration) {
    var data: [UInt8] = []
    data.append(littleEndian: UInt16(clamping: activeThreshold.milliseconds))
    self.init(counter: counter, applicationData: data)
  }

  /// The active mode threshold of the device; nil if the application data is too short.
  public var activeThreshold: Duration? {
    var reader = LittleEndianReader(applicationData, at: 0)
    return reader.u16().map { .milliseconds(Int64($0)) }
  }

  /// Returns the payload: the nonce, and the encrypted counter and data with their tag.
  /// - Throws: an error if the key has another length than ``keyByteCount``.
  public func sealed(with key: [UInt8]) throws(CryptoError) -> [UInt8] {
    let nonce = try Self.nonce(counter, key)
    var bytes = nonce.bytes
    bytes.append(littleEndian: counter)
    bytes += applicationData
    try AESCCM(key: try SymmetricKey(key)).seal(&bytes, from: Nonce.byteCount, nonce: nonce, aad: 0..<0)
    return bytes
  }

  /// Decrypts a payload; nil if it was not encrypted with the key, or its nonce does not belong to its counter.
  public init?(opening payload: [UInt8], with key: [UInt8]) {
    var bytes = payload
    guard bytes.count >= Nonce.byteCount + 4 + AESCCM.tagByteCount,
      let nonce = try? Nonce(bytes: Array(bytes.prefix(Nonce.byteCount))),
      let cipher = try? AESCCM(key: try SymmetricKey(key)),
      (try? cipher.open(&bytes, from: Nonce.byteCount, nonce: nonce, aad: 0..<0)) != nil
    else { return nil }
    var reader = LittleEndianReader(bytes, at: Nonce.byteCount)
    guard let counter = reader.u32(), (try? Self.nonce(counter, key)) == nonce else { return nil }
    self.init(counter: counter, applicationData: Array(bytes[reader.offset...]))
  }

  /// Derives the nonce from the counter. The same key is used for the nonce and for the encryption.
  private static func nonce(_ counter: UInt32, _ key: [UInt8]) throws(CryptoError) -> Nonce {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: counter)
    return try Nonce(bytes: Array(try HMAC.sha256(key: key, bytes).prefix(Nonce.byteCount)))
  }
}
