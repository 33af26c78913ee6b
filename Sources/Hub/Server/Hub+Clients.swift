internal import Glibc
internal import Home
internal import Logging
internal import MatterModel
internal import NIOCore
internal import Runtime

// What clients say.
extension Hub {
  func received(_ bytes: [UInt8], from number: Int) {
    guard let connection = connections[number] else { return }
    let message: HubMessage
    do throws(DamagedBlob) {
      message = try HubMessage(bytes)
    } catch {
      return connection.refuse(HomeError(.badArguments, "unreadable message"))
    }
    switch (connection.state, message) {
    case (.closed, _): break
    case (.new, .hello(let hello)): identify(connection, number, hello)
    case (.open(let role), .request(let id, let request, let origin)):
      answer(connection, number, role, HubConnection.Asked(id: id, request: request, origin: origin ?? ""))
    default: connection.refuse(HomeError(.badArguments, "unexpected message"))
    }
  }

  // MARK: Who it is

  private func identify(_ connection: HubConnection, _ number: Int, _ hello: HubHello) {
    guard hello.version == hubWireVersion else {
      return connection.refuse(
        HomeError(
          .badArguments, "the hub speaks version \(hubWireVersion), the client \(hello.version); update the older one"))
    }
    connection.state = .identifying
    controller.options.machine.task { await self.identify(number, hello) }
  }

  private func identify(_ number: Int, _ hello: HubHello) async {
    // On the hub's own loop: nothing else touches the connection meanwhile but its end.
    guard let connection = connections[number] else { return }
    do throws(HomeError) {
      var role: HomeRole
      var looks: Int
      repeat {
        // A token that is revoked while it is looked up is looked up again.
        looks = looksAgain
        role = try await self.role(of: connection, hello)
      } while looks != looksAgain
      guard case .identifying = connection.state else { return }
      welcome(connection, role, from: hello.position)
    } catch {
      guard case .identifying = connection.state else { return }
      connection.refuse(error)
    }
  }

  private func role(of connection: HubConnection, _ hello: HubHello) async throws(HomeError) -> HomeRole {
    if let invited = connection.invited {
      // The handshake may have been long ago: the invitation must still stand.
      guard let client = try await invitedClients().first(where: { $0.tokenHash == invited.tokenHash }) else {
        throw Self.revoked
      }
      (connection.name, connection.tokenHash) = (client.name, client.tokenHash)
      return client.role
    }
    guard connection.isLocal else { throw HomeError(.accessDenied, "the client is not authenticated") }
    guard let token = hello.token else {
      guard try await user(of: connection.channel) == getuid() else {
        throw HomeError(.accessDenied, "the hub belongs to another user; use the --token of an invitation")
      }
      connection.name = (try? HomeNames.checked(hello.name).name) ?? "client"
      return .owner
    }
    guard let client = try await invitedClients().first(where: { $0.has(token) }) else {
      throw HomeError(.accessDenied, "unknown token; it may have been revoked")
    }
    (connection.name, connection.tokenHash) = (client.name, client.tokenHash)
    return client.role
  }

  /// Whose token has an id; nil: nobody's.
  func client(withTokenID id: [UInt8]) async -> InvitedClient? {
    try? await invitedClients().first { SecureHandshake.id(of: $0.tokenHash) == id }
  }

