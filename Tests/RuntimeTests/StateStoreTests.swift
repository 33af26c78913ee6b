import Foundation
import Glibc
import MatterProtocol
import Testing

@testable import Runtime

@Suite struct StateStoreTests {
  let directory: TemporaryDirectory
  var path: String { directory.path + "/node" }

  init() throws { directory = try TemporaryDirectory() }

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

  @Test func `CRC-32C has the value of the standard's check string`() {
    #expect(CRC32C.checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
  }

  @Test func `what was committed is there after reopening`() throws {
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

  @Test func `a journal torn at any byte gives the last whole commit, and goes on from there`() throws {
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

  @Test func `a damaged or zeroed end is cut off`() throws {
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
    // Every flip of a bit in the last transaction undoes it, and it alone.
    let last = try #require(Journal.transaction(Self.transactions[3]))
    var before: StoredState = [:]
    for change in Self.transactions[..<3].joined() { before[change.key] = change.value }
    for bit in 0..<last.count * 8 {
      var bytes = [UInt8](whole)
      bytes[whole.count - last.count + bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(Journal.replay(bytes)?.state == before, "bit \(bit)")
    }
  }

  @Test func `a file of another kind is refused and left alone`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data("something else".utf8).write(to: URL(fileURLWithPath: path + "/journal"))
    #expect(throws: StoreError(.notAJournal, path: path + "/journal")) { try open() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/journal")) == Data("something else".utf8))
  }

  @Test func `a directory belongs to one store at a time`() throws {
    let first = try open()
    let error = #expect(throws: StoreError.self) { try open() }
    #expect(error?.code == .inUse)
    #expect(error?.description.contains(path) == true)
    first.close()
    _ = try open()
  }

  @Test func `a journal that has grown is written anew`() throws {
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

  @Test func `what a kill left of a compaction is ignored`() throws {
    let store = try open()
    try store.commit([StoreChange("a", [1])])
    store.close()
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path + "/journal.new"))
    #expect(try open().load() == ["a": [1]])
    #expect(!FileManager.default.fileExists(atPath: path + "/journal.new"))
  }

  @Test func `files are for the user alone`() throws {
    let store = try open { $0.synchronization = .onCommit }
    try store.commit([StoreChange("a", [1])])
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(path) == 0o700)
    #expect(try mode(path + "/journal") == 0o600)
  }

  @Test func `an error of the system names the file`() throws {
    try Data().write(to: URL(fileURLWithPath: directory.path + "/file"))
    let error = #expect(throws: StoreError.self) { try StateStore(directory: directory.path + "/file/node") }
    #expect(error?.path == directory.path + "/file/node")
    #expect(error?.code == .system(operation: "mkdir", code: ENOTDIR))
  }
}
