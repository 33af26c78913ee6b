package import Foundation
package import HomeControl
package import HomeModel
package import HomeStore
internal import MatterCertificates
package import MatterController
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
package import Runtime

/// The key and certificates of an invited client for its own sessions with the devices, and the home as its hub last reported
/// it.
package struct ClientMembership: Hashable, Sendable, Codable {
  /// The private key of the operational certificate.
  private var key: Data
  /// The identity of the home.
  package let identity: String
  package private(set) var credentials: ClientCredentials
  /// The names of the interfaces on which the devices are; empty: loopback.
  package var interfaces: [String]
  /// The time of the credentials, in microseconds since 1970.
  package private(set) var time: Int64
  /// The changes that make the home of an empty one, with the values of global attributes only.
  private var home: [HomeChange]
  /// The message of a hub that does not accept the invitation; nil after a hub has accepted it.
  package private(set) var refusal: String?

  private init(
    _ key: P256PrivateKey, of identity: String, _ credentials: ClientCredentials, _ interfaces: [String],
    at time: Int64
  ) {
    (self.key, self.identity, self.credentials) = (Data(key.scalar), identity, credentials)
    (self.interfaces, self.time) = (interfaces, time)
    home = []
  }

  /// Creates a key, and requests a certificate for it.
  /// - Parameters:
  ///   - backend: the home, opened through its hub with an invitation.
  ///   - identity: the identity of the home, from the invitation.
  /// - Throws: `HomeError` if the hub issues none.
  package static func requested(
    from backend: any HomeBackend, of identity: String, interfaces: [String]
  ) async throws(HomeError) -> ClientMembership {
    var membership = try await requested(backend.machine, of: identity, interfaces: interfaces) {
      request throws(HomeError) in
      try await backend.request(.certify(request: request)) {
        if case .certified(let credentials) = $0 { credentials } else { nil }
      }
    }
    _ = membership.note(await backend.state)
    return membership
  }

  /// Creates a key, and requests a certificate for it.
  /// - Parameter issue: receives the PKCS#10 signing request (DER).
  package static func requested(
    _ machine: any Machine, of identity: String, interfaces: [String],
    _ issue: (Data) async throws(HomeError) -> ClientCredentials
  ) async throws(HomeError) -> ClientMembership {
    var random = machine.makeRandom()
    let key = P256PrivateKey(random: &random)
    let credentials = try await issue(try request(key))
    let membership = ClientMembership(key, of: identity, credentials, interfaces, at: machine.unixMicroseconds())
    _ = try membership.fabric
    return membership
  }

  private static func request(_ key: P256PrivateKey) throws(HomeError) -> Data {
    do { return Data(try CertificateSigningRequest(key: key).der) } catch {
      throw HomeError(.internalError, "the certificate can't be requested: \(error)", cause: error)
    }
  }

  /// A signing request with the key of the present certificate.
  var request: Data {
    get throws(HomeError) {
      let key: P256PrivateKey
      do { key = try P256PrivateKey(scalar: [UInt8](self.key)) } catch { throw Self.damaged(error) }
      return try Self.request(key)
    }
  }

  /// Uses new credentials with the same key.
  mutating func renew(_ credentials: ClientCredentials, at time: Int64) {
    // Later than the former ones, also if the clock was set back.
    (self.credentials, self.time) = (credentials, max(time, self.time.saturatingAdd(1)))
  }

  /// Notes that a hub does not accept the invitation, or, with nil, that a hub accepts it.
  /// - Returns: whether this is a change.
  mutating func noteRefusal(_ message: String?) -> Bool {
    // Another text does not matter.
    guard (refusal == nil) != (message == nil) else { return false }
    refusal = message
    return true
  }

  /// The membership of a controller.
  /// - Throws: `HomeError` `internalError` if the certificates are damaged or don't belong to the key.
  package var fabric: FabricMembership {
    get throws(HomeError) {
      do {
        return try FabricMembership(
          rootCertificate: [UInt8](credentials.root),
          intermediateCertificate: credentials.intermediate.map { [UInt8]($0) },
          certificate: [UInt8](credentials.certificate), key: [UInt8](key), epochKey: [UInt8](credentials.epochKey),
          nodes: credentials.nodes)
      } catch { throw Self.damaged(error) }
    }
  }

  private static func damaged(_ error: any Error) -> HomeError {
    HomeError(.internalError, "the certificate of this client is damaged: \(error); join the hub again", cause: error)
  }

  // MARK: The home

  /// Whether the home had the node when its structure was last noted.
  func knows(_ node: NodeID) -> Bool { home.contains { $0.node == node } }

  /// The home as the hub last reported it. Its devices have not been reached yet.
  package var state: HomeState {
    var state = HomeState()
    for change in home { state.apply(change) }
    return state.unreached
  }

  /// Notes the structure of the home.
  /// - Returns: whether it has changed.
  mutating func note(_ state: HomeState) -> Bool {
    let changes = HomeState().changes(to: state.unreached).filter {
      if case .attribute(_, let path, _) = $0 { path.attribute.rawValue >= 0xFFF8 } else { true }
    }
    guard changes != home else { return false }
    home = changes
    return true
  }

  // MARK: Storage

  /// Returns the stored membership of a client; nil if none is stored.
  /// - Throws: `HomeError` `internalError` if it is damaged.
  package static func stored(in state: StateDirectory) throws(HomeError) -> ClientMembership? {
    guard let data = try Files.read(state.membership) else { return nil }
    do { return try JSONDecoder().decode(ClientMembership.self, from: data) } catch {
      throw HomeError(.internalError, "\(state.membership) is damaged; join the hub again", cause: error)
    }
  }

  /// Stores changes, unless the stored membership was removed, belongs to another key, or has later credentials, because
  /// another process may have changed it.
  package func update(in state: StateDirectory) throws(HomeError) {
    try Files.locked(state.hub) { () throws(HomeError) in
      guard let stored = try Self.stored(in: state), stored.key == key, stored.identity == identity,
        stored.time <= time
      else { return }
      try store(in: state)
    }
  }

  /// Stores it in place of another one, accessible by the user only.
  package func store(in state: StateDirectory) throws(HomeError) {
    let data: Data
    do { data = try JSONEncoder().encode(self) } catch { throw Self.damaged(error) }
    try Files.replace(state.membership, withSecret: data)
  }
}

extension HomeState {
  /// The home without the connectivity of its devices.
  var unreached: HomeState {
    var state = self
    for device in orderedDevices {
      for source in device.sources { state.apply(.connectivity(source.id, .unknown)) }
    }
    return state
  }

  /// The home with the reason why the connectivity of some devices is unknown: no hub follows them.
  var withoutHub: HomeState {
    var state = self
    let reason = SourceStatus(.unknown, reason: .hubUnreachable)
    for source in orderedDevices.flatMap(\.sources) where source.status.connectivity == .unknown {
      state.apply(.connectivity(source.id, reason))
    }
    return state
  }
}
