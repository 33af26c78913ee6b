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

  /// Sends a request to a device without the hub. If no hub can be reached, its route has more time.
  /// - Returns: nil if the request is to be sent over the used route.
  func sendDirectly(_ request: HomeRequest) async throws(HomeError) -> HomeReply? {
    guard let member, let active, active < options.routes.count else { return nil }
    switch await member.attempt(request, within: options.selectionTimes.timeout) {
    case .done(let reply): return reply
    case .failed(let error): throw error
    case .notPerformed: return nil
    }
  }

  /// Requests new credentials if the devices refused the present ones, or a device is not among them.
  func renewMembership(after request: HomeRequest, on route: Int) async {
    guard let member, route < options.routes.count, renewal == nil, await member.needsRenewal(after: request),
      renewal == nil
    else { return }
    let (link, timeout) = (routes[route].link, options.timeout)
    renewal = options.machine.task {
      guard let request = try? await member.direct.membership.request else { return }
      let result = await link.send(.certify(request: request), origin: nil, within: timeout) { _ in }
      if case .success(.certified(let credentials)) = result { await member.renew(credentials) }
      await self.endRenewal()
    }
  }

  private func endRenewal() { renewal = nil }

  /// Completes a renewal, and stores the structure of the home.
  func keepMembership() async {
    guard let member else { return }
    await renewal?.value
    if let source, source < options.routes.count { await member.note(box.value.reducer.state) }
  }
}
