internal import Foundation
internal import HomeStore
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// What the next process needs to take up the sessions of this one: where each node was heard last, and what resumes its
/// session. It lies over the controller's store, and is kept beside it by those processes, too, that have no right to change
/// that.
///
/// A cache: it is written without a lock, the last writer wins, and a broken file is an empty one. What is wrong in it costs
/// a full handshake. Confined to its event loop.
final class SessionCache: NodeStore {
  private let base: any NodeStore
  private let isReadOnly: Bool
  private let machine: any Machine
  private let eventLoop: any EventLoop
  private let path: String
  /// As the base had it when it was read last.
  private var covered: StoredState = [:]
  private var changed: [String: Entry?] = [:]
  /// When it was written last; nil: not yet.
  private var savedAt: NIODeadline?
  private var saving: Scheduled<Void>?

  /// Between two times that it is written.
  private static let pause = TimeAmount.seconds(1)

  /// A value of the file.
  private struct Entry: Codable {
    var value: Data
    /// What the store had instead, for what it has, too: when it has another by now, that is newer. Nil: not known.
    var over: Data?
  }

  /// - Parameters:
  ///   - base: holds everything else.
  ///   - isReadOnly: whether what the base is told is lost.
  init(
    over base: any NodeStore, isReadOnly: Bool, in directory: StateDirectory, on machine: any Machine,
    _ eventLoop: any EventLoop
  ) {
    self.base = base
    self.isReadOnly = isReadOnly
    self.machine = machine
    self.eventLoop = eventLoop
    path = directory.controller + "/sessions.json"
  }

  /// What the base has, with newer addresses for the nodes that it knows, and what resumes their sessions.
  func load() throws(StoreError) -> StoredState {
    covered = try base.load()
    var whole = covered
    guard machine.sharesFiles else { return whole }
    for (key, entry) in read() {
      guard let digits = Self.digits(of: key), let record = covered[PeerRecord.prefix + digits] else { continue }
      if let over = entry.over, over != Data(record) { continue }
      whole[key] = [UInt8](entry.value)
    }
    return whole
  }

  func commit(_ changes: [StoreChange]) throws(StoreError) {
    // Nobody else will need them: they are with the rest.
    guard machine.sharesFiles else { return try base.commit(changes) }
    try base.commit(changes.filter { !$0.key.hasPrefix(PeerRecord.resumptionPrefix) })
    for change in changes where Self.digits(of: change.key) != nil {
      changed[change.key] = .some(entry(change))
    }
    // At once, lest a kill loses it, but not time and again while a whole home is connected: the whole file is written.
    guard saving == nil else { return }
    if let savedAt, eventLoop.now < savedAt + Self.pause {
      saving = eventLoop.assumeIsolated().scheduleTask(deadline: savedAt + Self.pause) { [weak self] in self?.save() }
    } else {
      save()
    }
  }

  func close() {
    save()
    base.close()
  }

  func abandon() {
    saving?.cancel()
    base.abandon()
  }

  /// What the file is to have of a change; nil for nothing.
  private func entry(_ change: StoreChange) -> Entry? {
    guard let value = change.value else { return nil }
    if !change.key.hasPrefix(PeerRecord.prefix) { return Entry(value: Data(value)) }
    // The store itself has it.
    if !isReadOnly { return nil }
    return Entry(value: Data(value), over: covered[change.key].map { Data($0) })
  }

  /// Writes what changed over what the file holds by now.
  private func save() {
    saving?.cancel()
    saving = nil
    savedAt = eventLoop.now
    if changed.isEmpty { return }
    var merged = read()
    for (key, entry) in changed { merged[key] = entry }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(merged) else { return }
    // It can't be written: the next process does without.
    guard (try? Files.replace(path, withSecret: data)) != nil else { return }
    changed = [:]
  }

  private func read() -> [String: Entry] {
    guard let data = (try? Files.read(path)) ?? nil else { return [:] }
    return (try? JSONDecoder().decode([String: Entry].self, from: data)) ?? [:]
  }

  /// Which node a key of ours is about; nil for the others.
  private static func digits(of key: String) -> String? {
    for prefix in [PeerRecord.prefix, PeerRecord.resumptionPrefix] where key.hasPrefix(prefix) {
      return String(key.dropFirst(prefix.count))
    }
    return nil
  }
}
