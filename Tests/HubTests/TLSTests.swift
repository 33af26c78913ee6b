import Foundation
import HearthHome
import HomeModel
import HomeStore
import MatterCrypto
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import Hub
@testable import MatterCertificates

/// The TLS identity of a hub, and the clients that recognize it.
@Suite("TLS", .timeLimit(.minutes(10))) struct TLSTests {
  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func createsIdentityOnce() throws {
    let (scratch, other) = (Scratch(), Scratch())
    let first = try HubIdentity(scratch.state)
    #expect(try mode(scratch.state.hubKey) == 0o600 && mode(scratch.state.hubCertificate) == 0o600)
    #expect(try mode(scratch.state.root + "/hub") == 0o700)
    let files = try [scratch.state.hubKey, scratch.state.hubCertificate].map { try Data(contentsOf: URL(filePath: $0)) }
    #expect(try HubIdentity(scratch.state).fingerprint == first.fingerprint)
    #expect(
      try [scratch.state.hubKey, scratch.state.hubCertificate].map { try Data(contentsOf: URL(filePath: $0)) } == files)
    #expect(try HubIdentity(other.state).fingerprint != first.fingerprint)
  }

  @Test func replacesKeyWithoutCertificate() throws {
    let scratch = Scratch()
    let first = try HubIdentity(scratch.state)
    try FileManager.default.removeItem(atPath: scratch.state.hubCertificate)
    #expect(try HubIdentity(scratch.state).fingerprint != first.fingerprint)
  }

  @Test("explains how to replace a key that is missing or damaged", arguments: [nil, "damaged"] as [String?])
  func explainsUnusableKey(_ contents: String?) throws {
    let scratch = Scratch()
    _ = try HubIdentity(scratch.state)
    try FileManager.default.removeItem(atPath: scratch.state.hubKey)
    if let contents { try Files.replace(scratch.state.hubKey, withSecret: Data(contents.utf8)) }
    do throws(HomeError) {
      _ = try HubIdentity(scratch.state)
      Issue.record("accepted a certificate without its key")
    } catch {
      #expect(error.code == .internalError && error.message.hasPrefix(scratch.state.hubKey), "\(error)")
      #expect(error.message.contains("delete \(scratch.state.hubCertificate) "), "\(error)")
    }
  }

  @Test func acceptsOwnCertificate() async throws {
    let (scratch, own) = (Scratch(), Scratch())
    let (files, authority) = try Self.files("localhost", in: own)
    let identity = try HubIdentity(scratch.state, files)
    #expect(!FileManager.default.fileExists(atPath: scratch.state.hubKey))
    let server = try await TLSServer(identity)
    let pinned = HubTrust(fingerprint: identity.fingerprint)
    #expect(try await server.exchange(.host("127.0.0.1", port: server.port), pinned) == "hello")
    // As with the certificate of an authority.
    let trusted = HubTrust(authorities: authority)
    let address = HubAddress.web(host: "localhost", port: server.port, path: "/ws")
    #expect(try await server.exchange(address, trusted) == "hello")
    let otherName = HubAddress.web(host: "hub.example", port: server.port, path: "/ws")
    #expect(await code { _ = try await server.exchange(otherName, trusted) } == .accessDenied)
    let unnamed = HubAddress.web(host: "127.0.0.1", port: server.port, path: "/ws")
    #expect(await code { _ = try await server.exchange(unnamed, trusted) } == .accessDenied)
    // No authority of the system has signed it.
    #expect(await code { _ = try await server.exchange(address, HubTrust()) } == .accessDenied)
    try await server.close()
  }

  @Test func rejectsUnusableCertificates() throws {
    let (scratch, own, other) = (Scratch(), Scratch(), Scratch())
    let (files, others) = (try Self.files("a", in: own).own, try Self.files("b", in: other).own)
    func error(_ certificate: String, _ key: String) -> HomeError? {
      do throws(HomeError) {
        _ = try HubIdentity(scratch.state, .init(certificate: certificate, key: key))
        return nil
      } catch { return error }
    }
    let missing = own.state.root + "/missing.pem"
    let expected = [
      (error(missing, files.key), "\(missing) can't be read: "),
      (error(files.certificate, missing), "\(missing) can't be read: "),
      (error(files.key, files.key), "\(files.key): expected certificates in PEM format"),
      (
        error(files.certificate, files.certificate),
        "\(files.certificate): expected a private key without a passphrase in PEM format"
      ),
      (
        error(files.certificate, others.key),
        "the key in \(others.key) does not match the certificate in \(files.certificate)"
      ),
    ]
    for (error, message) in expected {
      #expect(error?.code == .badArguments && error?.message.hasPrefix(message) == true, "\(String(describing: error))")
    }
  }

  @Test func rejectsOtherFingerprint() async throws {
    let (scratch, other) = (Scratch(), Scratch())
    let server = try await TLSServer(try HubIdentity(scratch.state))
    let address = HubAddress.host("127.0.0.1", port: server.port)
    let wrong = HubTrust(fingerprint: try HubIdentity(other.state).fingerprint)
    #expect(await code { _ = try await server.exchange(address, wrong) } == .accessDenied)
    #expect(await code { _ = try await server.exchange(address, HubTrust()) } == .badArguments)
    #expect(try ClientTLS(.socket("/hub.sock"), wrong) == nil)
    try await server.close()
  }

  @Test func rejectsOldVersions() async throws {
    let scratch = Scratch()
    let server = try await TLSServer(try HubIdentity(scratch.state))
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    #expect(try await server.exchange(configuration) == "hello")
    configuration.maximumTLSVersion = .tlsv12
    await #expect(throws: (any Error).self) { try await server.exchange(configuration) }
    try await server.close()
  }

  @Test func rejectsUnusableAuthorities() {
    let address = HubAddress.web(host: "localhost", port: 1, path: "/ws")
    #expect(throws: HomeError.self) { try ClientTLS(address, HubTrust(authorities: "/nowhere.pem")) }
  }

  /// Stores a certificate for a host, its key, and the authority that signed it.
  private static func files(
    _ name: String, in scratch: Scratch
  ) throws -> (own: HubIdentity.CertificateFiles, authority: String) {
    var random = SystemRandomSource()
    let (authorityKey, key) = (P256PrivateKey(random: &random), P256PrivateKey(random: &random))
    func certificate(
      _ name: String, _ key: P256PrivateKey, _ profile: X509Certificate.Profile
    ) throws -> X509Certificate {
      try X509Certificate.make(
        subject: X509Name(commonName: name), issuer: X509Name(commonName: "Authority"), publicKey: key.publicKey,
        profile: profile, notBefore: 0, serialNumber: CertificateAuthority.serialNumber(random: &random),
        signer: authorityKey, signatures: OpenSSLSignatures())
    }
    let path = scratch.state.root
    let own = HubIdentity.CertificateFiles(certificate: path + "/own.crt", key: path + "/own.key")
    try Files.replace(own.key, withSecret: HubIdentity.pem("EC PRIVATE KEY", key.ecPrivateKey))
    for (file, certificate) in [
      (own.certificate, try certificate(name, key, .device)),
      (path + "/authority.crt", try certificate("Authority", authorityKey, .authority(pathLength: 0))),
    ] {
      try Files.replace(file, withSecret: HubIdentity.pem("CERTIFICATE", certificate.der))
    }
    return (own, path + "/authority.crt")
  }
}

