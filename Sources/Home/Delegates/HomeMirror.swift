internal import HomeModel
internal import MatterModel

/// A message that waits for its delegate.
enum DelegateMessage: Sendable {
  case manager(@Sendable (any HomeManagerDelegate, HomeManager) async -> Void)
  case home(@Sendable (any HomeDelegate) async -> Void)
  case accessory(@Sendable (any AccessoryDelegate) async -> Void)
}

/// The home as one client was told of it, which makes messages of what happens to it.
struct HomeMirror: Sendable {
  private(set) var state: HomeState
  private var contacts: [NodeID: Contact]
  private var visibility: HomeReducer.Visibility
  private var settled: [String: SourceConnectivity]
  private(set) var hubState: HubState
  let client: any HomeAccess

  init(_ reducer: HomeReducer, hub: HubState, for client: any HomeAccess) {
    state = reducer.state
    contacts = reducer.contacts
    visibility = reducer.visibility
    settled = [:]
    for id in reducer.state.devices.keys { settled[id] = reducer.settledConnectivity(of: id) }
    hubState = hub
    self.client = client
  }

  // MARK: Values

  var homes: [ManagedHome] { state.structures.map { ManagedHome(structure: $0, mirror: self) } }

  var primaryHome: ManagedHome? { state.primaryStructure.map { ManagedHome(structure: $0, mirror: self) } }

  func home(_ id: String) -> ManagedHome? { state.structure(id).map { ManagedHome(structure: $0, mirror: self) } }

  func value(of entry: DeviceEntry) -> HomeDevice {
    let entry = visibility.shown(entry)
    let way = entry.active
    return HomeDevice(
      entry, values: way.flatMap { state.values[$0.id.node] } ?? NodeValues(),
      contact: HomeReducer.contact(by: way, contacts),
      settled: settled[entry.id] ?? .unknown, home: client)
  }

  // MARK: Changes

  /// Takes in what happened.
  /// - Parameters:
  ///   - reducer: knows it already.
  ///   - withValues: whether anybody wants to know of values.
  ///   - isOwn: whether a change came of what the client itself asked for, and so is nothing to tell it.
  /// - Returns: what there is to tell. What is put into something comes behind it, what is taken out before it.
  mutating func take(
    _ update: HomeUpdate, _ reducer: HomeReducer, withValues: Bool,
    isOwn: (OwnRequests.Change) -> Bool = { _ in false }
  ) -> [DelegateMessage] {
    var old = Before()
    var values: [(device: String, path: ConcreteAttributePath, value: [UInt8]?)] = []
    for change in update.changes {
      switch change {
      case .attribute(let node, let path, let value):
        let known = withValues ? state.value(node, path) : nil
        state.apply(change)
        if withValues, known != value, let id = state.deviceID(of: node, path.endpoint),
          state.devices[id]?.active?.id.node == node,
          !isOwn(.init(device: id, node: node, path: path, old: known, new: value))
        {
          values.append((id, path, value))
        }
        contacts[node] = reducer.contacts[node]
        continue
      case .event: break
      case .structureAdded, .structureRenamed, .structureRemoved, .primaryStructureChosen, .roomAdded, .roomRenamed,
        .roomRemoved:
        if old.names == nil { old.names = self }
      case .deviceAdded(let id, _, _, _), .deviceRemoved(let id), .deviceRenamed(let id, _), .deviceMoved(let id, _):
        note(id, in: &old)
      case .sourceAdded(let source, let id):
        note(id, in: &old)
        // Whose it was before.
        if let device = state.device(of: source) { note(device.id, in: &old) }
      case .sourceRemoved(let source), .topology(let source, _, _), .connectivity(let source, _):
        if let device = state.device(of: source) { note(device.id, in: &old) }
      }
      if let node = change.node { contacts[node] = reducer.contacts[node] }
      state.apply(change)
    }
    // Nobody follows the devices any more, or somebody does again: they are to be seen otherwise, and are the same.
    for id in update.settled.sorted() { note(id, in: &old) }
    visibility = reducer.visibility
    for id in old.order {
      settled[id] = state.devices[id] == nil ? nil : reducer.settledConnectivity(of: id)
    }
    return messages(old, values)
  }

  /// Devices were heard, which is nothing to tell.
  mutating func take(_ known: [NodeID: Contact]) { contacts.merge(known) { $1 } }

  /// What was there before the first change of it.
  private struct Before {
    var names: HomeMirror?
    var devices: [String: HomeDevice] = [:]
    var seen: Set<String> = []
    /// In the order that they were touched.
    var order: [String] = []
  }

