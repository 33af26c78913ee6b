internal import CloudLink
internal import Glibc
internal import HomeAutomation
package import HomeModel
internal import HomeStore
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// The execution of requests.
extension HomeController {
  package func perform(
    _ request: HomeRequest, origin: String?, progress: @escaping HomeProgress.Handler
  ) async throws(HomeError) -> HomeReply {
    try await perform(request, as: nil, origin: origin, options: RequestOptions.current, progress: progress)
  }

  /// Performs a request of another process.
  /// - Parameters:
  ///   - role: the role of the client, which limits what it may do and see; nil: a caller in this process.
  ///   - origin: the id of the client, which is not notified of its own changes.
  ///   - options: the options of the client, which apply within the limits of its role.
  ///   - progress: receives the values that precede the reply.
  /// - Throws: ``HomeError`` `accessDenied` if the role does not permit the request.
  package func perform(
    _ request: HomeRequest, as role: HomeRole?, origin: String?, options: RequestOptions = RequestOptions(),
    progress: @escaping HomeProgress.Handler
  ) async throws(HomeError) -> HomeReply {
    if let role { try request.check(role) }
    let result = await RequestOptions.$current.withValue(options.limited(to: role)) {
      await Result { () async throws(HomeError) in
        try await carryOut(request, as: role, origin: origin, progress: progress)
      }
    }
    return try result.get()
  }

  private func carryOut(
    _ request: HomeRequest, as role: HomeRole?, origin: String?, progress: @escaping HomeProgress.Handler
  ) async throws(HomeError) -> HomeReply {
    switch request {
    case .edit(let edits): return .edited(results: try await edit(edits, origin: origin))

    case .read(let node, let paths, let isFabricFiltered, let timeout):
      let report = try await read(
        node, paths, isFabricFiltered: isFabricFiltered, timeout: HomeRequest.allowed(timeout, to: role))
      return Self.reply(report, to: paths, role)
    case .write(let node, let writes, let isTimed):
      return .written(statuses: try await write(node, writes, isTimed: isTimed))
    case .invoke(let node, let command, let isTimed):
      return .invoked(response: try await invoke(node, command, isTimed: isTimed))
    case .subscribe(let node, let request):
      let visibility = role.map { RoleVisibility.of($0) }
      try await subscribe(node, request) { news in
        if visibility?.contains(news) ?? true { progress(.subscription(news: news)) }
      }
      return .done
    case .writeDevice(let device, let source, let writes, let isTimed, let timeout):
      try await write(
        writes, isTimed: isTimed, of: device, by: source, timeout: HomeRequest.allowed(timeout, to: role))
      return .done
    case .invokeDevice(let device, let source, let command, let isTimed, let timeout):
      return .invoked(
        response: try await invoke(
          command, isTimed: isTimed, of: device, by: source,
          timeout: HomeRequest.allowed(timeout, to: role)))
    case .openWindow(let node, let duration, let isEnhanced):
      return .window(window: try await openWindow(node, .init(duration: duration, isEnhanced: isEnhanced)))

    case .anchor: return .anchor(anchor: try await withDatabase { try $0.anchor() })
    case .samples(let anchor, let filter, let limit):
      return .samples(result: try await samples(after: anchor, filter, limit: limit, role))

    case .fabric: return .fabric(fabric: fabric)
    case .pair(let request, let name, let room, let trust):
      return try await pair(request, name: name, room: room, trust: trust, origin: origin) {
        progress(.commissioning(step: $0, progress: $1))
      }
    case .remove(let node, let isForced):
      return .removed(removal: try await remove(node, force: isForced, origin: origin))
    case .attestation(let node):
      return .attestation(attestation: dispatcher.value.perform { engine, _ in engine.node(node) }?.attestation)
    case .discover(let query, let time):
      try await discover(query, for: time) { progress(.discovery(news: $0)) }
      return .done

    case .groups: return .groups(groups: groups, deleted: deletedGroups)
    case .createGroup(let id, let name):
      return .group(
        group: try change { engine, _ throws(ControllerError) in try engine.createGroup(id, name: name) })
    case .deleteGroup(let id):
      return .groupDeleted(pending: try await deleteGroup(id))
    case .addMember(let group, let node, let endpoint):
      return .group(
        group: try await changeMembers(node) { engine, timeout, now in
          engine.addMember(node, endpoint: endpoint, to: group, timeout: timeout, at: now)
        })
    case .removeMember(let group, let node, let endpoint):
      return .group(
        group: try await changeMembers(node) { engine, timeout, now in
          engine.removeMember(node, endpoint: endpoint, from: group, timeout: timeout, at: now)
        })
    case .invokeGroup(let group, let cluster, let command, let fields):
      try change { engine, now throws(ControllerError) in
        try engine.invoke(group: group, cluster: cluster, command: command, fields: fields, at: now)
      }
      return .done

    case .cloudAccounts: return .cloudAccounts(accounts: try await withDatabase { try $0.cloudAccounts() })
    case .addCloudAccount(let name, let address, let token):
      let account = try await withDatabase { try $0.addCloudAccount(name, address: address, token: token) }
      await readClouds()
      return .cloudAccount(account: account)
    case .refreshCloudAccount(let name):
      try await cloud(named: name).refresh()
      // Waits until the devices and their states are stored.
      try await flush()
      return .done
    case .removeCloudAccount(let name):
      let (account, devices) = try await removeCloudAccount(name, origin: origin)
      return .cloudAccountRemoved(account: account, devices: devices)

    case .settings: return .settings(settings: try await settings)
    case .changeSettings(let changes): return .settings(settings: try await change(changes))

    case .deliveries: return .deliveries(deliveries: try await withDatabase { try $0.backgroundDeliveries() })
    case .addDelivery(let filter, let frequency, let target, let anchor, let program):
      return .delivery(
        delivery: try await changingDeliveries {
          try $0.add(
            BackgroundDelivery(filter, frequency, to: target, after: try anchor ?? $0.anchor(), program: program))
        })
    case .resumeDelivery(let id):
      return .deliveryResumed(hadFailed: try await changingDeliveries { try $0.resumeBackgroundDelivery(id) })
    case .removeDelivery(let id):
      try await changingDeliveries { try $0.removeBackgroundDelivery(id) }
      return .done

    case .clients: return .clients(clients: try await withDatabase { try $0.clients() })
    case .invite(let name, let role):
      let time = options.machine.unixMicroseconds() / 1_000_000
      let (client, token) = try await withDatabase { try $0.invite(name, role, at: time) }
      try await server?.loadInvitations()
      return .invited(client: client, token: token)
    case .revoke(let name):
      let (client, pending) = try await revoke(name)
      return .revoked(client: client, pending: pending)
    case .certify(let request):
      return .certified(credentials: try await certify([UInt8](request), for: role))
    case .status: return .status(status: await server?.status ?? status)
    case .follow:
      try await follow()
      return .done

    case .simulatedDevices:
      guard let simulation = options.simulation else { return .simulatedDevices(devices: []) }
      let fabric = fabric.id
      return .simulatedDevices(devices: try await inBackground { simulation.devices(on: fabric) })
    case .simulate(let process, let request):
      guard let simulation = options.simulation else { throw HomeError(.notRunning, "no virtual devices are running") }
      return .simulated(reply: try await inBackground { try simulation.send(request, to: process) })
    }
  }

