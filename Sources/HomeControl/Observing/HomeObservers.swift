package import HomeModel

/// The observers of the collections and devices of a home. Confined to the event loop.
///
/// The objects that a batch affects are determined once; then each observer of one of them gets it into its own queue.
package final class HomeObservers {
  private var number = 0
  fileprivate var structures = ObservedCollection<Structure>()
  fileprivate var rooms = ObservedCollection<Room>()
  fileprivate var devices = ObservedCollection<HomeDevice>()
  private var reports: [String: Readers] = [:]
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

  /// - Returns: the number for ``remove(_:)``.
  func add<Item: ObservedItem>(_ observer: ObservedCollection<Item>.Observer, _ reducer: HomeReducer) -> Int {
    number += 1
    if isEnded { observer.finish() } else { self[keyPath: Item.collection].add(observer, number, all(reducer)) }
    return number
  }

  /// - Parameter slot: the slot that the reader waits for.
  func addReports(
    _ reader: DeviceReports.Reader, at slot: DeviceReports.Slot, of device: String, _ reducer: HomeReducer
  ) {
    guard !isEnded, let value = value(of: device, reducer) else { return slot.fill(.end) }
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
  }

  package func end() {
    isEnded = true
    // In a stable order, in which the waiting readers resume.
    for (_, readers) in reports.sorted(by: { $0.key < $1.key }) { readers.broadcast.finish() }
    structures.end()
    rooms.end()
    devices.end()
    reports = [:]
    access = nil
  }

  // MARK: Projections

  /// Notifies the observers of the objects that a batch affects.
  func update(_ update: HomeUpdate, _ reducer: HomeReducer) {
    if structures.isEmpty && rooms.isEmpty && devices.isEmpty && reports.isEmpty { return }
    let affected = AffectedObjects(update, reducer.state) { reports[$0] != nil }
    if affected.structures { structures.publish(all(reducer)) }
    if affected.rooms { rooms.publish(all(reducer)) }
    devices.publish(affected.devices, { self.value(of: $0, reducer) }) { self.all(reducer) }
    for (id, changed) in affected.clusters.sorted(by: { $0.key < $1.key }) { publishReport(of: id, changed, reducer) }
  }

  /// Notifies all observers of a state that was loaded as a whole.
  func reload(_ reducer: HomeReducer) {
    structures.publish(all(reducer))
    rooms.publish(all(reducer))
    if !devices.isEmpty { devices.publish(all(reducer)) }
    for id in reports.keys.sorted() { publishReport(of: id, [], reducer) }
  }

  private func publishReport(of device: String, _ changed: Set<ClusterPath>, _ reducer: HomeReducer) {
    guard let broadcast = reports[device]?.broadcast else { return }
    guard let value = value(of: device, reducer) else {
      broadcast.finish()
      reports[device] = nil
      return
    }
    broadcast.send(DeviceReport(device: value, changed: changed))
  }

  private func all<Item: ObservedItem>(_ reducer: HomeReducer) -> [Item] {
    access.map { Item.all(in: reducer, through: $0()) } ?? []
  }

  private func value(of device: String, _ reducer: HomeReducer) -> HomeDevice? {
    guard let access, let entry = reducer.state.devices[device] else { return nil }
    return reducer.device(entry, through: access())
  }
}

/// The observers of one collection, and its last published elements.
package struct ObservedCollection<Item: Identifiable<String> & Equatable & Sendable> {
  /// An observer of the whole collection or of its changes.
  package enum Observer {
    case snapshots(AsyncStream<[Item]>.Continuation)
    case changes(AsyncStream<CollectionChange<Item>>.Continuation)

    func finish() {
      switch self {
      case .snapshots(let continuation): continuation.finish()
      case .changes(let continuation): continuation.finish()
      }
    }
  }

  private var observers: [Int: Observer] = [:]
  /// The elements that were published last, while there are observers.
  private var published: [String: Item] = [:]

  var isEmpty: Bool { observers.isEmpty }

  mutating func add(_ observer: Observer, _ id: Int, _ now: [Item]) {
    if observers.isEmpty { published = Dictionary(now.map { ($0.id, $0) }) { $1 } }
    observers[id] = observer
    if case .snapshots(let continuation) = observer { continuation.yield(now) }
  }

  mutating func remove(_ id: Int) {
    observers[id] = nil
    if observers.isEmpty { published = [:] }
  }

  mutating func end() {
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer.finish() }
    // The values retain the home.
    (observers, published) = ([:], [:])
  }

  /// Publishes the changes of a whole collection.
  mutating func publish(_ now: [Item]) {
    let items = Dictionary(now.map { ($0.id, $0) }) { $1 }
    let removed = published.keys.filter { items[$0] == nil }.sorted()
    publish(removed + now.map(\.id), { items[$0] }) { now }
  }

  /// Publishes the changes of some elements.
  /// - Parameters:
  ///   - item: returns an element; nil: it was removed.
  ///   - whole: returns the collection, for observers of snapshots.
  mutating func publish(_ ids: [String], _ item: (String) -> Item?, whole: () -> [Item]) {
    guard !isEmpty else { return }
    var changes: [CollectionChange<Item>] = []
    for id in ids {
      let new = item(id)
      switch (published[id], new) {
      case (nil, let new?): changes.append(.added(new))
      case (let old?, let new?) where old != new: changes.append(.updated(old: old, new: new))
      case (let old?, nil): changes.append(.removed(old))
      default: continue
      }
      published[id] = new
    }
    guard !changes.isEmpty else { return }
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

/// An element of an observable collection of a home.
package protocol ObservedItem: Identifiable<String>, Equatable, Sendable {
  static var collection: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Self>> { get }
  /// Returns all elements, in order, whose values send their requests through `home`.
  static func all(in reducer: HomeReducer, through home: any HomeAccess) -> [Self]
}

extension Structure: ObservedItem {
  package static var collection: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Self>> { \.structures }
  package static func all(in reducer: HomeReducer, through home: any HomeAccess) -> [Self] {
    reducer.state.structures(through: home)
  }
}

extension Room: ObservedItem {
  package static var collection: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Self>> { \.rooms }
  package static func all(in reducer: HomeReducer, through home: any HomeAccess) -> [Self] {
    reducer.state.rooms(through: home)
  }
}

extension HomeDevice: ObservedItem {
  package static var collection: ReferenceWritableKeyPath<HomeObservers, ObservedCollection<Self>> { \.devices }
  package static func all(in reducer: HomeReducer, through home: any HomeAccess) -> [Self] {
    reducer.state.orderedDevices.map { reducer.device($0, through: home) }
  }
}