/// A server on loopback that sends everything back.
private struct TLSServer: Sendable {
  private let channel: any Channel

  init(_ identity: HubIdentity) async throws {
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([identity.makeHandler(), EchoHandler()])
        }
      }.bind(host: "127.0.0.1", port: 0).get()
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  func close() async throws { try await channel.close() }

  /// Sends and receives a text as a client of a hub.
  func exchange(_ address: HubAddress, _ trust: HubTrust) async throws -> String {
    let tls = try #require(try ClientTLS(address, trust))
    do {
      return try await exchange { try tls.makeHandler() }
    } catch { throw tls.meaning(of: error) ?? error }
  }

  func exchange(_ configuration: TLSConfiguration) async throws -> String {
    let context = try NIOSSLContext(configuration: configuration)
    return try await exchange { try NIOSSLClientHandler(context: context, serverHostname: nil) }
  }

  private func exchange(_ makeHandler: @escaping @Sendable () throws -> NIOSSLClientHandler) async throws -> String {
    let promise = channel.eventLoop.makePromise(of: String.self)
    let client = try await ClientBootstrap(group: channel.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([try makeHandler(), AnswerHandler(promise)])
        }
      }.connect(host: "127.0.0.1", port: port).get()
    client.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
    let result = await promise.futureResult.result()
    try? await client.close()
    return try result.get()
  }
}

private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Completes a promise with the first answer or error.
private final class AnswerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<String>

  init(_ promise: EventLoopPromise<String>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    promise.succeed(String(buffer: unwrapInboundIn(data)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }
  func channelInactive(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
}

extension EventLoopFuture where Value: Sendable {
  fileprivate func result() async -> Result<Value, any Error> {
    do { return .success(try await get()) } catch { return .failure(error) }
  }
}
