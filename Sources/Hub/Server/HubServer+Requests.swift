internal import Glibc
internal import HomeAutomation
public import HomeControl
package import HomeModel
internal import HomeStore
internal import Logging
internal import MatterModel
internal import NIOCore
internal import NIOWebSocket
internal import Runtime
internal import WebClient

// The identification of clients, and their commands with the prefix `hearth_`.
extension HubServer: HomeServer {
  private static let revoked = HomeError(.accessDenied, "the invitation was revoked")

  // MARK: Identification

  /// - Throws: `HomeError` `accessDenied` if the client is unknown.
  func identify(_ handshake: HubHandshake, _ token: String?) async throws(HomeError) -> HubHandshake.Client {
    if case .loopback = handshake.kind { return HubHandshake.Client(name: "client", role: .owner) }
    guard let token else {
      guard case .socket = handshake.kind else {
        throw HomeError(.accessDenied, "a hub on the network requires a token")
      }
      guard try await user(of: handshake.channel) == getuid() else {
        throw HomeError(.accessDenied, "the hub belongs to another user; use the --token of an invitation")
      }
      return HubHandshake.Client(name: "client", role: .owner, isSameUser: true)
    }
    if invitations == nil {
      do throws(HomeError) { try await loadInvitations() } catch {
        logger.error("the invitations can't be read", metadata: ["reason": "\(error)"])
        throw HomeError(.internalError, "the hub can't read its invitations; see its log")
      }
    }
    guard let client = invitations?.first(where: { $0.has(token) }) else {
      throw HomeError(.accessDenied, "the hub does not know this token; it may have been revoked")
    }
    return HubHandshake.Client(name: client.name, role: client.role, tokenHash: client.tokenHash)
  }

  private struct Credentials {
    var process: Int32
    var user: UInt32
    var group: UInt32
  }

