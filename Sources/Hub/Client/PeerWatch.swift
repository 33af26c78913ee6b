internal import HomeControl
internal import HomeModel
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Reports the home of a controller in this process as a route. Confined to the event loop of the controller.
final class PeerWatch {
  private let controller: HomeController
  /// Whether the route works only while a device is reachable.
  private let needsDevice: Bool
  private let report: RouteListener
  private var isUp = false
  private var isGivenUp = false
  private var grace: Duration?
  private var toldContacts: [NodeID: Contact] = [:]
  private var heartbeat: RepeatedTask?

  private init(_ controller: HomeController, needsDevice: Bool, _ report: @escaping RouteListener) {
    (self.controller, self.needsDevice, self.report) = (controller, needsDevice, report)
  }

  /// Starts to report, until the home is closed.
  /// - Parameters:
  ///   - heartbeat: the interval of reports of contacts.
  ///   - giveUpAfter: the time after which the route counts as failed if no device was reachable; nil: never.
  static func begin(
    _ controller: HomeController, needsDevice: Bool, heartbeat: Duration, giveUpAfter: Duration? = nil,
    _ report: @escaping RouteListener
  ) {
    controller.eventLoop.execute {
      let watch = PeerWatch(controller, needsDevice: needsDevice, report)
      watch.beginBeating(each: heartbeat)
      controller.view.stream.addListener { event in
        switch event {
        case .update(let update, let reducer): watch.take(update, reducer)
        case .reloaded(let reducer, _, _): watch.reload(reducer)
        case .contacts: break
        case .hub(let state): watch.take(state)
        case .ended:
          watch.end()
          return false
        }
        return true
      }
      watch.look(controller.view.reducer)
      guard let giveUpAfter else { return }
      let bound = NIOLoopBound(watch, eventLoop: controller.eventLoop)
      controller.eventLoop.scheduleTask(in: .nanoseconds(giveUpAfter.nanoseconds)) { bound.value.giveUp() }
    }
  }

  private func settling(_ reducer: HomeReducer) -> DebouncerState {
    grace = reducer.grace
    return controller.settling
  }

  func take(_ update: HomeUpdate, _ reducer: HomeReducer) {
    let wasUp = isUp
    look(reducer)
    guard wasUp, isUp else { return }
    let update = reducer.shown(update)
    if reducer.isRestored, !update.settled.isEmpty { grace = nil }
    let nodes = Set(update.changes.compactMap(\.node))
    if !update.changes.isEmpty {
      let contacts = reducer.contacts.filter { nodes.contains($0.key) }
      toldContacts.merge(contacts) { $1 }
      report(.update(update, contacts))
    }
    if reducer.grace != grace { report(.settling(settling(reducer))) }
  }

  func take(_ state: HubState) { if isUp { report(.hub(state)) } }

  // MARK: From time to time

  /// Contacts and the grace time are not changes; they are reported periodically, as by a hub.
  func beginBeating(each period: Duration) {
    let (bound, loop) = (NIOLoopBound(self, eventLoop: controller.eventLoop), controller.eventLoop)
    let pause = TimeAmount.nanoseconds(period.nanoseconds)
    heartbeat = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in bound.value.beat() }
  }

  private func beat() {
    guard isUp else { return }
    let reducer = controller.view.reducer
    let news = reducer.contacts.filter { toldContacts[$0.key] != $0.value }
    toldContacts = reducer.contacts
    if !news.isEmpty { report(.contacts(news)) }
    if reducer.grace != grace { report(.settling(settling(reducer))) }
  }

  func end() { heartbeat?.cancel() }

  // MARK: Working

  /// Everything may be different.
  func reload(_ reducer: HomeReducer) {
    let wasUp = isUp
    isUp = false
    look(reducer, isKnown: !wasUp)
  }

  /// - Parameter isKnown: whether all is known that happened since the home was told.
  func look(_ reducer: HomeReducer, isKnown: Bool = true) {
    let states = reducer.state.devices.values.map { $0.active?.status.connectivity.connectivityState }
    let works = !needsDevice || states.isEmpty || states.contains(.online) || states.contains(.partiallyOnline)
    if works {
      if !isUp {
        let told = ToldHome(
          state: reducer.shown(reducer.state), contacts: reducer.contacts, settling: settling(reducer),
          hub: controller.view.stream.hubState)
        toldContacts = reducer.contacts
        report(isKnown ? .loaded(told) : .reloaded(told))
      }
    } else if isUp || (!isGivenUp && !states.contains(.unknown)) {
      isGivenUp = true
      report(.down(HomeError(.unreachable, "no device answers")))
    }
    isUp = works
  }

  /// It took too long.
  func giveUp() {
    guard !isUp, !isGivenUp else { return }
    isGivenUp = true
    report(.down(HomeError(.unreachable, "no device answers")))
  }
}
