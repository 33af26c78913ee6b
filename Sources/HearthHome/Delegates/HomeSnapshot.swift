/// A queued message to a delegate.
enum DelegateMessage: Sendable {
  case manager(@Sendable (any HomeManagerDelegate, HomeManager) async -> Void)
  /// For the home with this id.
  case home(String, @Sendable (any HomeDelegate) async -> Void)
  /// For the device with this id.
  case accessory(String, @Sendable (any AccessoryDelegate) async -> Void)
}

extension DelegateMessage {
  // Messages to the delegates that adopt a further protocol.

  static func list(_ call: @escaping @Sendable (any HomeListDelegate, HomeManager) async -> Void) -> Self {
    .manager { if let delegate = $0 as? any HomeListDelegate { await call(delegate, $1) } }
  }

  static func room(_ home: Structure, _ call: @escaping @Sendable (any HomeRoomDelegate) async -> Void) -> Self {
    .home(home.id) { if let delegate = $0 as? any HomeRoomDelegate { await call(delegate) } }
  }

  static func name(_ home: Structure, _ call: @escaping @Sendable (any HomeNameDelegate) async -> Void) -> Self {
    .home(home.id) { if let delegate = $0 as? any HomeNameDelegate { await call(delegate) } }
  }

  static func detail(
    _ accessory: HomeDevice, _ call: @escaping @Sendable (any AccessoryDetailDelegate) async -> Void
  ) -> Self {
    .accessory(accessory.id) { if let delegate = $0 as? any AccessoryDetailDelegate { await call(delegate) } }
  }
}

/// The objects of a home for one client, and the messages to its delegates.
///
/// A projection of the published batches: replaces the objects that a batch affects by those of the state after it.
struct HomeSnapshot: Sendable {
  private(set) var structures: [Structure]
  private(set) var rooms: [Room]
  private var primaryStructureID: String?
  /// The devices by id; ``accessory(_:)`` adds the last contact.
  private(set) var devices: [String: HomeDevice]
  private var contacts: [NodeID: Contact]
  private(set) var hubState: HubState
  let client: any HomeAccess

  init(_ reducer: HomeReducer, hub: HubState, for client: any HomeAccess) {
    structures = reducer.state.structures(through: client)
    rooms = reducer.state.rooms(through: client)
    primaryStructureID = reducer.state.primaryStructureID
    devices = reducer.state.devices.mapValues { reducer.device($0, through: client) }
    contacts = reducer.contacts
    hubState = hub
    self.client = client
  }

  // MARK: Objects

  var primaryHome: Structure? { primaryStructureID.flatMap { home($0) } }

  func home(_ id: String) -> Structure? { structures.first { $0.id == id } }

  /// The devices that satisfy a condition, in the order of the nodes of their first sources.
  func devices(where isIncluded: (HomeDevice) -> Bool) -> [HomeDevice] {
    devices.values.filter(isIncluded).sorted { $0.entry.precedes($1.entry) }.compactMap { accessory($0.id) }
  }

  private func accessory(_ id: String) -> HomeDevice? {
    guard var device = devices[id] else { return nil }
    device.contact = HomeReducer.contact(by: device.source, contacts)
    (device.structures, device.rooms) = (structures, rooms)
    return device
  }

  // MARK: Batches

  /// Updates the objects.
  /// - Parameters:
  ///   - reducer: the state that includes the batch.
  ///   - withValues: whether to return messages about attributes.
  ///   - isOwn: whether a change results from a request of the client, which gets no message of it.
  /// - Returns: the messages; those of an added container precede those of its contents, and a removed one follows.
  mutating func update(
    _ update: HomeUpdate, _ reducer: HomeReducer, withValues: Bool,
    isOwn: (OwnRequests.Change) -> Bool = { _ in false }
  ) -> [DelegateMessage] {
    let state = reducer.state
    let affected = AffectedObjects(update, state) { _ in true }
    let before = affected.structures || affected.rooms ? self : nil
    var values: [OwnRequests.Change] = []
    for change in update.changes {
      if let node = change.node { contacts[node] = reducer.contacts[node] }
      guard withValues, case .attribute(let node, let path, let value) = change,
        let id = state.trait(of: ClusterPath(path.endpoint, path.cluster), on: node)?.device, let known = devices[id]
      else { continue }
      let old = known.path(of: path, on: node).flatMap { known.values[$0] }
      // Another process may have stored the same report.
      if update.isLogged && old == value { continue }
      let change = OwnRequests.Change(device: id, node: node, path: path, old: old, new: value)
      if !isOwn(change) { values.append(change) }
    }
    let known = affected.devices.map { accessory($0) }
    if before != nil {
      structures = state.structures(through: client)
      rooms = state.rooms(through: client)
      primaryStructureID = state.primaryStructureID
    }
    for id in affected.clusters.keys { devices[id] = state.devices[id].map { reducer.device($0, through: client) } }

    var messages: [DelegateMessage] = []
    if let before { compareAdded(to: before, &messages) }
    for (id, old) in zip(affected.devices, known) { compare(id, old, &messages) }
    messages += self.messages(of: values)
    if let before { compareRemoved(from: before, &messages) }
    return messages
  }

