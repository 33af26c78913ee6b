internal import HomeAutomation
public import HomeModel
package import HomeStore
internal import Logging
internal import MatterModel
internal import NIOCore
internal import Runtime

// Several processes may have one home open. One of them follows the devices and writes down what they say; the others read
// what it wrote. When it ends, the next takes over.
extension HomeController {
  /// How often it is looked whether the process that follows the devices has ended.
  private static let pollInterval = TimeAmount.milliseconds(250)
  /// A node may take a report that is not acknowledged for so long for lost, and us with it: five transmissions with 300 ms before
  /// the first repetition. Matter Core § 4.12.2.1.
  private static let longestStandstill = Duration.seconds(3)

  /// Follows all devices, or, while another process follows them, reads its updates from the log.
  public func follow() async throws(HomeError) {
    guard center == nil else { return }
    let keeper = edge.value.keeper
    let center = ObserverCenter(
      keeper.database, after: keeper.anchor, on: eventLoop, keeper.worker, retention: .init(), machine: options.machine,
      onForeignWrite: { [weak self] in
        await self?.readSettings()
        if await self?.isFollower == true { await self?.readClouds() }
        await self?.noteWishes()
      }
    ) { [weak self] in
      guard let self else { return $0.next }
      return try await take($0)
    }
    self.center = center
    try await center.start()
    keepContacts()
    try await takeOver()
    edge.value.observers.tell(hubState)
  }

  /// Whether this process follows the devices.
  public var isFollower: Bool { follower != nil }

  /// The process that follows the devices, as far as this process knows.
  public var hubState: HubState { isFollower ? .thisProcess : center == nil ? .notAvailable : .connected }

  /// Begins to look from time to time who follows the devices, and to say so where we do.
  func watchFollower() {
    guard options.machine.sharesFiles else { return }
    polling = eventLoop.scheduleRepeatedTask(initialDelay: Self.pollInterval, delay: Self.pollInterval) {
      [weak self] _ in
      guard let self else { return }
      // On the loop that the actor lives on.
      assumeIsolated {
        $0.noteClock()
        $0.noteStandstill()
        $0.lookForFollower()
        if $0.looks % 8 == 0 { $0.follower?.refresh() }
      }
      let isToAdopt = assumeIsolated { controller in
        controller.looks += 1
        return controller.looks % 4 == 0
      }
      options.machine.task {
        try? await self.takeOver()
        await self.readContacts()
        if isToAdopt {
          await self.adoptIfDue()
          await self.followDeletedGroups()
        }
      }
    }
  }

  /// This process may have been suspended, or the machine have slept: it is found between two looks.
  private func noteStandstill() {
    let now = HostClock.sinceBoot()
    defer { lookedAt = now }
    guard now - lookedAt > Self.longestStandstill else { return }
    options.logger.info("did not run for a while", metadata: ["seconds": "\((now - lookedAt).components.seconds)"])
    edge.value.host.perform { engine, now in engine.awake(at: now) }
  }

  /// Whoever does not follow the devices leaves what they say to the process that does, as long as there is one.
  func lookForFollower() {
    guard center == nil, options.machine.sharesFiles else { return }
    let isFollowed = FollowerLock.isAlive(options.state, at: HostClock.unixMicroseconds())
    edge.value.host.perform { engine, now in engine.setPassive(isFollowed, at: now) }
  }

  /// Follows the devices if nobody does any more.
  private func takeOver() async throws(HomeError) {
    guard let center, !isTakingOver else { return }
    isTakingOver = true
    defer { isTakingOver = false }
    // Who is to be woken is known before anything happens that they are woken for.
    try await takeObservers(center)
    guard follower == nil else { return }
    let isShared = options.machine.sharesFiles
    guard let lock = isShared ? try FollowerLock.acquire(options.state) : .undisputed else {
      let isFollowed = FollowerLock.isAlive(options.state, at: HostClock.unixMicroseconds())
      edge.value.host.perform { engine, now in engine.setPassive(isFollowed, at: now) }
      return
    }
    // What the one before us wrote last comes before what the devices tell us.
    try await center.catchUp()
    guard self.center === center, !edge.value.host.isStopped else { return }
    follower = lock
    options.machine.task { await center.keepLogShort() }
    edge.value.host.perform { engine, now in
      engine.follow(at: now)
      engine.setPassive(false, at: now)
    }
    edge.value.observers.tell(hubState)
    await readClouds()
  }

