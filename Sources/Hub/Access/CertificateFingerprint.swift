public import HomeModel
internal import MatterCrypto

/// The SHA-256 of a certificate (DER), by which a client recognizes a hub without a certificate authority.
public struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// 32 bytes.
  let bytes: [UInt8]

  /// - Parameter der: the encoded certificate.
  init(of der: [UInt8]) { bytes = Hash.sha256(der) }

  /// Parses 64 hexadecimal digits, also with a colon between two bytes, as `openssl x509 -fingerprint -sha256` prints them.
  /// - Throws: `HomeError` `badArguments`.
  public init(_ text: String) throws(HomeError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 1 || parts.allSatisfy({ $0.count == 2 }),
      let bytes = [UInt8](hexadecimalDigits: parts.joined()), bytes.count == 32
    else {
      throw HomeError(
        .badArguments, "“\(text)” is not a fingerprint; expected the SHA-256 of a certificate, 64 hexadecimal digits")
    }
    self.bytes = bytes
  }

  /// 64 hexadecimal digits.
  public var description: String { bytes.hexadecimal }
}
