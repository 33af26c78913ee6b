internal import Glibc
package import HomeModel
internal import NIOCore
package import NIOSSL

/// How a client recognizes the hub: by the fingerprint of its certificate at a `host` address, by a certificate authority at
/// a `web` address.
public struct HubTrust: Hashable, Sendable {
  /// The fingerprint of the hub's certificate.
  public var fingerprint: CertificateFingerprint?
  /// A file with the certificates of authorities (PEM); nil for those of the system.
  public var authorities: String?

  public init(fingerprint: CertificateFingerprint? = nil, authorities: String? = nil) {
    (self.fingerprint, self.authorities) = (fingerprint, authorities)
  }
}

/// TLS 1.3 from a client to one address of a hub.
package struct ClientTLS: Sendable {
  private let address: HubAddress
  private let context: NIOSSLContext
  /// The accepted certificate; nil if it has to be signed by an authority for the host.
  private let fingerprint: CertificateFingerprint?
  /// The name of the host; nil for an IP address, which is not sent.
  private let serverName: String?

  /// Returns nil for a local socket, which is not encrypted.
  /// - Throws: `HomeError` `badArguments` if a fingerprint is required, or the file of the authorities can't be used.
  package init?(_ address: HubAddress, _ trust: HubTrust) throws(HomeError) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv13
    switch address {
    case .socket: return nil
    case .host:
      guard let pinned = trust.fingerprint else {
        throw HomeError(
          .badArguments,
          "the hub at \(address) requires the fingerprint of its certificate; join it with an invitation, "
            + "or use --fingerprint")
      }
      // The roots are not used, and those of the system would take time to load.
      configuration.trustRoots = .certificates([])
      // The callback below decides; without this the name of the host would be checked as well.
      configuration.certificateVerification = .noHostnameVerification
      (fingerprint, serverName) = (pinned, nil)
    case .web(let host, _, _):
      if let file = trust.authorities { configuration.trustRoots = .file(file) }
      (fingerprint, serverName) = (nil, Self.isIPAddress(host) ? nil : host)
    }
    self.address = address
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      let file = trust.authorities ?? "the certificate authorities of the system"
      throw HomeError(.badArguments, "\(file) can't be used; expected a file with certificates (PEM)", cause: error)
    }
  }

  /// Returns the handler of one connection, the first of its pipeline.
  package func makeHandler() throws -> NIOSSLClientHandler {
    guard let fingerprint else { return try NIOSSLClientHandler(context: context, serverHostname: serverName) }
    return try NIOSSLClientHandler(context: context, serverHostname: nil) { chain, promise in
      let isPinned = (try? chain.first?.toDERBytes()).map { CertificateFingerprint(of: $0) == fingerprint } ?? false
      promise.succeed(isPinned ? .certificateVerified : .failed)
    }
  }

  /// Returns the meaning of an error of the handler; nil for an error of another handler.
  package func meaning(of error: any Error) -> HomeError? {
    let isWrongCertificate =
      switch error {
      case NIOSSLError.handshakeFailed(.sslError(let stack)):
        stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }
      case let error as NIOSSLExtraError: error == .failedToValidateHostname
      case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate: true
      case is NIOSSLError, is BoringSSLError: false
      default: nil as Bool?
      }
    guard let isWrongCertificate else { return nil }
    guard isWrongCertificate else {
      return HomeError(.unreachable, "no TLS 1.3 connection to the hub at \(address)", cause: error)
    }
    let message =
      fingerprint == nil
      ? "the certificate at \(address) is not valid for this host, or its authority is not trusted; check the address"
      : "the certificate at \(address) is not that of the invitation; if the key of the hub was replaced, join it with "
        + "a new invitation"
    return HomeError(.accessDenied, message, cause: error)
  }

  private static func isIPAddress(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
  }
}
