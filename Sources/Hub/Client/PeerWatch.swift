internal import HomeControl
internal import HomeModel
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Reports the home of a controller in this process as a route. Confined to the event loop of the controller.
final class PeerWatch {
  struct Options {
    /// The interval of reports of contacts.
    var heartbeat: Duration
    /// The time after which the route counts as failed if no device was reachable.
    var deviceTimeout: Duration
    /// The interval at which the devices are checked for silence; nil: never.
    var probeInterval: Duration?
  }

  private let controller: HomeController
  private let options: Options
  private let report: RouteListener
  private var isUp = false
  /// Whether the route was reported as failed before any device was reachable.
  private var hasFailed = false
  private var grace: Duration?
  private var reportedContacts: [NodeID: Contact] = [:]
  /// The number of consecutive checks at which a device was silent.
  private var silentChecks = 0
  /// The time of the last contact when the client left the route because of silence. The home is reported after a later
  /// one.
  private var awaitsContactAfter: Instant?
  private var tasks: [RepeatedTask] = []

  private init(_ controller: HomeController, _ options: Options, _ report: @escaping RouteListener) {
    (self.controller, self.options, self.report) = (controller, options, report)
  }

  /// Starts to report, until the home is closed.
  static func start(
    _ controller: HomeController, _ options: Options, _ report: @escaping RouteListener
  ) -> EventLoopFuture<NIOLoopBound<PeerWatch>> {
    controller.eventLoop.submit {
      let watch = PeerWatch(controller, options, report)
      watch.start()
      return NIOLoopBound(watch, eventLoop: controller.eventLoop)
    }
  }

  private func start() {
    schedule(each: options.heartbeat) { $0.sendHeartbeat() }
    if let interval = options.probeInterval { schedule(each: interval) { $0.checkSilence(interval) } }
    controller.view.stream.addListener { [self] event in
      switch event {
      case .update(let update, let reducer): handle(update, reducer)
      case .reloaded(let reducer, _, _):
        let wasUp = isUp
        isUp = false
        check(reducer, isKnown: !wasUp)
      case .contacts: break
      case .hub(let state): if isUp { report(.hub(state)) }
      case .ended:
        for task in tasks { task.cancel() }
        return false
      }
      return true
    }
    check(controller.view.reducer)
    let bound = NIOLoopBound(self, eventLoop: controller.eventLoop)
    controller.eventLoop.scheduleTask(in: .nanoseconds(options.deviceTimeout.nanoseconds)) { bound.value.fail() }
  }

  private func schedule(each interval: Duration, _ body: @escaping @Sendable (PeerWatch) -> Void) {
    let (bound, loop) = (NIOLoopBound(self, eventLoop: controller.eventLoop), controller.eventLoop)
    let time = TimeAmount.nanoseconds(interval.nanoseconds)
    tasks.append(loop.scheduleRepeatedTask(initialDelay: time, delay: time) { _ in body(bound.value) })
  }

  // MARK: Changes

  private func handle(_ update: HomeUpdate, _ reducer: HomeReducer) {
    let wasUp = isUp
    check(reducer)
    guard wasUp, isUp else { return }
    let nodes = Set(update.changes.compactMap(\.node))
    if !update.changes.isEmpty {
      let contacts = reducer.contacts.filter { nodes.contains($0.key) }
      reportedContacts.merge(contacts) { $1 }
      report(.update(update, contacts))
    }
    if reducer.debouncer.grace != grace { report(.debouncer(debouncer(reducer))) }
  }

  /// Reports contacts and the grace time, which are not changes.
  private func sendHeartbeat() {
    guard isUp else { return }
    let reducer = controller.view.reducer
    let changed = reducer.contacts.filter { reportedContacts[$0.key] != $0.value }
    reportedContacts = reducer.contacts
    if !changed.isEmpty { report(.contacts(changed)) }
    if reducer.debouncer.grace != grace { report(.debouncer(debouncer(reducer))) }
  }

  private func debouncer(_ reducer: HomeReducer) -> DebouncerState {
    grace = reducer.debouncer.grace
    return controller.debouncerState
  }

  // MARK: Working

  /// Reports the home if the route begins to work, and its failure if it ends to work.
  /// - Parameter isKnown: whether all changes since the last report of the home were reported.
  private func check(_ reducer: HomeReducer, isKnown: Bool = true) {
    guard awaitsContactAfter == nil else { return }
    let states = reducer.state.devices.values.map { $0.active?.status.connectivity.connectivityState }
    let works = states.isEmpty || states.contains(.online) || states.contains(.partiallyOnline)
    if works, !isUp {
      isUp = true
      let home = ReceivedHome(
        state: reducer.state, contacts: reducer.contacts, debouncer: debouncer(reducer),
        hub: controller.view.stream.hubState)
      reportedContacts = reducer.contacts
      report(isKnown ? .loaded(home) : .reloaded(home))
    } else if !works {
      if isUp || !states.contains(.unknown) { fail(isUp: isUp) }
      isUp = false
    }
  }

  /// Reports that no device answers.
  /// - Parameter isUp: whether the route worked until now.
  private func fail(isUp wasUp: Bool = false) {
    guard wasUp || !isUp && !hasFailed else { return }
    hasFailed = true
    report(.down(HomeError(.unreachable, "no device answers")))
  }

  // MARK: Silence

  /// Reports for how long a device has not acknowledged a message while no other device sent one. Probes other devices, so that
  /// a single unreachable device is not a failure of the route.
  private func checkSilence(_ interval: Duration) {
    if let last = awaitsContactAfter {
      guard let contact = controller.lastContact, contact > last else { return }
      awaitsContactAfter = nil
      return check(controller.view.reducer)
    }
    guard isUp else { return }
    let silence = controller.silence
    if silence > .zero {
      // Time in which this process was stopped does not count.
      silentChecks += 1
      report(.silent(min(silence, interval * silentChecks)))
      if silence >= interval * 2 { controller.probeSilence() }
    } else if silentChecks > 0 {
      silentChecks = 0
      report(.silent(.zero))
    }
  }

  /// Reports the home again, because the client uses another route: at once, or when a device answers if none does now.
  func reload() {
    guard isUp else { return }
    isUp = false
    if silentChecks > 0 { awaitsContactAfter = controller.lastContact ?? .zero }
    silentChecks = 0
    check(controller.view.reducer)
  }
}
