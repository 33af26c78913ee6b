package import HomeModel

/// The observers of the collections and devices of a home. Confined to the event loop.
///
/// The objects that a batch affects are determined once; then each observer of one of them gets it into its own queue.
package final class HomeObservers {
  private var number = 0
  fileprivate var structures = ObservedCollection<Structure>()
  fileprivate var rooms = ObservedCollection<Room>()
  private var devices = ObservedCollection<HomeDevice>()
  private var reports: [String: Readers] = [:]
  /// The last published devices, while their collection is observed.
  private var published: [String: HomeDevice] = [:]
  private var isEnded = false
  /// The home through which the values send their requests; nil after the end.
  package var access: (() -> any HomeAccess)?

  /// Runs the closure that resumes waiting readers of reports.
  package var wake: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }

  /// The readers of a device's reports.
  private struct Readers {
    let broadcast: Broadcast<DeviceReport>
    var all: Set<ObjectIdentifier> = []
  }

  package init() {}

  // MARK: Registration

  private func next() -> Int {
    number += 1
    return number
  }

  fileprivate func addDevices(_ observer: ObservedCollection<HomeDevice>.Observer, _ reducer: HomeReducer) -> Int {
    if devices.isEmpty { published = all(reducer) }
    return add(observer, to: \.devices, ordered(reducer))
  }

  fileprivate func add<Item>(
    _ observer: ObservedCollection<Item>.Observer,
    to list: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Item>>, _ now: [Item]
  ) -> Int {
    let id = next()
    if isEnded { observer.finish() } else { self[keyPath: list].add(observer, id, now) }
    return id
  }

  /// - Parameter slot: the slot that the reader waits for.
  func addReports(
    _ reader: DeviceReports.Reader, at slot: DeviceReports.Slot, of device: String, _ reducer: HomeReducer
  ) {
    guard !isEnded, let entry = reducer.state.devices[device], let value = value(of: entry, reducer) else {
      return slot.fill(.end)
    }
    var readers = reports[device] ?? Readers(broadcast: Broadcast(wake: wake))
    readers.broadcast.attach(slot, with: DeviceReport(device: value, changed: []))
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
    if devices.isEmpty { published = [:] }
  }

  package func end() {
    isEnded = true
    // In a stable order, in which the waiting readers resume.
    for (_, readers) in reports.sorted(by: { $0.key < $1.key }) { readers.broadcast.finish() }
    structures.end()
    rooms.end()
    devices.end()
    reports = [:]
    published = [:]
    access = nil
  }

  // MARK: Projections

  /// Notifies the observers of the objects that a batch affects.
  func update(_ update: HomeUpdate, _ reducer: HomeReducer) {
    if structures.isEmpty && rooms.isEmpty && devices.isEmpty && reports.isEmpty { return }
    let affected = AffectedObjects(update, reducer.state) { reports[$0] != nil }
    if affected.structures { structures.publish(reducer.state.structures(through: access?())) }
    if affected.rooms { rooms.publish(reducer.state.rooms(through: access?())) }
    if !devices.isEmpty { publishDevices(affected.devices, reducer) }
    for (id, changed) in affected.clusters.sorted(by: { $0.key < $1.key }) { publishReport(of: id, changed, reducer) }
  }

  /// Notifies all observers of a state that was loaded as a whole.
  func reload(_ reducer: HomeReducer) {
    structures.publish(reducer.state.structures(through: access?()))
    rooms.publish(reducer.state.rooms(through: access?()))
    if !devices.isEmpty {
      let removed = published.keys.filter { reducer.state.devices[$0] == nil }.sorted()
      publishDevices(removed + reducer.state.orderedDevices.map(\.id), reducer)
    }
    for id in reports.keys.sorted() { publishReport(of: id, [], reducer) }
  }

  private func publishDevices(_ affected: [String], _ reducer: HomeReducer) {
    var changes: [CollectionChange<HomeDevice>] = []
    for id in affected {
      let new = reducer.state.devices[id].flatMap { value(of: $0, reducer) }
      switch (published[id], new) {
      case (nil, let new?): changes.append(.added(new))
      case (let old?, let new?) where old != new:
        changes.append(.updated(old: old, new: new))
      case (let old?, nil): changes.append(.removed(old))
      default: continue
      }
      published[id] = new
    }
    guard !changes.isEmpty else { return }
    devices.publish(changes) { self.ordered(reducer) }
  }

  private func publishReport(of device: String, _ changed: Set<ClusterPath>, _ reducer: HomeReducer) {
    guard let broadcast = reports[device]?.broadcast else { return }
    guard let value = reducer.state.devices[device].flatMap({ value(of: $0, reducer) }) else {
      broadcast.finish()
      reports[device] = nil
      return
    }
    broadcast.send(DeviceReport(device: value, changed: changed))
  }

  private func all(_ reducer: HomeReducer) -> [String: HomeDevice] {
    reducer.state.devices.compactMapValues { value(of: $0, reducer) }
  }

  private func ordered(_ reducer: HomeReducer) -> [HomeDevice] {
    reducer.state.orderedDevices.compactMap { value(of: $0, reducer) }
  }

  private func value(of entry: DeviceEntry, _ reducer: HomeReducer) -> HomeDevice? {
    access.map { reducer.device(entry, through: $0()) }
  }
}

/// The observers of one collection, and its last published value.
package struct ObservedCollection<Item: Identifiable & Sendable> {
  /// An observer of the whole collection or of its changes.
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

  package mutating func remove(_ id: Int) {
    observers[id] = nil
    if observers.isEmpty { last = [] }
  }

  package mutating func end() {
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer.finish() }
    // The values retain the home.
    (observers, last) = ([:], [])
  }

  /// Publishes known changes.
  /// - Parameter whole: returns the collection, for observers of snapshots.
  mutating func publish(_ changes: [CollectionChange<Item>], whole: () -> [Item]) {
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
  /// Publishes the changes since the last value.
  mutating func publish(_ now: [Item]) {
    guard !isEmpty, now != last else { return }
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
    publish(changes) { now }
  }
}

/// An element of an observable collection of a home.
package protocol ObservedItem: Identifiable, Equatable, Sendable {
  /// - Returns: the number for ``HomeObservers/remove(_:)``.
  static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int
}

extension Structure: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.add(observer, to: \.structures, reducer.state.structures(through: observers.access?())) }
}

extension Room: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.add(observer, to: \.rooms, reducer.state.rooms(through: observers.access?())) }
}

extension HomeDevice: ObservedItem {
  package static func add(
    _ observer: ObservedCollection<Self>.Observer, to observers: HomeObservers, _ reducer: HomeReducer
  ) -> Int { observers.addDevices(observer, reducer) }
}