  /// Returns the user of the peer of a Unix socket.
  private func user(of channel: any Channel) async throws(HomeError) -> UInt32? {
    guard let provider = channel as? any SocketOptionProvider else { return nil }
    do {
      let found: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
        level: .socket, name: .init(rawValue: CInt(SO_PEERCRED)))
      return try await found.get().user
    } catch {
      throw HomeError(.internalError, "the client can't be identified: \(error)", cause: error)
    }
  }

  /// Loads the invitations, and closes the connections of clients whose invitations were revoked, also during their
  /// handshake. A client that revokes an invitation gets the reply before, and no other one.
  package func loadInvitations() async throws(HomeError) {
    defer { closeInvalid() }
    do throws(HomeError) {
      invitations = try await controller.withDatabase { try $0.clients() }
    } catch {
      // One of them may have been revoked, so their clients are disconnected. The next client causes another read.
      invitations = nil
      throw error
    }
  }

  private func closeInvalid() {
    func isValid(_ client: HubHandshake.Client) -> Bool {
      guard let hash = client.tokenHash else { return true }
      return invitations?.contains { $0.tokenHash == hash && $0.role == client.role } ?? false
    }
    for handshake in handshakes.values where !(handshake.client.map(isValid) ?? true) {
      handshake.abort()
    }
    for connection in connections.values {
      connection.isRevoked = !isValid(connection.client)
      guard connection.isRevoked, connection.revocations == 0 else { continue }
      // Without the invitations, clients may connect again once they can be read.
      if invitations == nil { connection.close(.unexpectedServerError) } else { refuse(connection, Self.revoked) }
    }
  }

  private func refuse(_ connection: HubConnection, _ error: HomeError) {
    if connection.isFollowing { send(.refused(error), to: connection) }
    connection.close(.policyViolation)
  }

  // MARK: Commands

  /// Handles a command with the prefix `hearth_`.
  func receivedOwn(_ message: JSONValue, _ id: String, _ connection: HubConnection, _ number: Int) {
    do throws(HomeError) {
      switch try HubMessage(message) {
      case .start(let start): self.start(connection, id, start)
      case .request(let id, let request, let origin, let options):
        receive(.init(id: id, request: request, origin: origin, options: options), connection, number)
      case .cancel(let id): connection.running[id]?.task.cancel()
      }
    } catch { reply(id, .failure(error), to: connection) }
  }

  private func start(_ connection: HubConnection, _ id: String, _ start: HubStart) {
    guard start.version == hubVersion else {
      let error = HomeError(
        .badArguments, "the hub has version \(hubVersion), the client \(start.version); update the older one")
      return reply(id, .failure(error), to: connection)
    }
    guard !connection.isFollowing else {
      return reply(id, .failure(HomeError(.badArguments, "\(HubMessage.start) was sent before")), to: connection)
    }
    if connection.client.tokenHash == nil, let name = try? HomeNames.checked(start.name).name {
      connection.client.name = name
    }
    connection.send(["message_id": .string(id), "result": .null])
    follow(connection, from: start.position)
  }

  private func reply(_ id: String, _ result: Result<HomeReply, HomeError>, to connection: HubConnection) {
    send(.reply(id: id, result), to: connection)
  }

  private func receive(_ request: HubConnection.Request, _ connection: HubConnection, _ number: Int) {
    func refuse(_ code: HomeError.Code, _ text: String) {
      reply(request.id, .failure(HomeError(code, text)), to: connection)
    }
    guard !isEnding else { return reply(request.id, .failure(Self.ending), to: connection) }
    let role = connection.role
    do throws(HomeError) { try request.request.check(role) } catch {
      return reply(request.id, .failure(error), to: connection)
    }
    // An owner of the home is not a user of the machine.
    if case .addDelivery(_, _, let target, _, _) = request.request, case .command = target,
      !connection.client.isSameUser
    {
      return refuse(
        .accessDenied, "only a process of the hub's user may add a command; run `hearth observe` on the hub's machine")
    }
    // It can't be revoked without an invitation.
    if case .certify = request.request, connection.client.tokenHash == nil {
      return refuse(.badArguments, "only a client with an invitation gets a certificate")
    }
    guard connection.ownOutstanding < Limits.ownRequests else {
      return refuse(.refused, "too many concurrent requests")
    }
    guard role == .owner || request.request.count <= Limits.items,
      (request.origin ?? "").utf8.count <= Limits.originSize
    else { return refuse(.badArguments, "the request is too large") }
    // It could not be canceled when the other one ends, nor with the connection.
    guard connection.running[request.id] == nil else {
      return refuse(.badArguments, "a request with this id is running")
    }
    connection.ownOutstanding += 1
    if request.request.isLong {
      let task = controller.options.machine.task { await self.perform(request, of: number) }
      connection.running[request.id] = (task, request.request.isEndless)
    } else if case .samples = request.request {
      connection.reads.add { await self.perform(request, of: number) }
    } else {
      connection.requests.append(request)
      // Tasks may start in any order; requests start in order of arrival.
      controller.options.machine.task { await self.performNext(of: number) }
    }
  }

  private func performNext(of number: Int) async {
    guard let connection = connections[number], !connection.requests.isEmpty else { return }
    await perform(connection.requests.removeFirst(), of: number)
  }

  /// Performs a request and sends the reply, unless the connection is closed.
  private func perform(_ request: HubConnection.Request, of number: Int) async {
    guard let connection = connections[number], !connection.isClosed, !connection.isRevoked else { return }
    let role = connection.role
    let isRevocation = if case .revoke = request.request { true } else { false }
    if isRevocation { connection.revocations += 1 }
    let origin = request.origin.map { "\(connection.id)/\($0)" } ?? connection.id
    let result = await Result { () async throws(HomeError) in
      try await controller.perform(
        request.request, as: role, origin: origin, options: request.options, progress: progress(of: request.id, number))
    }.mapError { redacted($0, for: role) }
    connection.running[request.id] = nil
    connection.ownOutstanding -= 1
    if let text = encode(.reply(id: request.id, result)) {
      let sent = connection.send(text)
      // A part of the log is large.
      if case .samples = request.request { try? await sent.get() }
    }
    if isRevocation {
      connection.revocations -= 1
      closeInvalid()
    }
    noteEnd()
  }

  /// Returns the receiver of the values that precede the reply to a request.
  private func progress(of id: String, _ number: Int) -> HomeProgress.Handler {
    { [self] progress in
      assumeIsolated { server in
        let news = HubNews.progress(HubProgress(id: id, progress: progress))
        guard let connection = server.connections[number], let text = server.encode(news) else { return }
        connection.write(text)
        connection.channel.flush()
      }
    }
  }

  /// Returns the error without the paths of the hub's files, which only owners may know.
  func redacted(_ error: HomeError, for role: HomeRole) -> HomeError {
    guard role < .owner else { return error }
    if error.code == .internalError {
      logger.error("a request failed", metadata: ["reason": "\(error)"])
      return HomeError(.internalError, "the hub can't do this now; see its log", device: error.device)
    }
    var error = error
    error.message = error.message.replacing(controller.options.state.root, with: "…")
    return error
  }

  /// The current status of the hub, with its clients.
  public var status: HubStatus {
    var status = controller.assumeIsolated { $0.status }
    (status.since, status.addresses, status.isHub) = (since, addresses, options.isHub)
    status.fingerprint = identity.map { "\($0.fingerprint)" }
    status.clients = connections.sorted { $0.key < $1.key }.map { _, connection in
      HubStatus.Client(
        name: connection.client.name, role: connection.role, address: connection.address, since: connection.since)
    }
    return status
  }
}