  /// Updates the times of contact, which cause no messages.
  mutating func update(_ known: [NodeID: Contact]) { contacts.merge(known) { $1 } }

  mutating func update(_ hub: HubState) -> [DelegateMessage] {
    guard hub != hubState else { return [] }
    hubState = hub
    return structures.map { home in
      .home(home.id) { await ($0 as? any HomeHubDelegate)?.home(home, didUpdate: hub) }
    }
  }

  /// Returns the messages about attributes.
  private func messages(of changes: [OwnRequests.Change]) -> [DelegateMessage] {
    changes.compactMap { change in
      guard let accessory = accessory(change.device), let path = accessory.path(of: change.path, on: change.node)
      else { return nil }
      let value = AttributeValue(path: path, encoded: change.new)
      return .accessory(accessory.id) { await $0.accessory(accessory, didUpdateValueFor: value) }
    }
  }

  /// Returns the messages about attributes that were attributed to a request that failed later, unless they have
  /// changed since.
  func delayedMessages(of changes: [OwnRequests.Change]) -> [DelegateMessage] {
    messages(
      of: changes.filter { change in
        devices[change.device].flatMap { device in
          device.path(of: change.path, on: change.node).map { device.values[$0] == change.new }
        } == true
      })
  }

  // MARK: Homes and rooms

  private func compareAdded(to old: HomeSnapshot, _ messages: inout [DelegateMessage]) {
    for home in structures {
      if let known = old.structures.first(where: { $0.id == home.id }) {
        if known.name != home.name { messages.append(.name(home) { await $0.homeDidUpdateName(home) }) }
      } else {
        messages.append(.list { await $0.homeManager($1, didAdd: home) })
      }
    }
    for room in rooms {
      guard let home = home(room.structureID) else { continue }
      if let known = old.rooms.first(where: { $0.id == room.id }) {
        if known.name != room.name { messages.append(.name(home) { await $0.home(home, didUpdateNameFor: room) }) }
      } else {
        messages.append(.room(home) { await $0.home(home, didAdd: room) })
      }
    }
  }

  private func compareRemoved(from old: HomeSnapshot, _ messages: inout [DelegateMessage]) {
    for room in old.rooms where !rooms.contains(where: { $0.id == room.id }) {
      guard let home = home(room.structureID) ?? old.home(room.structureID) else { continue }
      messages.append(.room(home) { await $0.home(home, didRemove: room) })
    }
    for home in old.structures where !structures.contains(where: { $0.id == home.id }) {
      messages.append(.list { await $0.homeManager($1, didRemove: home) })
    }
    if old.primaryStructureID != primaryStructureID {
      messages.append(.list { await $0.homeManagerDidUpdatePrimaryHome($1) })
    }
  }

  // MARK: Devices

  /// Returns the home of an accessory; nil for a bridge, which is not an accessory.
  private func home(of device: HomeDevice?) -> Structure? {
    device?.isBridge == false ? device?.structureID.flatMap { home($0) } : nil
  }

  private func compare(_ id: String, _ old: HomeDevice?, _ messages: inout [DelegateMessage]) {
    let now = accessory(id)
    let (home, oldHome) = (self.home(of: now), self.home(of: old))
    guard let old, let now, let home, home.id == oldHome?.id else {
      if let old, let oldHome { messages.append(.home(oldHome.id) { await $0.home(oldHome, didRemove: old) }) }
      if let now, let home { messages.append(.home(home.id) { await $0.home(home, didAdd: now) }) }
      return
    }
    if old.name != now.name {
      messages.append(.name(home) { await $0.home(home, didUpdateNameFor: now) })
      messages.append(.detail(now) { await $0.accessoryDidUpdateName(now) })
    }
    if old.roomID != now.roomID {
      let room = now.roomID.flatMap { id in rooms.first { $0.id == id } } ?? home.roomForEntireHome()
      messages.append(.room(home) { await $0.home(home, didUpdate: room, for: now) })
    }
    if !old.hasSameParts(as: now) {
      messages.append(.detail(now) { await $0.accessoryDidUpdateServices(now) })
    }
    if old.isReachable != now.isReachable {
      messages.append(.accessory(now.id) { await $0.accessoryDidUpdateReachability(now) })
    }
  }
}
