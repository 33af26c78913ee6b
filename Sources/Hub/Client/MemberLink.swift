internal import Foundation
internal import HomeControl
internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The own sessions of an invited client with the devices.
///
/// Requests to devices use it before the hub; see ``attempt(_:within:)``. As a route it is the farthest one: it has the home
/// as the hub last reported it, performs only requests to devices, and follows no device, because a device guarantees three
/// subscriptions for each fabric.
actor MemberLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  /// The result of an attempt.
  enum Attempt {
    case done(HomeReply)
    case failed(HomeError)
    /// The device did not perform the request, which is to be sent over another route.
    case notPerformed
  }

  /// The failures of a node: their number, and the time of the next attempt.
  private struct Failures {
    var count = 0
    var retry = Instant.zero
  }

  /// The time for DNS-SD to find a device. A client away from home waits as long for each command.
  private static let discoveryTime = Duration.milliseconds(500)
  /// The time without a request after which the sessions with a device are closed.
  private static let idleTime = Duration.seconds(2)
  /// The minimum interval of requests for new credentials, in microseconds.
  private static let renewalInterval: Int64 = 60_000_000
  /// The minimum interval of requests for a node that the present credentials don't include, for example because its access
  /// control list is full, in microseconds.
  private static let knownNodeInterval: Int64 = 86_400_000_000

  private(set) var direct: HubClient.DirectAccess
  private let client: HubClient.Options
  nonisolated let eventLoop: any EventLoop
  /// The home of the client; nil before the hub has reported one.
  private let known: @Sendable () -> HomeState?
  private let report: RouteListener
  private(set) var controller: HomeController?
  private var opening: Task<HomeError?, Never>?
  /// Whether the home or the credentials have changed since ``opening`` began.
  private var isStale = false
  /// The controllers in use, and the number of their requests: the present one, and retired ones.
  private var busy: [ObjectIdentifier: (controller: HomeController, requests: Int)] = [:]
  private var failures: [NodeID: Failures] = [:]
  private var uses: [NodeID: UInt64] = [:]
  private var isStarted = false
  private var isLoaded = false
  private var isEnded = false
  private var work: SerialWork
  /// Whether new credentials are required, because a device refused the present ones.
  private(set) var isRefused = false
  /// The time of the last request for new credentials, in microseconds since 1970.
  private var renewalTime: Int64
  /// The error of a hub that does not accept the invitation. Stored, so that it is valid for later processes.
  private var refusal: HomeError? { direct.membership.refusal.map { HomeError(.accessDenied, $0) } }
  private var retry: Scheduled<Void>?

  init(
    _ direct: HubClient.DirectAccess, of client: HubClient.Options, on eventLoop: any EventLoop,
    known: @escaping @Sendable () -> HomeState?, report: @escaping RouteListener
  ) {
    (self.direct, self.client, self.eventLoop, self.known, self.report) = (direct, client, eventLoop, known, report)
    work = SerialWork(client.machine)
    renewalTime = direct.membership.time
  }

  // MARK: Route

  func start() {
    guard !isStarted else { return }
    isStarted = true
    // The home may have changed since the controller was opened.
    retireController()
    load()
  }

  func stop() {
    (isStarted, isLoaded) = (false, false)
    retry?.cancel()
  }

  func end() async {
    isEnded = true
    stop()
    _ = await opening?.value
    retireController()
    // Their requests end as canceled.
    for (controller, _) in exchange(&busy, with: [:]).values { work.add { await controller.close() } }
    while let task = work.takeLast() { await task.value }
  }

  /// Ends the use of the credentials, because a hub refused the invitation.
  nonisolated func refuseNow(_ error: HomeError) { assumeIsolated { $0.refuse(error) } }

  private func refuse(_ error: HomeError) {
    if direct.membership.noteRefusal(error.message) { direct.save(direct.membership) }
    guard isStarted else { return }
    isLoaded = false
    // After the caller that started the route has returned.
    eventLoop.execute { [report] in report(.down(error)) }
  }

  /// Uses the credentials again, because a hub accepted the invitation.
  nonisolated func acceptNow() { assumeIsolated { $0.accept() } }

  private func accept() {
    guard direct.membership.noteRefusal(nil) else { return }
    direct.save(direct.membership)
    if isStarted { load() }
  }

  func reload() {
    // After a failure, the retry loads it.
    guard isStarted, isLoaded else { return }
    isLoaded = false
    load()
  }

  private func load() {
    work.add { await self.loadNow() }
  }

  private func loadNow() async {
    guard isStarted, !isLoaded else { return }
    do throws(HomeError) {
      let controller = try await open()
      let state = await controller.state
      guard isStarted, !isLoaded, refusal == nil else { return }
      isLoaded = true
      report(.loaded(ReceivedHome(state: state.withoutHub, hub: .notAvailable)))
    } catch {
      guard isStarted else { return }
      retry?.cancel()
      retry = schedule(in: client.longestPause) { if $0.isStarted { $0.load() } }
      report(.down(error))
    }
  }

  func send(
    _ request: HomeRequest, origin: String?, within limit: Duration, progress: @escaping HomeProgress.Handler
  ) async -> Result<HomeReply, HomeError> {
    guard request.isAllowed(to: direct.role) else {
      do throws(HomeError) { try request.check(direct.role) } catch { return .failure(error) }
      return .failure(Self.requiresHub)
    }
    guard let (placed, node) = place(request) else { return .failure(Self.requiresHub) }
    let number = beginUse(of: node)
    defer { closeLater(node, number) }
    do throws(HomeError) {
      let controller = try await acquire()
      defer { release(controller) }
      return .success(try await perform(placed, with: controller).reply(to: request))
    } catch {
      return .failure(error)
    }
  }

  private static let requiresHub = HomeError(
    .unreachable,
    "this requires the hub, which can't be reached now; only devices can be read and controlled without it")

  // MARK: Controller

  private func open() async throws(HomeError) -> HomeController {
    while true {
      if isEnded { throw HomeError(.interrupted, "the home was closed") }
      if let refusal { throw refusal }
      if let controller { return controller }
      let task = opening ?? client.machine.task { await self.openNow() }
      opening = task
      if let error = await task.value { throw error }
    }
  }

  private func openNow() async -> HomeError? {
    isStale = false
    defer { opening = nil }
    do throws(HomeError) {
      var options = direct.controller
      options.membership = try direct.membership.fabric
      options.known = known()?.unreached ?? direct.membership.state
      var random = client.machine.makeRandom()
      options.memberNumber = random.next()
      options.discoveryTime = min(options.timeout, Self.discoveryTime)
      let controller = try await HomeController.open(options)
      guard !isStale else {
        work.add { await controller.close() }
        return nil
      }
      self.controller = controller
      failures = [:]
      forwardUpdates(of: controller)
      return nil
    } catch { return error }
  }

  /// Reports the changes of devices that answer.
  private func forwardUpdates(of controller: HomeController) {
    let loop = eventLoop
    controller.eventLoop.execute {
      controller.view.stream.addListener { [weak self] event in
        guard let self else { return false }
        guard case .update(let update, let reducer) = event else { return true }
        let nodes = Set(update.changes.compactMap(\.node))
        let contacts = reducer.contacts.filter { nodes.contains($0.key) }
        loop.execute {
          self.assumeIsolated { if $0.isLoaded, $0.controller === controller { $0.report(.update(update, contacts)) } }
        }
        return true
      }
    }
  }

  /// Closes the controller when its requests are answered.
  private func retireController() {
    isStale = opening != nil
    guard let old = controller else { return }
    controller = nil
    if busy[ObjectIdentifier(old)] == nil { work.add { await old.close() } }
  }

  /// Returns the controller for a request; must be released.
  private func acquire() async throws(HomeError) -> HomeController {
    let controller = try await open()
    busy[ObjectIdentifier(controller), default: (controller, 0)].requests += 1
    return controller
  }

  private func release(_ controller: HomeController) {
    let id = ObjectIdentifier(controller)
    // At the end, all controllers are closed.
    guard let count = busy[id]?.requests else { return }
    busy[id] = count > 1 ? (controller: controller, requests: count - 1) : nil
    if count == 1, self.controller !== controller { work.add { await controller.close() } }
  }

  private func perform(
    _ request: HomeRequest, with controller: HomeController
  ) async throws(HomeError) -> HomeReply {
    try await controller.perform(
      request, as: direct.role.directRole, origin: nil, options: RequestOptions(timeout: client.timeout),
      progress: { _ in })
  }

  // MARK: Requests

  /// Sends a request to a device that this client reaches. A request that the device may have performed is not sent over
  /// another route, unless it only reads.
  /// - Parameter limit: the time to wait for a session, and for values.
  func attempt(_ request: HomeRequest, within limit: Duration) async -> Attempt {
    guard isDirect(request), let (placed, node) = place(request), now >= failures[node]?.retry ?? .zero,
      let controller = try? await acquire()
    else { return .notPerformed }
    let number = beginUse(of: node)
    defer {
      release(controller)
      closeLater(node, number)
    }
    do throws(HomeError) { try await controller.connect(node, within: limit) } catch {
      if error.code == .interrupted { return .failed(error) }
      client.logger.debug("no session with node \(node): \(error)")
      noteFailure(of: node)
      return .notPerformed
    }
    do throws(HomeError) {
      let reply = try await perform(placed.limited(to: limit), with: controller)
      failures[node] = nil
      guard reply.isRefused else { return .done(try reply.reply(to: request)) }
      isRefused = true
      return .notPerformed
    } catch {
      if error.code == .accessDenied, case .invoke = placed {
        isRefused = true
        return .notPerformed
      }
      guard error.code == .unreachable || error.code == .timedOut else { return .failed(error) }
      noteFailure(of: node)
      return request.isRepeatable ? .notPerformed : .failed(error)
    }
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

  /// Leaves the node to the hub for the stable time, twice as long after each further failure, at most 32 times.
  private func noteFailure(of node: NodeID) {
    let count = min((failures[node]?.count ?? 0) + 1, 6)
    failures[node] = Failures(count: count, retry: now + client.stableTime * (1 << (count - 1)))
  }

  private func beginUse(of node: NodeID) -> UInt64 {
    let number = (uses[node] ?? 0) &+ 1
    uses[node] = number
    return number
  }

  /// Closes the sessions with a node after the idle time, unless it is used again.
  private func closeLater(_ node: NodeID, _ number: UInt64) {
    schedule(in: Self.idleTime) { if $0.uses[node] == number { $0.controller?.closeIdleSessions(with: node) } }
  }

  /// Whether a device with an access entry decides as the hub would. An owner sees more through the hub than the tag of
  /// members allows.
  func isDirect(_ request: HomeRequest) -> Bool {
    guard place(request) != nil else { return false }
    guard case .read(_, let paths, _, _) = request else { return true }
    let visibility = RoleVisibility.of(direct.role.directRole)
    return paths.allSatisfy { $0.concrete.map { visibility.contains($0) } ?? (direct.role < .owner) }
  }

  /// Returns a request to a device as one to its node; nil for a request that the node does not allow to this client.
  private func place(_ request: HomeRequest) -> (request: HomeRequest, node: NodeID)? {
    guard request.isAllowed(to: direct.role.directRole),
      let placed = try? request.placed(in: known() ?? direct.membership.state), let node = placed.node,
      direct.membership.credentials.nodes.contains(node)
    else { return nil }
    return (placed, node)
  }

  // MARK: Credentials

  /// Whether new credentials are to be requested after a request that the hub performed.
  func needsRenewal(after request: HomeRequest) -> Bool {
    // The clock may have been set back.
    let elapsed = client.machine.unixMicroseconds().saturatingSubtract(renewalTime)
    func isDue(_ interval: Int64) -> Bool { !(0..<interval).contains(elapsed) }
    if isRefused { return isDue(Self.renewalInterval) }
    guard isDue(Self.renewalInterval), let state = known(), let node = try? request.placed(in: state).node,
      !node.isTemporaryLocal, request.isAllowed(to: direct.role.directRole),
      !direct.membership.credentials.nodes.contains(node)
    else { return false }
    return !direct.membership.knows(node) || isDue(Self.knownNodeInterval)
  }

  /// Returns the signing request for new credentials.
  func renewalRequest() throws(HomeError) -> Data {
    renewalTime = client.machine.unixMicroseconds()
    return try direct.membership.request
  }

  /// Uses new credentials from now on.
  func renew(_ credentials: ClientCredentials) {
    isRefused = false
    direct.membership.renew(credentials, at: client.machine.unixMicroseconds())
    if let state = known() { _ = direct.membership.note(state) }
    retireController()
    direct.save(direct.membership)
    if isStarted { reload() }
  }

  nonisolated func noteNow(_ state: HomeState) { assumeIsolated { $0.note(state) } }

  /// Stores the structure of the home, as the hub reported it, if it has changed.
  func note(_ state: HomeState) {
    if direct.membership.note(state) { direct.save(direct.membership) }
  }
}

extension HomeRequest {
  /// Limits the time of a request that only reads.
  fileprivate func limited(to limit: Duration) -> HomeRequest {
    guard case .read(let node, let paths, let isFabricFiltered, let timeout) = self else { return self }
    return .read(
      node: node, paths: paths, isFabricFiltered: isFabricFiltered, timeout: min(timeout ?? limit, limit))
  }
}

extension HomeReply {
  /// Whether the device refused all parts of the request because of missing access rights.
  fileprivate var isRefused: Bool {
    switch self {
    case .report(let attributes, let statuses):
      // A device omits the attributes that a wildcard path may not read.
      attributes.isEmpty && statuses.allSatisfy { $0.status.code == .unsupportedAccess }
    case .written(let statuses):
      !statuses.isEmpty && statuses.allSatisfy { $0.status.code == .unsupportedAccess }
    default: false
    }
  }
}
