package import HomeModel
internal import MatterClusters
package import MatterModel

/// Who wants to know of a home, and of what in it. Confined to the event loop.
///
/// What an update touches is worked out once for all; then each observer that it is for gets it into its own queue.
package final class HomeObservers {
  private var number = 0
  private var structures = ObservedCollection<Structure>()
  private var rooms = ObservedCollection<Room>()
  private var devices = ObservedCollection<HomeDevice>()
  private var reports: [String: Readers] = [:]
  /// The devices as they were told last, as long as anybody follows them.
  private var told: [String: HomeDevice] = [:]
  package private(set) var isEnded = false
  package private(set) var hubState = HubState.notAvailable
  private var ears: [Int: (News) -> Bool] = [:]
  /// Makes the value of a device.
  package var make: ((DeviceEntry, HomeReducer) -> HomeDevice)?

  /// Runs what wakes those who wait for reports.
  package var wake: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }

  /// Those who are told of a device.
  private struct Readers {
    let broadcast: Broadcast<DeviceReport>
    var all: Set<ObjectIdentifier> = []
  }

  package init() {}

  // MARK: Beginning

  private func next() -> Int {
    number += 1
    return number
  }

  /// What clients are told at once.
  package enum News {
    case update(HomeUpdate, HomeReducer)
    /// Everything may be different.
    case reloaded(HomeReducer, from: HomeReducer, at: Int64)
    case hub(HubState)
    /// Devices were heard: that is no change.
    case contacts([NodeID: Contact])
    /// The home is closed: nothing follows.
    case ended
  }

  /// - Parameter ear: is called at once with each of the news, on the event loop; says whether it wants to be called again.
  /// - Returns: the number to end it by.
  @discardableResult
  package func addEar(_ ear: @escaping (News) -> Bool) -> Int {
    let id = next()
    if isEnded { _ = ear(.ended) } else { ears[id] = ear }
    return id
  }

  private func tell(_ news: News) {
    // The first comes first: a run of a simulation is the same each time.
    for (id, ear) in ears.sorted(by: { $0.key < $1.key }) where !ear(news) { ears[id] = nil }
  }

  /// Somebody else follows the devices now.
  package func tell(_ hub: HubState) {
    guard hub != hubState else { return }
    hubState = hub
    tell(.hub(hub))
  }

  /// Devices were heard.
  package func tell(_ contacts: [NodeID: Contact]) { if !ears.isEmpty, !contacts.isEmpty { tell(.contacts(contacts)) } }

  package func removeEar(_ id: Int) { ears[id] = nil }

  package func add(_ observer: ObservedCollection<Structure>.Observer, _ reducer: HomeReducer) -> Int {
    add(observer, to: \.structures, reducer.state.structures)
  }

  package func add(_ observer: ObservedCollection<Room>.Observer, _ reducer: HomeReducer) -> Int {
    add(observer, to: \.rooms, reducer.state.rooms)
  }

  package func add(_ observer: ObservedCollection<HomeDevice>.Observer, _ reducer: HomeReducer) -> Int {
    if devices.isEmpty { told = all(reducer) }
    return add(observer, to: \.devices, ordered(reducer))
  }

  private func add<Item>(
    _ observer: ObservedCollection<Item>.Observer,
    to list: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Item>>, _ now: [Item]
  ) -> Int {
    let id = next()
    if isEnded { observer.finish() } else { self[keyPath: list].add(observer, id, now) }
    return id
  }

  /// - Parameter place: where the reader waits.
  func addReports(
    _ reader: DeviceReports.Reader, at place: DeviceReports.Place, of device: String, _ reducer: HomeReducer
  ) {
    guard !isEnded, let entry = reducer.state.devices[device], let value = make?(entry, reducer) else {
      return place.fill(.end)
    }
    var readers = reports[device] ?? Readers(broadcast: Broadcast(wake: wake))
    readers.broadcast.attach(place, with: DeviceReport(device: value, changed: []))
    readers.all.insert(ObjectIdentifier(reader))
    reports[device] = readers
  }

  func removeReports(_ reader: DeviceReports.Reader, of device: String) {
    reports[device]?.all.remove(ObjectIdentifier(reader))
    if reports[device]?.all.isEmpty == true { reports[device] = nil }
  }

  package func remove(_ id: Int) {
    structures.remove(id)
    rooms.remove(id)
    devices.remove(id)
    if devices.isEmpty { told = [:] }
  }

  /// Ends all sequences.
  package func end() {
    isEnded = true
    tell(.ended)
    // In an order that is the same in each process: whoever waits goes on in it.
    for (_, readers) in reports.sorted(by: { $0.key < $1.key }) { readers.broadcast.finish() }
    structures.end()
    rooms.end()
    devices.end()
    ears = [:]
    reports = [:]
    told = [:]
    make = nil
  }

  // MARK: Telling

  package func tell(_ update: HomeUpdate, _ reducer: HomeReducer) {
    tell(.update(update, reducer))
    if structures.isEmpty && rooms.isEmpty && devices.isEmpty && reports.isEmpty { return }
    let touched = Touched(update, reducer.state, told, followed: reports.keys)
    if touched.structures { structures.tell(reducer.state.structures) }
    if touched.rooms { rooms.tell(reducer.state.rooms) }
    if !devices.isEmpty { tellDevices(touched.devices, reducer) }
    for (id, changed) in touched.reports.sorted(by: { $0.key < $1.key }) { tellReport(of: id, changed, reducer) }
  }

  /// Everything may be different.
  /// - Parameter time: now, in microseconds since 1970.
  package func reload(_ reducer: HomeReducer, from old: HomeReducer, at time: Int64) {
    tell(.reloaded(reducer, from: old, at: time))
    structures.tell(reducer.state.structures)
    rooms.tell(reducer.state.rooms)
    if !devices.isEmpty {
      let gone = told.keys.filter { reducer.state.devices[$0] == nil }.sorted()
      tellDevices(gone + reducer.state.orderedDevices.map(\.id), reducer)
    }
    for id in reports.keys.sorted() {
      let nodes = Set([old, reducer].compactMap { $0.state.devices[id]?.active?.id.node })
      var changed: Set<ClusterPath> = []
      for node in nodes {
        let (before, after) = (old.state.values[node] ?? NodeValues(), reducer.state.values[node] ?? NodeValues())
        changed.formUnion(after.clusters(differingFrom: before))
      }
      tellReport(of: id, changed, reducer)
    }
  }

  private func tellDevices(_ touched: [String], _ reducer: HomeReducer) {
    var changes: [CollectionChange<HomeDevice>] = []
    for id in touched {
      let new = reducer.state.devices[id].flatMap { make?($0, reducer) }
      switch (told[id], new) {
      case (nil, let new?): changes.append(.added(new))
      case (let old?, let new?) where old != new:
        changes.append(.updated(old: old, new: new))
      case (let old?, nil): changes.append(.removed(old))
      default: continue
      }
      told[id] = new
    }
    guard !changes.isEmpty else { return }
    devices.tell(changes) { self.ordered(reducer) }
  }

  private func tellReport(of device: String, _ changed: Set<ClusterPath>, _ reducer: HomeReducer) {
    guard let broadcast = reports[device]?.broadcast else { return }
    guard let value = reducer.state.devices[device].flatMap({ make?($0, reducer) }) else {
      broadcast.finish()
      reports[device] = nil
      return
    }
    broadcast.send(DeviceReport(device: value, changed: changed))
  }

  private func all(_ reducer: HomeReducer) -> [String: HomeDevice] {
    reducer.state.devices.compactMapValues { make?($0, reducer) }
  }

  private func ordered(_ reducer: HomeReducer) -> [HomeDevice] {
    reducer.state.orderedDevices.compactMap { make?($0, reducer) }
  }
}

