internal import Home
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// A controller of this process as a way to the home. It works as long as any device can be reached by it.
actor PeerLink: RouteLink {
  private let options: HomeController.Options
  private let patience: Duration
  private let eventLoop: any EventLoop
  private let tell: RouteEar
  private var home: Home?
  /// Counts starts: what is heard of an earlier one is void.
  private var turn = 0
  private var opening: Task<Void, Never>?

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
    guard opening == nil else { return }
    turn += 1
    let number = turn
    opening = Task {
      do throws(HomeError) {
        let home = try await Home(options)
        guard number == turn else { return await home.close() }
        self.home = home
        watch(home)
        try await home.follow()
      } catch {
        report(.down(error))
      }
    }
  }

  func stop() {
    turn += 1
    opening = nil
    let home = home
    self.home = nil
    Task { await home?.close() }
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
    isUp = false
    look(reducer)
  }

  func look(_ reducer: HomeReducer) {
    let states = reducer.state.devices.values.map { $0.active?.status.connectivity.connectivityState }
    let works = states.isEmpty || states.contains(.online) || states.contains(.partiallyOnline)
    if works {
      if !isUp { report(.loaded(reducer.state, reducer.contacts)) }
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
