internal import Foundation
internal import MatterController
internal import MatterProtocol
internal import Runtime

/// What the next process needs to take up the sessions of this one: where each node was heard last, and what resumes its
/// session. It lies over the controller's store, and is kept beside it by those processes, too, that have no right to change
/// that.
///
/// A cache: it is written without a lock, the last writer wins, and a broken file is an empty one. What is wrong in it costs
/// a full handshake.
final class SessionCache: NodeStore {
  private let base: any NodeStore
  private let machine: any Machine
  private let path: String
  private var state: StoredState
  private var changed: [String: [UInt8]?] = [:]
  private var savedAt: Int64 = 0

  /// - Parameter base: holds everything else.
  init(over base: any NodeStore, in directory: StateDirectory, on machine: any Machine) {
    self.base = base
    self.machine = machine
    path = directory.controller + "/sessions.json"
    state = machine.sharesFiles ? Self.read(path) : [:]
  }

  /// What the base has, with newer addresses for the nodes that it knows, and what resumes their sessions.
  func load() throws(StoreError) -> StoredState {
    var whole = try base.load()
    for (key, value) in state {
      guard let digits = Self.digits(of: key), whole[PeerRecord.prefix + digits] != nil else { continue }
      whole[key] = value
    }
    return whole
  }

  func commit(_ changes: [StoreChange]) throws(StoreError) {
    // Nobody else will need them: they are with the rest.
    guard machine.sharesFiles else { return try base.commit(changes) }
    try base.commit(changes.filter { !$0.key.hasPrefix(PeerRecord.resumptionPrefix) })
    var isOutdated = false
    for change in changes where Self.digits(of: change.key) != nil {
      if change.key.hasPrefix(PeerRecord.prefix), let old = state[change.key], old != change.value { isOutdated = true }
      state[change.key] = change.value
      changed[change.key] = .some(change.value)
    }
    // At once, lest a kill loses it, but not time and again while a whole home is connected: unless the file has an address that
    // is none any more, and would lie over the store's.
    let now = machine.unixMicroseconds()
    if isOutdated || now - savedAt >= 1_000_000 {
      savedAt = now
      save()
    }
  }

  func close() {
    save()
    base.close()
  }

  func abandon() { base.abandon() }

  /// Writes what changed over what the file holds by now.
  private func save() {
    if changed.isEmpty { return }
    var merged = Self.read(path)
    for (key, value) in changed { merged[key] = value }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(merged.mapValues { hexadecimal($0) }) else { return }
    // It can't be written: the next process does without.
    guard (try? Files.replace(path, withSecret: data)) != nil else { return }
    changed = [:]
  }

  private static func read(_ path: String) -> StoredState {
    guard let data = (try? Files.read(path)) ?? nil,
      let stored = try? JSONDecoder().decode([String: String].self, from: data)
    else { return [:] }
    return stored.compactMapValues { [UInt8](hexadecimal: $0) }
  }

  /// Which node a key of ours is about; nil for the others.
  private static func digits(of key: String) -> String? {
    for prefix in [PeerRecord.prefix, PeerRecord.resumptionPrefix] where key.hasPrefix(prefix) {
      return String(key.dropFirst(prefix.count))
    }
    return nil
  }
}
