import Foundation
import Glibc
import MatterModel
import MatterProtocol
import Testing

@testable import Runtime

@Suite struct StateStoreTests {
  let directory: TemporaryDirectory
  var path: String { directory.path + "/node" }

  init() throws { directory = try TemporaryDirectory() }

  private var url: URL { URL(filePath: path + "/journal") }

  private func open(_ change: (inout StateStore.Options) -> Void = { _ in }) throws -> StateStore {
    var options = StateStore.Options()
    change(&options)
    return try StateStore(directory: path, options: options)
  }

  private static let transactions: [[StoreChange]] = [
    [StoreChange("fabric/1", [1, 2, 3]), StoreChange("fabric/2", [])],
    [StoreChange("fabric/1", nil), StoreChange("attribute/1/6/0", [9])],
    [StoreChange("fabric/2", Array(repeating: 7, count: 300))],
    [StoreChange("fabric/2", nil), StoreChange("fabric/2", [4]), StoreChange("é", [5])],
  ]

  @Test func checksumMatchesStandardCheckValue() {
    #expect(CRC32C.checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
  }

  @Test func restoresCommitsAfterReopening() throws {
    let store = try open()
    #expect(try store.load().isEmpty)
    for transaction in Self.transactions { try store.commit(transaction) }
    let expected: StoredState = ["attribute/1/6/0": [9], "fabric/2": [4], "é": [5]]
    #expect(try store.load() == expected)
    store.close()
    #expect(throws: StoreError(.closed, path: path)) { try store.commit([StoreChange("a", [1])]) }
    let again = try open()
    #expect(try again.load() == expected)
    #expect(again.droppedBytes == 0)
  }