/// The observers of one collection, and the collection as it was told last.
package struct ObservedCollection<Item: Identifiable & Sendable> {
  /// Whoever observes wants the whole or the changes.
  package enum Observer {
    case snapshots(AsyncStream<[Item]>.Continuation)
    case changes(AsyncStream<CollectionChange<Item>>.Continuation)

    package func finish() {
      switch self {
      case .snapshots(let continuation): continuation.finish()
      case .changes(let continuation): continuation.finish()
      }
    }
  }

  private var observers: [Int: Observer] = [:]
  private var last: [Item] = []

  package var isEmpty: Bool { observers.isEmpty }

  package mutating func add(_ observer: Observer, _ id: Int, _ now: [Item]) {
    if observers.isEmpty { last = now }
    observers[id] = observer
    if case .snapshots(let continuation) = observer { continuation.yield(now) }
  }

  package mutating func remove(_ id: Int) { observers[id] = nil }

  package mutating func end() {
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer.finish() }
    observers = [:]
  }

  /// Tells changes that are known, and the whole where somebody wants it.
  package mutating func tell(_ changes: [CollectionChange<Item>], whole: () -> [Item]) {
    var all: [Item]?
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) {
      switch observer {
      case .changes(let continuation): for change in changes { continuation.yield(change) }
      case .snapshots(let continuation):
        let now = all ?? whole()
        all = now
        continuation.yield(now)
      }
    }
  }
}