  private func note(_ id: String, in old: inout Before) {
    guard old.seen.insert(id).inserted else { return }
    old.order.append(id)
    old.devices[id] = state.devices[id].map { value(of: $0) }
  }

  private func messages(
    _ old: Before, _ values: [(device: String, path: ConcreteAttributePath, value: [UInt8]?)]
  ) -> [DelegateMessage] {
    var messages: [DelegateMessage] = []
    if let names = old.names { appear(names, &messages) }
    for id in old.order { compare(id, old.devices[id], &messages) }
    let added = Set(old.order.filter { old.devices[$0] == nil })
    for (id, path, value) in values where !added.contains(id) {
      guard let accessory = state.devices[id].map({ self.value(of: $0) }) else { continue }
      messages.append(.accessory { await $0.accessory(accessory, didUpdate: path, to: value) })
    }
    if let names = old.names { disappear(names, &messages) }
    return messages
  }

  /// Changes of values that were not told when they happened; nothing of those that others came after.
  func messages(of changes: [OwnRequests.Change]) -> [DelegateMessage] {
    changes.compactMap { change in
      guard state.value(change.node, change.path) == change.new,
        let accessory = state.devices[change.device].map({ value(of: $0) })
      else { return nil }
      return .accessory { await $0.accessory(accessory, didUpdate: change.path, to: change.new) }
    }
  }

  // MARK: Homes and rooms

  private func appear(_ old: HomeMirror, _ messages: inout [DelegateMessage]) {
    for home in homes {
      if let known = old.state.structure(home.id) {
        if known.name != home.name { messages.append(.home { await $0.homeDidUpdateName(home) }) }
      } else {
        messages.append(.manager { await $0.homeManager($1, didAdd: home) })
      }
    }
    for room in state.rooms {
      guard let home = home(room.structureID) else { continue }
      if let known = old.state.room(room.id) {
        if known.name != room.name { messages.append(.home { await $0.home(home, didUpdateNameOf: room) }) }
      } else {
        messages.append(.home { await $0.home(home, didAdd: room) })
      }
    }
  }

  private func disappear(_ old: HomeMirror, _ messages: inout [DelegateMessage]) {
    for room in old.state.rooms where state.room(room.id) == nil {
      guard let home = home(room.structureID) ?? old.home(room.structureID) else { continue }
      messages.append(.home { await $0.home(home, didRemove: room) })
    }
    for home in old.homes where state.structure(home.id) == nil {
      messages.append(.manager { await $0.homeManager($1, didRemove: home) })
    }
    if old.state.primaryStructureID != state.primaryStructureID {
      messages.append(.manager { await $0.homeManagerDidUpdatePrimaryHome($1) })
    }
  }

  // MARK: Devices

  private func compare(_ id: String, _ old: HomeDevice?, _ messages: inout [DelegateMessage]) {
    let now = state.devices[id].map { value(of: $0) }
    // Of a bridge, nobody is told that it came or went.
    let seen = now.flatMap { $0.isBridge ? nil : $0.structureID.flatMap { home($0) } }
    let was = old.flatMap { $0.isBridge ? nil : $0.structureID.flatMap { home($0) } }
    guard let old, let now, let home = seen, home.id == was?.id else {
      if let old, let was { messages.append(.home { await $0.home(was, didRemove: old) }) }
      if let now, let seen { messages.append(.home { await $0.home(seen, didAdd: now) }) }
      return
    }
    if old.name != now.name {
      messages.append(.home { await $0.home(home, didUpdateNameOf: now) })
      messages.append(.accessory { await $0.accessoryDidUpdateName(now) })
    }
    if old.roomID != now.roomID {
      let room = now.roomID.flatMap { state.room($0) } ?? home.roomForEntireHome
      messages.append(.home { await $0.home(home, didUpdate: room, for: now) })
    }
    if !HomeDevice.haveSameParts(old.source?.endpoints ?? [], now.source?.endpoints ?? []) {
      messages.append(.accessory { await $0.accessoryDidUpdateServices(now) })
    }
    if old.isReachable != now.isReachable {
      messages.append(.accessory { await $0.accessoryDidUpdateReachability(now) })
    }
  }

  // MARK: The hub

  mutating func take(_ hub: HubState) -> [DelegateMessage] {
    guard hub != hubState else { return [] }
    hubState = hub
    return homes.map { home in .home { await $0.home(home, didUpdate: hub) } }
  }
}
