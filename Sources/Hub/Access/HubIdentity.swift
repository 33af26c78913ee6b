internal import Foundation
public import HomeModel
public import HomeStore
internal import MatterCertificates
internal import MatterCrypto
package import NIOSSL

/// The key and the certificate with which a hub identifies itself to clients on the network.
public struct HubIdentity: Sendable {
  /// The user's own certificate and key, PEM files.
  public struct CertificateFiles: Hashable, Sendable {
    /// The certificate of the hub, followed by the certificates of intermediate authorities if there are any.
    public var certificate: String
    /// The private key, without a passphrase.
    public var key: String

    public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
  }

  /// The fingerprint of the certificate.
  public let fingerprint: CertificateFingerprint
  private let context: NIOSSLContext

  /// Loads the identity of a hub. Without files it is the one in the state directory, which is created if none exists.
  /// - Throws: `HomeError` `badArguments` if the user's files can't be used; `internalError` for those of the state
  ///   directory.
  public init(_ state: StateDirectory, _ files: CertificateFiles? = nil) throws(HomeError) {
    if files == nil { try Self.create(in: state) }
    do throws(HomeError) {
      try self.init(files ?? CertificateFiles(certificate: state.hubCertificate, key: state.hubKey))
    } catch {
      guard files == nil else { throw error }
      throw HomeError(
        .internalError,
        "\(error.message); restore it from a backup, or delete \(state.hubCertificate) to create another identity: clients "
          + "then need new invitations", cause: error.cause)
    }
  }

  /// - Throws: `HomeError` `badArguments` if the files can't be used.
  private init(_ files: CertificateFiles) throws(HomeError) {
    let chain = try Self.load(files.certificate, "certificates") { try NIOSSLCertificate.fromPEMBytes($0) }
    let key = try Self.load(files.key, "a private key without a passphrase") {
      try NIOSSLPrivateKey(bytes: $0, format: .pem) { (_: ([UInt8]) -> Void) in throw NIOSSLError.failedToLoadPrivateKey
      }
    }
    do {
      guard let leaf = chain.first else { throw NIOSSLError.failedToLoadCertificate }
      fingerprint = CertificateFingerprint(of: try leaf.toDERBytes())
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv13
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw HomeError(
        .badArguments, "the key in \(files.key) does not match the certificate in \(files.certificate)", cause: error)
    }
  }

  /// Returns the handler of one connection, the first of its pipeline.
  package func makeHandler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: context) }

  private static func load<R>(
    _ path: String, _ expected: String, _ parse: ([UInt8]) throws -> R
  ) throws(HomeError) -> R {
    let data: Data
    do { data = try Data(contentsOf: URL(filePath: path)) } catch {
      throw HomeError(.badArguments, "\(path) can't be read: \(error.localizedDescription)", cause: error)
    }
    do { return try parse(Array(data)) } catch {
      throw HomeError(.badArguments, "\(path): expected \(expected) in PEM format", cause: error)
    }
  }

  /// Creates a key and a certificate unless they exist. The key is stored first: if only the key exists, it is replaced.
  private static func create(in state: StateDirectory) throws(HomeError) {
    guard try Files.read(state.hubCertificate) == nil else { return }
    var random = SystemRandomSource()
    let key = P256PrivateKey(random: &random)
    let certificate: X509Certificate
    do {
      certificate = try X509Certificate.selfSigned(commonName: "Hearth", key: key, random: &random)
    } catch {
      throw HomeError(.internalError, "the certificate of the hub can't be created: \(error)", cause: error)
    }
    try Files.replace(state.hubKey, withSecret: pem("EC PRIVATE KEY", key.ecPrivateKey))
    try Files.replace(state.hubCertificate, withSecret: pem("CERTIFICATE", certificate.der))
  }

  static func pem(_ label: String, _ der: [UInt8]) -> Data {
    let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return Data("-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n".utf8)
  }
}
