import Glibc
import MatterProtocol
import Testing

@testable import Runtime

/// The order in which the store writes, synchronizes and renames its files.
@Suite("File synchronization") struct SynchronizationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/node" }
  private var journal: String { path + "/journal" }

  init() throws { directory = try TemporaryDirectory() }

  /// Returns the file operations that `body` performs.
  private func operations(_ body: () throws -> Void) throws -> [FileOperation] {
    let recorded = Collector<FileOperation>()
    try OpenFile.$observer.withValue({ recorded.add($0) }) { try body() }
    return recorded.all
  }

  @Test("synchronizes a durable commit, and at first the directories that were created for it")
  func durableCommit() throws {
    let store = try StateStore(directory: path)
    let durable = [StoreChange("a", [1]), StoreChange("counter", [1], isDurable: true)]
    #expect(
      try operations { try store.commit(durable) }
        == [.append(journal), .fdatasync(journal), .fsync(directory.path), .fsync(path)])
    #expect(try operations { try store.commit(durable) } == [.append(journal), .fdatasync(journal)])
  }

  @Test("does not synchronize a lazy commit") func lazyCommit() throws {
    let store = try StateStore(directory: path)
    #expect(try operations { try store.commit([StoreChange("a", [1])]) } == [.append(journal)])
    // The directories are synchronized with the first durable commit, also if it isn't the first one.
    let durable = [StoreChange("a", nil, isDurable: true)]
    #expect(try operations { try store.commit(durable) }.suffix(2) == [.fsync(directory.path), .fsync(path)])
    store.close()
    var options = StateStore.Options()
    options.synchronization = .never
    let unsynchronized = try StateStore(directory: path, options: options)
    #expect(try operations { try unsynchronized.commit(durable) } == [.append(journal)])
  }

  @Test("synchronizes a compacted journal before and after it replaces the old one") func compaction() throws {
    let store = try StateStore(directory: path)
    try store.commit([StoreChange("a", [1], isDurable: true)])
    let new = journal + ".new"
    #expect(
      try operations { try store.compact(isForced: true) }
        == [.append(new), .append(new), .fsync(new), .rename(new, to: journal), .fsync(path)])
    // Later commits go to the new file.
    #expect(
      try operations { try store.commit([StoreChange("a", [2], isDurable: true)]) }
        == [.append(journal), .fdatasync(journal)])
    store.close()
    #expect(try StateStore(directory: path).load() == ["a": [2]])
  }

  @Test("synchronizes the parents of a directory for secrets, and a durable secret before and after its rename")
  func secrets() throws {
    let made = try operations { try SecretFile.makeDirectory(path + "/home") }
    #expect(made == [.fsync(directory.path), .fsync(path)])
    #expect(try operations { try SecretFile.makeDirectory(path + "/home") }.isEmpty)
    let (file, new) = (path + "/key.pem", "\(path)/key.pem.\(getpid()).new")
    #expect(
      try operations { try SecretFile.replace(file, with: [1], isDurable: true) }
        == [.append(new), .fsync(new), .rename(new, to: file), .fsync(path)])
    #expect(try operations { try SecretFile.replace(file, with: [1]) } == [.append(new), .rename(new, to: file)])
  }

  @Test("synchronizes recovered entries before it renames a damaged journal") func recovery() throws {
    let store = try StateStore(directory: path)
    try store.commit([StoreChange("a", [1])])
    try store.commit([StoreChange("b", [1])])
    store.close()
    let file = try OpenFile(journal, O_RDWR)
    var bytes = try file.readAll()
    bytes[Journal.magic.count + Journal.headerSize + 2] ^= 1
    try file.truncate(to: 0)
    try file.append(bytes)
    let recovered = journal + ".recovered"
    let performed = try operations {
      _ = #expect(throws: StoreError.self) { try StateStore(directory: path) }
    }
    #expect(
      performed == [
        .append(recovered), .append(recovered), .fsync(recovered), .rename(journal, to: journal + ".damaged"),
        .fsync(path),
      ])
  }
}

@Suite("Directory permissions") struct DirectoryCheckTests {
  private enum Expected { case safe, warning, insecure }

  private func kind(_ judgment: DirectoryCheck.Judgment) -> Expected {
    switch judgment {
    case .safe: .safe
    case .warning: .warning
    case .insecure: .insecure
    }
  }

  /// For user 1000 and for root: the owner and mode of a directory, and the judgment of it as our own and as a parent.
  @Test("judges a directory by owner, permissions and use") func judgments() {
    let table: [(euid: UInt32, uid: UInt32, mode: UInt32, own: Expected, parent: Expected)] = [
      (1000, 1000, 0o700, .safe, .safe), (1000, 1000, 0o755, .safe, .safe), (1000, 0, 0o755, .safe, .safe),
      (1000, 1000, 0o770, .warning, .warning), (1000, 0, 0o775, .warning, .warning),
      (1000, 1000, 0o777, .insecure, .insecure), (1000, 0, 0o777, .insecure, .insecure),
      (1000, 1000, 0o1777, .warning, .safe), (1000, 0, 0o1777, .warning, .safe),
      (1000, 1000, 0o1770, .warning, .safe), (1000, 1000, 0o1700, .safe, .safe),
      (1000, 1001, 0o700, .insecure, .insecure), (1000, 1001, 0o1777, .insecure, .insecure),
      (0, 0, 0o700, .safe, .safe), (0, 0, 0o775, .warning, .warning), (0, 0, 0o1777, .warning, .safe),
      (0, 0, 0o777, .insecure, .insecure), (0, 1000, 0o700, .warning, .warning),
      (0, 1000, 0o1777, .warning, .warning), (0, 1000, 0o777, .insecure, .insecure),
    ]
    for row in table {
      // The file type is part of st_mode.
      let mode = row.mode | 0o040000
      let own = DirectoryCheck.judge(uid: row.uid, mode: mode, euid: row.euid)
      let parent = DirectoryCheck.judge(uid: row.uid, mode: mode, euid: row.euid, isParent: true)
      #expect(kind(own) == row.own, "\(row): \(own)")
      #expect(kind(parent) == row.parent, "\(row): \(parent)")
    }
  }
}