extension ObservedCollection where Item: Equatable {
  /// Tells what is another than it was.
  package mutating func tell(_ now: [Item]) {
    guard now != last else { return }
    var changes: [CollectionChange<Item>] = []
    for item in last where !now.contains(where: { $0.id == item.id }) { changes.append(.removed(item)) }
    for item in now {
      guard let old = last.first(where: { $0.id == item.id }) else {
        changes.append(.added(item))
        continue
      }
      if old != item { changes.append(.updated(old: old, new: item)) }
    }
    last = now
    tell(changes) { now }
  }
}

/// What an update touches.
private struct Touched {
  var structures = false
  var rooms = false
  /// Devices of which other things than attributes may be different, in the order of the changes.
  var devices: [String] = []
  /// Devices that something is to be reported of, with the clusters whose attributes changed.
  var reports: [String: Set<ClusterPath>] = [:]

  init(
    _ update: HomeUpdate, _ state: HomeState, _ told: [String: HomeDevice], followed: some Collection<String>
  ) {
    var seen: Set<String> = []
    func touch(_ id: String?) -> String? {
      guard let id else { return nil }
      return seen.insert(id).inserted ? id : nil
    }
    for change in update.changes {
      var device: String?
      switch change {
      case .structureAdded, .structureRenamed, .structureRemoved: structures = true
      case .roomAdded, .roomRenamed, .roomRemoved: rooms = true
      case .deviceAdded(let id, _, _, _), .deviceRemoved(let id), .deviceRenamed(let id, _), .deviceMoved(let id, _),
        .sourceAdded(_, let id):
        device = id
      case .sourceRemoved(let source):
        device = told.values.first { $0.entry.source(source) != nil }?.id
        // Whose it was the state does not know any more; who is told of another device finds that nothing changed.
        for id in followed { reports[id, default: []].formUnion([]) }
      case .topology(let source, _, _), .connectivity(let source, _): device = state.device(of: source)?.id
      case .attribute(let node, let path, _):
        guard let id = state.deviceID(of: node, path.endpoint), state.devices[id]?.active?.id.node == node else {
          continue
        }
        reports[id, default: []].insert(ClusterPath(path.endpoint, path.cluster))
        // A part of a device that its bridge reaches or does not.
        if path == BridgedDeviceBasicInformation.reachable.path(on: path.endpoint) { device = id }
      case .event, .primaryStructureChosen: break
      }
      if let device {
        if let new = touch(device) { devices.append(new) }
        reports[device, default: []].formUnion([])
      }
    }
    // It may be seen otherwise than it was without that anything happened to it: a process came, or went, that follows it.
    for id in update.settled.sorted() {
      if let new = touch(id) { devices.append(new) }
      reports[id, default: []].formUnion([])
    }
  }
}

/// What a home has a collection of.
package protocol ObservedItem: Identifiable, Sendable {
  /// - Returns: the number to remove the observer by.
  static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int
}

extension Structure: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.add(observer, reducer) }
}

extension Room: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.add(observer, reducer) }
}

extension HomeDevice: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.add(observer, reducer) }
}
