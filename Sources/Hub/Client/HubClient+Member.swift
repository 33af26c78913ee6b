internal import HomeControl
internal import HomeModel
internal import NIOCore
internal import Runtime

// The own sessions of an invited client with the devices.
extension HubClient {
  func openMember() {
    guard let direct = options.direct else { return }
    let index = routes.count
    let member = MemberLink(direct, of: options, on: eventLoop) { [weak self] in
      self?.assumeIsolated { $0.source == nil ? nil : $0.box.value.reducer.state }
    } report: { [weak self] event in
      guard let self else { return }
      assumeIsolated { $0.handle(event, from: index) }
    }
    self.member = member
    routes.append(Route(link: member, locality: .peer))
  }

  /// Whether the home was received from the own sessions, which have it as a hub last reported it.
  package var usesStoredHome: Bool { source.map { $0 >= options.routes.count } ?? false }

  /// The nearest hub that works; nil if none does.
  private var workingHub: Int? { options.routes.indices.first { selection.works($0) } }

  /// Sends a request to a device without the hub. If no hub works, its route has more time.
  /// - Returns: nil if the request is to be sent over a route.
  func sendDirectly(_ request: HomeRequest) async throws(HomeError) -> HomeReply? {
    guard let member, !isClosed, workingHub != nil else { return nil }
    switch await member.attempt(request, within: options.selectionTimes.timeout) {
    case .done(let reply): return reply
    case .failed(let error): throw error
    case .notPerformed: return nil
    }
  }

  /// Returns the route for a request: the used one, or a hub if this client's own sessions are used. Waits for a hub that is
  /// being connected if the own sessions can't perform the request.
  func route(for request: HomeRequest) async throws(HomeError) -> Int? {
    guard let active, let member, active >= options.routes.count else { return active }
    if let workingHub { return workingHub }
    if await member.isDirect(request) { return active }
    try await wait(options.reachTimeout) { client throws(HomeError) in
      client.workingHub != nil || !client.options.routes.indices.contains { client.selection.isPending($0) }
    }
    return workingHub ?? active
  }

  // MARK: Events of routes

  /// A hub refused this client. Another hub may accept it.
  func noteRefusal(_ error: HomeError, by index: Int) {
    let isAccepted = options.routes.indices.contains { $0 != index && selection.works($0) }
    if error.code == .accessDenied, !isAccepted { member?.refuseNow(error) }
  }

  /// A route works.
  func noteAcceptance(by index: Int) {
    if index < options.routes.count { member?.acceptNow() }
  }

  /// A hub is no longer used: the home that it reported is stored for this client's own sessions.
  func noteHome(from index: Int) {
    if index < options.routes.count, index == source { member?.noteNow(box.value.reducer.state) }
  }

  // MARK: Credentials

  /// Requests new credentials if the devices refused the present ones, or a device is not among them.
  func renewMembership(after request: HomeRequest, on route: Int) async {
    guard let member, route < options.routes.count, renewal == nil, await member.needsRenewal(after: request),
      renewal == nil, !isClosed
    else { return }
    let link = routes[route].link
    renewal = options.machine.task { await self.renew(member, over: link) }
  }

  private func renew(_ member: MemberLink, over link: any RouteLink) async {
    defer { renewal = nil }
    guard let request = try? await member.renewalRequest() else { return }
    // Closing waits for it.
    let result = await link.send(.certify(request: request), origin: nil, within: min(options.timeout, .seconds(3))) {
      _ in
    }
    if case .success(.certified(let credentials)) = result { await member.renew(credentials) }
  }

  /// Completes a renewal, and stores the structure of the home.
  func keepMembership() async {
    guard let member else { return }
    await renewal?.value
    if let source, source < options.routes.count { await member.note(box.value.reducer.state) }
  }
}