  /// Wakes observers from now on, if nobody does any more.
  private func takeObservers(_ center: ObserverCenter) async throws(HomeError) {
    guard options.following.wakesObservers, waker == nil else { return }
    let isShared = options.machine.sharesFiles
    guard let lock = isShared ? try FollowerLock.acquire(options.state.home + "/waker") : .undisputed else { return }
    try await center.deliverInBackground()
    if self.center === center, !edge.value.host.isStopped { waker = lock }
  }

  // MARK: Others

  /// Takes in what others wrote.
  /// - Returns: the place in the log behind it.
  private func take(_ others: OtherUpdates) async throws(HomeError) -> Anchor {
    guard !others.mustReload else { return try await reload() }
    var hasNodes = false
    for logged in others.updates {
      edge.value.takeOwn(upTo: logged.anchor)
      edge.value.take(.update(logged.update))
      hasNodes =
        hasNodes
        || logged.update.changes.contains { change in
          switch change {
          case .sourceAdded, .sourceRemoved: true
          default: false
          }
        }
    }
    edge.value.takeOwn(upTo: others.next)
    edge.value.keeper.know(upTo: others.next)
    if hasNodes { await adopt() }
    return others.next
  }

  /// The log does not go back to where we were: takes the home as the database has it.
  /// - Returns: the place in the log that it is at.
  private func reload() async throws(HomeError) -> Anchor {
    edge.value.beginReload()
    let stored: StoredHome
    do {
      stored = try await edge.value.keeper.perform { try $0.load() }.get()
    } catch {
      edge.value.abandonReload()
      throw HomeError(error)
    }
    edge.value.reload(stored)
    await adopt()
    return stored.anchor
  }

  /// What of these devices has not answered by now is away, until it does.
  package func stopWaiting(for devices: Set<String>) {
    edge.value.host.perform { engine, now in
      let nodes = devices.compactMap { engine.reducer.state.devices[$0]?.active?.id.node }
      engine.stopWaiting(for: Set(nodes).sorted(), at: now)
    }
  }

  // MARK: Changing

  /// Changes names, rooms or devices, and stores that before it counts.
  /// - Parameters:
  ///   - origin: the client whose call it is; it is not told of its own changes.
  ///   - body: gets the home without its values, says what is to be changed and what it has to say itself.
  package func change<R: Sendable>(
    origin: String? = nil,
    _ body: @escaping @Sendable (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) async throws(HomeError) -> R {
    try await commit(origin: origin) { database, origin, time throws(HomeError) in
      try database.change(origin: origin, at: time, body)
    }
  }

  /// - Parameter body: changes the home in the database: gets who does, and when.
  package func commit<R: Sendable>(
    origin: String? = nil,
    _ body:
      @escaping @Sendable (HomeDatabase, String?, Int64) throws(HomeError) -> (
        update: HomeUpdate, anchor: Anchor, result: R
      )
  ) async throws(HomeError) -> R {
    noteClock()
    let time = options.machine.unixMicroseconds()
    let origin = origin ?? options.following.origin
    let edge = edge
    let done: (anchor: Anchor, result: R)
    do {
      done = try await edge.value.keeper.perform { try body($0, origin, time) }
        .map { update, anchor, result in
          // At once: what is read of the log from now on is put into order with it.
          edge.value.written(update, at: anchor)
          return (anchor, result)
        }.get()
    } catch {
      throw HomeError(error)
    }
    // What others wrote before it comes before it. Where that can't be read now, both are taken in later.
    do {
      try await center?.catchUp()
      edge.value.takeOwn(upTo: done.anchor)
    } catch {
      options.logger.warning("what was changed just now is shown later, since the log can't be read: \(error)")
    }
    return done.result
  }

  /// Waits until everything that happened so far is in the database.
  package func flush() async throws(HomeError) {
    do { try await edge.value.keeper.perform { _ in }.get() } catch { throw HomeError(error) }
  }
}
