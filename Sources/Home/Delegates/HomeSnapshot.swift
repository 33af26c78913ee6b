internal import HomeControl
internal import HomeModel
internal import MatterModel

/// A message that waits for its delegate.
enum DelegateMessage: Sendable {
  case manager(@Sendable (any HomeManagerDelegate, HomeManager) async -> Void)
  case home(@Sendable (any HomeDelegate) async -> Void)
  case accessory(@Sendable (any AccessoryDelegate) async -> Void)
}

/// The objects of a home for one client, and the messages to its delegates.
///
/// A projection of the published batches: replaces the objects that a batch affects by those of the state after it.
struct HomeSnapshot: Sendable {
  private(set) var structures: [Structure]
  private(set) var rooms: [Room]
  private var primaryStructureID: String?
  /// By id. ``accessory(_:)`` adds the last contact.
  private(set) var devices: [String: HomeDevice]
  private var contacts: [NodeID: Contact]
  private(set) var hubState: HubState
  let client: any HomeAccess

  init(_ reducer: HomeReducer, hub: HubState, for client: any HomeAccess) {
    structures = reducer.state.structures
    rooms = reducer.state.rooms
    primaryStructureID = reducer.state.primaryStructureID
    devices = reducer.state.devices.mapValues { reducer.device($0, through: client) }
    contacts = reducer.contacts
    hubState = hub
    self.client = client
  }

  // MARK: Objects

  var homes: [ManagedHome] { structures.map { ManagedHome(structure: $0, snapshot: self) } }

  var primaryHome: ManagedHome? { primaryStructureID.flatMap { home($0) } }

  func home(_ id: String) -> ManagedHome? {
    structures.first { $0.id == id }.map { ManagedHome(structure: $0, snapshot: self) }
  }

  /// The devices of a structure, in the order of the nodes of their first sources.
  func devices(in structureID: String) -> [HomeDevice] {
    devices.values.filter { $0.structureID == structureID }.sorted { $0.entry.precedes($1.entry) }
      .compactMap { accessory($0.id) }
  }

  private func accessory(_ id: String) -> HomeDevice? {
    devices[id].map {
      HomeDevice(
        $0.entry, values: $0.values, contact: HomeReducer.contact(by: $0.source, contacts),
        settled: $0.settledConnectivity, home: client)
    }
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
        let id = state.deviceID(ofActive: node, path.endpoint), let known = devices[id]
      else { continue }
      let old = known.source?.id.node == node ? known.values[path] : nil
      // Another process may have stored the same report.
      if update.isLogged && old == value { continue }
      let change = OwnRequests.Change(device: id, node: node, path: path, old: old, new: value)
      if !isOwn(change) { values.append(change) }
    }
    let known = affected.devices.map { accessory($0) }
    if before != nil {
      (structures, rooms, primaryStructureID) = (state.structures, state.rooms, state.primaryStructureID)
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
    return homes.map { home in .home { await $0.home(home, didUpdate: hub) } }
  }

  /// Returns the messages about attributes.
  private func messages(of changes: [OwnRequests.Change]) -> [DelegateMessage] {
    changes.compactMap { change in
      guard let accessory = accessory(change.device) else { return nil }
      return .accessory { await $0.accessory(accessory, didUpdate: change.path, to: change.new) }
    }
  }

  /// Returns the messages about attributes that were attributed to a request that failed later, unless they have
  /// changed since.
  func delayedMessages(of changes: [OwnRequests.Change]) -> [DelegateMessage] {
    messages(
      of: changes.filter { change in
        devices[change.device].map { $0.source?.id.node == change.node && $0.values[change.path] == change.new } == true
      })
  }

  // MARK: Homes and rooms

  private func compareAdded(to old: HomeSnapshot, _ messages: inout [DelegateMessage]) {
    for home in homes {
      if let known = old.structures.first(where: { $0.id == home.id }) {
        if known.name != home.name { messages.append(.home { await $0.homeDidUpdateName(home) }) }
      } else {
        messages.append(.manager { await $0.homeManager($1, didAdd: home) })
      }
    }
    for room in rooms {
      guard let home = home(room.structureID) else { continue }
      if let known = old.rooms.first(where: { $0.id == room.id }) {
        if known.name != room.name { messages.append(.home { await $0.home(home, didUpdateNameOf: room) }) }
      } else {
        messages.append(.home { await $0.home(home, didAdd: room) })
      }
    }
  }

  private func compareRemoved(from old: HomeSnapshot, _ messages: inout [DelegateMessage]) {
    for room in old.rooms where !rooms.contains(where: { $0.id == room.id }) {
      guard let home = home(room.structureID) ?? old.home(room.structureID) else { continue }
      messages.append(.home { await $0.home(home, didRemove: room) })
    }
    for home in old.homes where !structures.contains(where: { $0.id == home.id }) {
      messages.append(.manager { await $0.homeManager($1, didRemove: home) })
    }
    if old.primaryStructureID != primaryStructureID {
      messages.append(.manager { await $0.homeManagerDidUpdatePrimaryHome($1) })
    }
  }

  // MARK: Devices

  /// Returns the home of an accessory; nil for a bridge, which is none.
  private func home(of device: HomeDevice?) -> ManagedHome? {
    device?.isBridge == false ? device?.structureID.flatMap { home($0) } : nil
  }

  private func compare(_ id: String, _ old: HomeDevice?, _ messages: inout [DelegateMessage]) {
    let now = accessory(id)
    let (home, oldHome) = (self.home(of: now), self.home(of: old))
    guard let old, let now, let home, home.id == oldHome?.id else {
      if let old, let oldHome { messages.append(.home { await $0.home(oldHome, didRemove: old) }) }
      if let now, let home { messages.append(.home { await $0.home(home, didAdd: now) }) }
      return
    }
    if old.name != now.name {
      messages.append(.home { await $0.home(home, didUpdateNameOf: now) })
      messages.append(.accessory { await $0.accessoryDidUpdateName(now) })
    }
    if old.roomID != now.roomID {
      let room = now.roomID.flatMap { id in rooms.first { $0.id == id } } ?? home.roomForEntireHome
      messages.append(.home { await $0.home(home, didUpdate: room, for: now) })
    }
    if !HomeDevice.haveSameParts(old.source?.endpoints ?? [], now.source?.endpoints ?? []) {
      messages.append(.accessory { await $0.accessoryDidUpdateServices(now) })
    }
    if old.isReachable != now.isReachable {
      messages.append(.accessory { await $0.accessoryDidUpdateReachability(now) })
    }
  }
}
