internal import Home
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A controller of this process as a way to the home. It works as long as any device can be reached by it.
actor PeerLink: RouteLink {
  nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private let options: HomeController.Options
  private let patience: Duration
  private nonisolated let eventLoop: any EventLoop
  private let tell: RouteEar
  private var home: Home?
  /// Counts starts: what is heard of an earlier one is void.
  private var turn = 0
  private var isStarted = false

  /// - Parameters:
  ///   - patience: how long to wait for the first device.
  ///   - eventLoop: of the client, which is told there.
  init(
    _ options: HomeController.Options, patience: Duration, on eventLoop: any EventLoop, tell: @escaping RouteEar
  ) {
    self.options = options
    self.patience = patience
    self.eventLoop = eventLoop
    self.tell = tell
  }

  func start() {
    guard !isStarted else { return }
    isStarted = true
    turn += 1
    let number = turn
    options.machine.task { await self.open(number) }
  }

  private func open(_ number: Int) async {
    guard number == turn else { return }
    do throws(HomeError) {
      let home = try await Home(options)
      guard number == turn else { return await home.close() }
      self.home = home
      watch(home)
      try await home.follow()
    } catch {
      if number == turn { report(.down(error)) }
    }
  }

  func stop() {
    turn += 1
    isStarted = false
    guard let home else { return }
    self.home = nil
    options.machine.task { await home.close() }
  }

  /// It tells the whole each time that it works again.
  func forget() {}

  private func report(_ news: RouteNews) { eventLoop.execute { [tell] in tell(news) } }

  private func watch(_ home: Home) {
    let (loop, tell, patience) = (eventLoop, tell, patience)
    let report: RouteEar = { news in loop.execute { tell(news) } }
    let backend = home.backend
    backend.eventLoop.execute {
      let watch = PeerWatch(report)
      backend.view.observers.addEar { news in
        switch news {
        case .update(let update, let reducer): watch.take(update, reducer)
        case .reloaded(let reducer, _, _): watch.reload(reducer)
        case .hub: break
        case .ended: return false
        }
        return true
      }
      watch.look(backend.view.reducer)
      let bound = NIOLoopBound(watch, eventLoop: backend.eventLoop)
      backend.eventLoop.scheduleTask(in: .nanoseconds(patience.nanoseconds)) { bound.value.giveUp() }
    }
  }

  func send(_ request: HubRequest, origin: String?) async -> Result<HubReply, HomeError> {
    guard let home else { return .failure(HomeError(.unreachable, "the home is not open")) }
    do throws(HomeError) {
      return .success(try await request.perform(on: home.backend, .of(.owner), origin: origin))
    } catch { return .failure(error) }
  }
}

/// Whether a controller reaches anything. Confined to its event loop.
private final class PeerWatch {
  private let report: RouteEar
  private var isUp = false
  private var isGivenUp = false

  init(_ report: @escaping RouteEar) { self.report = report }

  func take(_ update: HomeUpdate, _ reducer: HomeReducer) {
    let wasUp = isUp
    look(reducer)
    guard wasUp, isUp else { return }
    let nodes = Set(update.changes.compactMap(\.node))
    report(.update(update, reducer.contacts.filter { nodes.contains($0.key) }))
  }

  /// Everything may be different.
  func reload(_ reducer: HomeReducer) {
    let wasUp = isUp
    isUp = false
    look(reducer, isKnown: !wasUp)
  }

  /// - Parameter isKnown: whether all is known that happened since the home was told.
  func look(_ reducer: HomeReducer, isKnown: Bool = true) {
    let states = reducer.state.devices.values.map { $0.active?.status.connectivity.connectivityState }
    let works = states.isEmpty || states.contains(.online) || states.contains(.partiallyOnline)
    if works {
      if !isUp {
        let (state, contacts) = (reducer.state, reducer.contacts)
        report(isKnown ? .loaded(state, contacts) : .reloaded(state, contacts))
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