  /// The clients that were invited, read after this was asked for. Strangers can ask: they are read once for all who came
  /// while others waited, and no more often than the pause allows, so that the database has time for what devices say.
  private func invitedClients() async throws(HomeError) -> [InvitedClient] {
    try await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<[InvitedClient], HomeError>, Never>) in
      lookups.append(continuation)
      if !isLookingUp { lookUp() }
    }.get()
  }

  private static let lookupPause = TimeAmount.milliseconds(20)

  private func lookUp() {
    isLookingUp = true
    lookupCount += 1
    let waiting = lookups
    lookups = []
    controller.options.machine.task {
      let result: Result<[InvitedClient], HomeError>
      do throws(HomeError) {
        result = .success(try await self.controller.withDatabase { try $0.clients() })
      } catch { result = .failure(error) }
      for continuation in waiting { continuation.resume(returning: result) }
      await self.rest()
    }
  }

  private func rest() {
    eventLoop.scheduleTask(in: Self.lookupPause) { [self] in
      assumeIsolated { hub in
        hub.isLookingUp = false
        if !hub.lookups.isEmpty { hub.lookUp() }
      }
    }
  }

  /// What the system says of who is at the other end of a socket of this machine.
  private struct Credentials {
    var process: Int32
    var user: UInt32
    var group: UInt32
  }

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

  // MARK: What it wants

  private func answer(_ connection: HubConnection, _ number: Int, _ role: HomeRole, _ asked: HubConnection.Asked) {
    func refuse(_ code: HomeError.Code, _ words: String) {
      connection.send(.reply(asked.id, .failure(HomeError(code, words))))
    }
    guard asked.request.isAllowed(to: role) else {
      let words =
        switch role {
        case .guest: "a guest may look and nothing else"
        case .member, .owner: "a member may control devices, and no more"
        }
      return refuse(.accessDenied, words + "; ask the home's owner")
    }
    guard connection.outstanding < HubConnection.mostRequests else {
      return refuse(.refused, "too many concurrent requests")
    }
    guard role == .owner || asked.request.count <= HubConnection.mostItems,
      asked.origin.utf8.count <= HubConnection.longestOrigin
    else { return refuse(.badArguments, "the request is too large") }
    connection.outstanding += 1
    if case .samples = asked.request {
      connection.reads.append(asked)
      readNext(connection, number)
    } else {
      connection.requests.append(asked)
      // Whichever of these comes first, what was asked first is begun first.
      controller.options.machine.task { await self.performNext(of: number) }
    }
  }

  private func performNext(of number: Int) async {
    guard let connection = connections[number], let role = connection.role, !connection.requests.isEmpty else { return }
    let asked = connection.requests.removeFirst()
    let origin = asked.origin.isEmpty ? connection.id : "\(connection.id)/\(asked.origin)"
    let result = await perform(asked.request, role, origin)
    connection.outstanding -= 1
    if connection.role != nil { connection.send(.reply(asked.id, result)) }
  }

  /// Reads the log for a client, unless it has an answer to take still.
  private func readNext(_ connection: HubConnection, _ number: Int) {
    guard !connection.isReading, !connection.reads.isEmpty else { return }
    connection.isReading = true
    controller.options.machine.task { await self.readLog(for: number) }
  }

  private func readLog(for number: Int) async {
    guard let connection = connections[number], let role = connection.role, !connection.reads.isEmpty else { return }
    let asked = connection.reads.removeFirst()
    let result = await perform(asked.request, role, connection.id)
    connection.outstanding -= 1
    guard connection.role != nil else { return }
    connection.send(.reply(asked.id, result)) { [self] in assumeIsolated { $0.answerWasTaken(by: number) } }
  }

  private func answerWasTaken(by number: Int) {
    guard let connection = connections[number] else { return }
    connection.isReading = false
    readNext(connection, number)
  }

  private func perform(
    _ request: HubRequest, _ role: HomeRole, _ origin: String
  ) async -> Result<HubReply, HomeError> {
    do throws(HomeError) {
      return .success(try await carryOut(request, role, origin))
    } catch { return .failure(told(error, to: role)) }
  }

  /// What went wrong, without what is the owner's alone to know: where the hub keeps its files.
  private func told(_ error: HomeError, to role: HomeRole) -> HomeError {
    guard role < .owner else { return error }
    if error.code == .internalError {
      options.logger.error("a request failed", metadata: ["why": "\(error)"])
      return HomeError(.internalError, "the hub can't do this now; see its log", device: error.device)
    }
    var error = error
    error.message = error.message.replacing(controller.options.state.root, with: "…")
    return error
  }

  private func carryOut(
    _ request: HubRequest, _ role: HomeRole, _ origin: String
  ) async throws(HomeError) -> HubReply {
    switch request {
    case .status: return .status(status)
    case .lookAgain:
      try await lookAgain()
      return .done
    default: return try await request.perform(on: controller, .of(role), origin: origin)
    }
  }

  /// The current status of the hub, with its clients.
  public var status: HubStatus {
    let devices = controller.view.reducer.state.devices.values
    return HubStatus(
      process: getpid(), isFollower: controller.assumeIsolated { $0.isFollower }, since: since,
      devices: devices.count,
      devicesOnline: devices.count { $0.active?.status.connectivity.connectivityState == .online },
      addresses: addresses,
      clients: connections.sorted { $0.key < $1.key }.compactMap { _, connection in
        connection.role.map {
          HubStatus.Client(name: connection.name, role: $0, address: connection.address, since: connection.since)
        }
      }, drops: controller.assumeIsolated { $0.drops })
  }

  private static let revoked = HomeError(.accessDenied, "the invitation was revoked")

  /// Closes the connections of clients whose invitations were revoked, also those that have not sent their hello yet.
  private func lookAgain() async throws(HomeError) {
    looksAgain += 1
    let clients = try await controller.withDatabase { try $0.clients() }
    for connection in connections.values {
      guard let token = connection.tokenHash ?? connection.invited?.tokenHash else { continue }
      if !clients.contains(where: { $0.tokenHash == token && $0.role == connection.role ?? $0.role }) {
        connection.refuse(Self.revoked)
      }
    }
  }
}