  /// Executes a body that blocks in a thread of its own.
  private func inBackground<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws(HomeError) -> R {
    let worker = options.machine.makeWorker()
    defer { worker.close {} }
    do { return try await worker.submit(on: eventLoop, body).get() } catch { throw HomeError(error) }
  }

  /// Changes the stored deliveries, and starts or stops them accordingly.
  private func changingDeliveries<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) async throws(HomeError) -> R {
    let result = try await withDatabase(body)
    await center?.reloadDeliveries()
    return result
  }

  /// The status of this process, without its server.
  package var status: HubStatus {
    let reducer = dispatcher.value.reducer
    let devices = reducer.shown(reducer.state).devices.values
    var status = HubStatus(
      process: getpid(), isFollowing: isFollowing, since: since, devices: devices.count,
      devicesOnline: devices.count { $0.active?.status.connectivity.connectivityState == .online }, drops: drops)
    status.home = dispatcher.value.writer.database.identity
    status.interfaces = options.interfaces.names
    status.missingAccess = dispatcher.value.perform { engine, _ in engine.nodesWithMissingAccess }.map { name(of: $0) }
    return status
  }

  // MARK: Limits for clients

  /// Removes the attributes that the role may not read, with an error status for each path that was requested without
  /// wildcards.
  private static func reply(
    _ report: ReassembledReport, to paths: [AttributePath], _ role: HomeRole?
  ) -> HomeReply {
    guard let role, role < .owner else {
      return .report(attributes: report.attributes, statuses: report.statuses)
    }
    let visibility = RoleVisibility.of(role)
    let refused = paths.filter { path in path.concrete.map { !visibility.contains($0) } ?? false }
    return .report(
      attributes: report.attributes.filter { visibility.contains($0.path) },
      statuses: report.statuses + refused.map { AttributeStatus($0, status: Status(.unsupportedAccess)) })
  }

  /// The maximum number of samples in a reply to another process, and their approximate maximum number of bytes.
  private static let maximumSamples = 10_000, maximumSampleBytes = 1 << 22

  private func samples(
    after anchor: Anchor?, _ filter: SampleFilter, limit: Int, _ role: HomeRole?
  ) async throws(HomeError) -> AnchoredResult {
    guard let role else { return try await withDatabase { try $0.samples(after: anchor, filter, limit: limit) } }
    let limit = limit == 0 ? Self.maximumSamples : min(limit, Self.maximumSamples)
    let visibility = RoleVisibility.of(role)
    switch try await withDatabase({ try $0.samples(after: anchor, filter, limit: limit) }) {
    case .samples(let samples, let next, let isComplete):
      var (visible, bytes): ([HomeSample], Int) = ([], 0)
      var last: Anchor?
      for sample in samples {
        // The first sample is returned regardless of its size.
        if bytes > Self.maximumSampleBytes, let last { return .samples(visible, next: last, isComplete: false) }
        bytes += sample.change.byteCount
        last = sample.anchor
        if visibility.contains(sample.change) { visible.append(sample) }
      }
      return .samples(visible, next: next, isComplete: isComplete)
    case .reset(let stored):
      var state = HomeState()
      for change in visibility.changes(of: dispatcher.value.reducer.shown(stored.state)) { state.apply(change) }
      return .reset(StoredHome(state: state, contacts: stored.contacts, anchor: stored.anchor))
    }
  }
}

extension RoleVisibility {
  fileprivate func contains(_ news: SubscriptionEvent) -> Bool {
    switch news {
    case .attribute(let path, _): contains(path)
    case .event(let data): contains(data)
    default: true
    }
  }
}