  @Test func recoversLastCommitFromAJournalTornAtAnyByte() throws {
    let store = try open()
    var states: [(length: Int, state: StoredState)] = [(0, [:]), (Journal.magic.count, [:])]
    for transaction in Self.transactions {
      try store.commit(transaction)
      let length = try Data(contentsOf: URL(fileURLWithPath: path + "/journal")).count
      states.append((length, try store.load()))
    }
    store.close()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path + "/journal"))
    for cut in 0...whole.count {
      try whole.prefix(cut).write(to: URL(fileURLWithPath: path + "/journal"))
      let expected = try #require(states.last { $0.length <= cut })
      let torn = try open()
      #expect(try torn.load() == expected.state, "cut at \(cut)")
      #expect(torn.droppedBytes == cut - expected.length, "cut at \(cut)")
      try torn.commit([StoreChange("after", [1])])
      torn.close()
      let again = try open()
      #expect(try again.load() == expected.state.merging(["after": [1]]) { $1 }, "cut at \(cut)")
      #expect(again.droppedBytes == 0)
      again.close()
    }
  }

  @Test func truncatesUnwrittenEnd() throws {
    let store = try open()
    for transaction in Self.transactions { try store.commit(transaction) }
    let expected = try store.load()
    store.close()
    let url = URL(fileURLWithPath: path + "/journal")
    let whole = try Data(contentsOf: url)
    try (whole + Data(repeating: 0, count: 64)).write(to: url)
    let zeroed = try open()
    #expect(try zeroed.load() == expected)
    #expect(zeroed.droppedBytes == 64)
    zeroed.close()
  }

  @Test func truncatesEndWithMissingBlocks() throws {
    let store = try open()
    for transaction in Self.transactions { try store.commit(transaction) }
    let expected = try store.load()
    let length = try Data(contentsOf: url).count
    try store.commit([StoreChange("large", Array(repeating: 7, count: 2000))])
    store.close()
    var bytes = [UInt8](try Data(contentsOf: url))
    for index in (length / 512 + 1) * 512..<bytes.count { bytes[index] = 0 }
    try Data(bytes).write(to: url)
    let torn = try open()
    #expect(try torn.load() == expected)
    #expect(torn.droppedBytes == bytes.count - length)
  }

  @Test func detectsEveryFlippedBit() throws {
    let store = try open()
    var positions: [Int] = [Journal.magic.count]
    for transaction in Self.transactions {
      try store.commit(transaction)
      positions.append(try Data(contentsOf: url).count)
    }
    store.close()
    let whole = [UInt8](try Data(contentsOf: url))
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let begin = positions.last { $0 <= bit / 8 } ?? 0
      var expected: StoredState = [:]
      for (number, transaction) in Self.transactions.enumerated() where positions[number] != begin {
        for change in transaction { expected[change.key] = change.value }
      }
      let replay = try #require(Journal.replay(bytes))
      #expect(replay.damage == begin, "bit \(bit)")
      #expect(replay.state == expected, "bit \(bit)")
    }
  }

  @Test func keepsDamagedJournalAndRefusesToOpen() throws {
    let store = try open()
    for transaction in Self.transactions { try store.commit(transaction) }
    store.close()
    var bytes = [UInt8](try Data(contentsOf: url))
    bytes[Journal.magic.count + 12] ^= 1
    try Data(bytes).write(to: url)
    let found = StoreError(.damaged(at: Journal.magic.count), path: url.path)
    #expect(throws: found) { try open() }
    #expect(found.description.contains("at byte 8 and was renamed to journal.damaged"))
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path + "/journal.damaged"))) == bytes)
    // The error repeats until the user acts.
    #expect(throws: StoreError(.damaged(at: nil), path: url.path)) { try open() }
    try FileManager.default.moveItem(atPath: path + "/journal.recovered", toPath: url.path)
    #expect(try open().load() == ["fabric/2": [4], "attribute/1/6/0": [9], "é": [5]])
  }

  @Test func setsAsideJournalWithDamagedMagic() throws {
    let store = try open()
    try store.commit([StoreChange("a", [1])])
    store.close()
    var bytes = [UInt8](try Data(contentsOf: url))
    bytes[0] ^= 1
    try Data(bytes).write(to: url)
    #expect(throws: StoreError(.damaged(at: 0), path: url.path)) { try open() }
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path + "/journal.damaged"))) == bytes)
    try FileManager.default.moveItem(atPath: path + "/journal.recovered", toPath: url.path)
    #expect(try open().load() == ["a": [1]])
  }

  /// Each lost reservation allowed 1000 messages: a recovered counter must be past all of them.
  @Test(arguments: [GroupCounterReservation.controllerKey, GroupCounterReservation.deviceKey])
  func recoversGroupCounterPastLostReservations(key: String) throws {
    let store = try open()
    var positions: [Int] = []
    for number in 1...20 {
      positions.append(try Data(contentsOf: url).count)
      try store.commit([StoreChange(key, UInt32(number * 1000).tlv, isDurable: true)])
    }
    store.close()
    var bytes = [UInt8](try Data(contentsOf: url))
    // All reservations after the first are lost.
    for position in positions.dropFirst() { bytes[position + Journal.headerSize + 12] ^= 1 }
    try Data(bytes).write(to: url)
    #expect(throws: StoreError(.damaged(at: positions[1]), path: url.path)) { try open() }
    try FileManager.default.moveItem(atPath: path + "/journal.recovered", toPath: url.path)
    let counter = try UInt32(tlv: #require(try open().load()[key]))
    #expect(counter >= 20_000 && counter < 1000 + 1 << 30)
  }

  @Test func removesUnreadableGroupCounterOnRecovery() {
    var state: StoredState = [GroupCounterReservation.controllerKey: [0xFF], "a": [1]]
    GroupCounterReservation.advance(&state, past: .max)
    #expect(state == ["a": [1]])
    state[GroupCounterReservation.deviceKey] = UInt32.max.tlv
    GroupCounterReservation.advance(&state, past: 1)
    #expect(state[GroupCounterReservation.deviceKey] == UInt32(999).tlv)
  }

  @Test func rejectsFileOfAnotherFormat() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data("something else".utf8).write(to: URL(fileURLWithPath: path + "/journal"))
    #expect(throws: StoreError(.notAJournal, path: path + "/journal")) { try open() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/journal")) == Data("something else".utf8))
  }

  @Test func locksDirectory() throws {
    let first = try open()
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.code == .inUse)
    #expect(error?.description.contains(path) == true)
    #expect(throws: StoreError(.inUse, path: path), "a refusal keeps the lock") { try open() }
    first.close()
    _ = try open()
  }

  @Test("recognizes a locked directory by another path") func locksDirectoryWithTwoPaths() throws {
    let first = try open()
    let link = directory.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(throws: StoreError(.inUse, path: link)) { try StateStore(directory: link) }
    first.close()
    _ = try StateStore(directory: link)
  }

  @Test("keeps other processes from a locked directory") func locksDirectoryAgainstProcesses() async throws {
    let first = try open()
    await #expect(processExitsWith: .success) { [path = path as String] in
      #expect(throws: StoreError(.inUse, path: path)) { try StateStore(directory: path) }
      // A neighbor is free, although its lock may be in the same file.
      for number in 0..<20 { _ = try StateStore(directory: path + "-\(number)") }
    }
    first.close()
    await #expect(processExitsWith: .success) { [path = path as String] in _ = try StateStore(directory: path) }
  }

  @Test("has more stores than the process may have open files") func opensManyStores() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      var limit = rlimit(rlim_cur: 256, rlim_max: 256)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let stores = try (0..<300).map { try StateStore(directory: "\(directory.path)/\($0)") }
      for store in stores { try store.commit([StoreChange("a", [1], isDurable: true)]) }
      let first = directory.path + "/0"
      #expect(throws: StoreError(.inUse, path: first)) { try StateStore(directory: first) }
    }
  }

  /// In a process of its own, whose other tests would lack descriptors as well.
  @Test func commitsWithoutFreeDescriptors() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let store = try StateStore(directory: directory.path + "/node")
      let other = try StateStore(directory: directory.path + "/other")
      var limit = rlimit(rlim_cur: 256, rlim_max: 256)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let standard = Glibc.open("/dev/null", O_RDONLY)
      var others: [CInt] = []
      while case let other = dup(standard), other >= 0 { others.append(other) }
      for number in 1...2 {
        for node in [store, other] { try node.commit([StoreChange("a", [UInt8(number)], isDurable: true)]) }
      }
      #expect(Glibc.open("/dev/null", O_RDONLY) < 0)
      for other in others { close(other) }
      store.close()
      try #require(try StateStore(directory: directory.path + "/node").load() == ["a": [2]])
    }
  }

  @Test func compactsGrownJournal() throws {
    let store = try open { $0.compactionMinimum = 1000 }
    let url = URL(fileURLWithPath: path + "/journal")
    var longest = 0
    for round in 0..<500 {
      try store.commit([StoreChange("counter", [UInt8(round % 256)]), StoreChange("other/\(round % 3)", [1, 2, 3])])
      longest = max(longest, try Data(contentsOf: url).count)
    }
    #expect(longest <= 1100)
    #expect(!FileManager.default.fileExists(atPath: path + "/journal.new"))
    let expected = try store.load()
    #expect(expected["counter"] == [UInt8(499 % 256)])
    store.close()
    #expect(try open().load() == expected)
  }

  @Test func doesNotCompactDamagedJournal() throws {
    let store = try open { $0.compactionMinimum = 100 }
    try store.commit([StoreChange("a", [1])])
    try store.commit([StoreChange("b", [1])])
    var bytes = [UInt8](try Data(contentsOf: url))
    bytes[Journal.magic.count + Journal.headerSize + 2] ^= 1
    try Data(bytes).write(to: url)
    for number in 0..<20 { try store.commit([StoreChange("a", [UInt8(number)])]) }
    #expect(try [UInt8](Data(contentsOf: url)).starts(with: bytes))
    store.close()
    #expect(throws: StoreError(.damaged(at: Journal.magic.count), path: url.path)) { try open() }
  }

  @Test("reports damage of an open journal when it is read again") func noticesDamageWhileOpen() throws {
    let store = try open()
    try store.commit([StoreChange("a", [1])])
    #expect(try store.load() == ["a": [1]])
    let bytes = [UInt8](try Data(contentsOf: url))
    try store.commit([StoreChange("b", [1])])
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: UInt64(bytes.count + 1))
    #expect(throws: StoreError(.damaged(at: bytes.count), path: url.path)) { try store.load() }
    try handle.truncate(atOffset: UInt64(bytes.count))
    #expect(throws: StoreError(.damaged(at: bytes.count), path: url.path)) { try store.load() }
    try handle.close()
    store.close()
  }

  @Test func ignoresInterruptedCompaction() throws {
    let store = try open()
    try store.commit([StoreChange("a", [1])])
    store.close()
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path + "/journal.new"))
    #expect(try open().load() == ["a": [1]])
    #expect(!FileManager.default.fileExists(atPath: path + "/journal.new"))
  }

  @Test func createsFilesForTheUserOnly() throws {
    let store = try open()
    try store.commit([StoreChange("a", [1])])
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(path) == 0o700)
    #expect(try mode(path + "/journal") == 0o600)
  }

  @Test func systemErrorNamesTheFile() throws {
    try Data().write(to: URL(fileURLWithPath: directory.path + "/file"))
    let error = #expect(throws: StoreError.self) { try StateStore(directory: directory.path + "/file/node") }
    #expect(error?.path == directory.path + "/file/node")
    #expect(error?.code == .system(operation: "mkdir", code: ENOTDIR))
  }

  @Test func rejectsDirectoryWritableByOthers() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    chmod(path, 0o777)
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.description.contains("chmod o-w") == true)
    for mode in [0o1777, 0o775] as [mode_t] {
      chmod(path, mode)
      try open().close()
    }
  }

  @Test func secretFileIsReadableByTheUserOnly() throws {
    let file = directory.path + "/secret"
    try Data("old".utf8).write(to: URL(filePath: file))
    try SecretFile.replace(file, with: Array("new".utf8))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["secret"])
  }
}
