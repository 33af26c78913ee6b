internal import Foundation
public import HomeModel
package import MatterCertificates
package import MatterCrypto

/// A folder of trusted attestation roots (PAA), and of keys that sign certification declarations. DER and PEM files; a
/// PEM file may have several.
///
/// Certificates and public keys in a folder `cd` or `cd-certs`, or whose name says that they sign certification
/// declarations, are signers of declarations; all other certificates are roots. Neither can be used in place of the
/// other.
public struct TrustStore: Sendable, Codable {
  package let roots: [X509Certificate]
  package let declarationSigners: [[UInt8]: P256PublicKey]
  /// Files that can't be used, with the reason.
  public private(set) var unreadable: [(file: String, reason: String)] = []

  /// The number of root certificates (PAA).
  public var rootCount: Int { roots.count }
  /// The number of declaration signers.
  public var declarationSignerCount: Int { declarationSigners.count }

  private static let extensions: Set<String> = ["der", "pem", "crt", "cer"]
  private static let declarationFolders: Set<String> = ["cd", "cd-certs"]
  /// The DER prefix before the point of any P-256 public key (RFC 5480).
  private static let keyPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Reads all files in the folder and its subfolders.
  /// - Throws: `notFound` if there is no such folder, `badArguments` if it has neither roots nor signers.
  public init(_ directory: String) throws(HomeError) {
    let base = URL(filePath: directory)
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: base.path, isDirectory: &isDirectory), isDirectory.boolValue,
      let all = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
    else { throw HomeError(.notFound, "\(directory): no such folder") }
    var roots: [X509Certificate] = []
    var signers: [[UInt8]: P256PublicKey] = [:]
    let files = all.compactMap { $0 as? URL }.filter { Self.extensions.contains($0.pathExtension.lowercased()) }
    for file in files.sorted(by: { $0.path < $1.path }) {
      let isForDeclarations = Self.declarationFolders.contains(file.deletingLastPathComponent().lastPathComponent)
      do {
        for (bytes, isKey) in try Self.blocks(of: try Data(contentsOf: file)) {
          if isKey {
            let key = try Self.publicKey(bytes)
            signers[Hash.sha1(key.bytes)] = key
            continue
          }
          let certificate = try X509Certificate(der: bytes)
          if isForDeclarations || Self.signsDeclarations(certificate) {
            signers[certificate.subjectKeyID ?? Hash.sha1(certificate.publicKey.bytes)] = certificate.publicKey
          } else if certificate.basicConstraints?.isAuthority != true {
            throw Reason("it is not an authority")
          } else if !roots.contains(certificate) {
            roots.append(certificate)
          }
        }
      } catch {
        unreadable.append((file.path, "\(error)"))
      }
    }
    self.roots = roots
    declarationSigners = signers
    guard !roots.isEmpty || !signers.isEmpty else {
      let reason = unreadable.first.map { "; \($0.file): \($0.reason)" } ?? ""
      throw HomeError(
        .badArguments, "\(directory) has no readable certificate (.der, .pem, .crt, .cer)\(reason)")
    }
  }

  /// Adds the roots and signers to those of a verifier.
  package func extend(_ verifier: inout AttestationVerifier) {
    verifier.trustedRoots += roots.filter { !verifier.trustedRoots.contains($0) }
    verifier.declarationSigners.merge(declarationSigners) { own, _ in own }
  }

  // MARK: Coding

  private enum CodingKeys: String, CodingKey { case roots, declarationSigners }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    roots = try container.decode([Data].self, forKey: .roots).map { try X509Certificate(der: [UInt8]($0)) }
    let keys = try container.decode([Data].self, forKey: .declarationSigners)
    var signers: [[UInt8]: P256PublicKey] = [:]
    for pair in stride(from: 0, to: keys.count - 1, by: 2) {
      signers[[UInt8](keys[pair])] = try P256PublicKey(bytes: [UInt8](keys[pair + 1]))
    }
    declarationSigners = signers
  }

  /// Encodes the certificates, and the ids and keys of the signers in turn.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(roots.map { Data($0.der) }, forKey: .roots)
    let signers = declarationSigners.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    try container.encode(signers.flatMap { [Data($0.key), Data($0.value.bytes)] }, forKey: .declarationSigners)
  }

  private struct Reason: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private static func signsDeclarations(_ certificate: X509Certificate) -> Bool {
    let name = certificate.subject.commonName?.lowercased() ?? ""
    return name.contains("cd signing") || name.contains("certification declaration signing")
  }

  private static func publicKey(_ der: [UInt8]) throws -> P256PublicKey {
    guard der.count == keyPrefix.count + 65, der.starts(with: keyPrefix) else { throw Reason("no key on P-256") }
    return try P256PublicKey(bytes: Array(der[keyPrefix.count...]))
  }

  /// The DER blocks of a file: the file itself, or the blocks of a PEM file.
  private static func blocks(of data: Data) throws -> [(bytes: [UInt8], isKey: Bool)] {
    guard let text = String(data: data, encoding: .utf8), text.contains("-----BEGIN ") else {
      let bytes = Array(data)
      return [(bytes, bytes.starts(with: keyPrefix))]
    }
    var result: [(bytes: [UInt8], isKey: Bool)] = []
    var label: Substring?
    var base64 = ""
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") {
        label = line.dropFirst(11).prefix { $0 != "-" }
        base64 = ""
      } else if line.hasPrefix("-----END ") {
        if label == "CERTIFICATE" || label == "PUBLIC KEY" {
          guard let der = Data(base64Encoded: base64) else { throw Reason("its PEM is broken") }
          result.append((Array(der), label == "PUBLIC KEY"))
        }
        label = nil
      } else if label != nil {
        base64 += line.filter { !$0.isWhitespace }
      }
    }
    guard !result.isEmpty else { throw Reason("it has neither a certificate nor a public key") }
    return result
  }
}
