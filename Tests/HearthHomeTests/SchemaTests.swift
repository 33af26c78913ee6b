import Foundation
import GRDB
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import Logging
import Runtime
import Testing

/// Opening of new databases, and of files that are not a home of this version.
@Suite("Database schema") struct SchemaTests {
  /// Returns the contents of the files of a directory, except shared memory, which SQLite rebuilds.
  private func files(_ directory: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory)
    where !name.hasSuffix("-shm") && name != "owner" {
      files[name] = try Data(contentsOf: URL(filePath: directory + "/" + name))
    }
    return files
  }

  /// Creates a home with a structure and sets its schema version.
  private func create(_ path: String, version: Int) throws {
    let database = try HomeDatabase.open(path)
    try database.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    try database.close()
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "PRAGMA user_version = \(version)") }
    try queue.close()
  }

  private func expectation(_ path: String, _ version: Int) -> String {
    "\(path): made by another version of Hearth (schema \(version); expected 10); move it and \(path)-wal away to create a "
      + "new home"
  }

  private func openingError(_ path: String) -> HomeError? {
    failure { () throws(HomeError) in _ = try HomeDatabase.open(path) }
  }

  @Test func createsAndReopens() throws {
    let scratch = try TestDatabase()
    let first = try scratch.open()
    #expect(try first.read { try Int32.fetchOne($0, sql: "PRAGMA user_version") } == 10)
    #expect(try first.read { try Int32.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 2, "incremental")
    #expect(try first.read { try Int32.fetchOne($0, sql: "PRAGMA application_id") } == 0x4872_7468)
    try first.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    // Also while another connection has the file open.
    #expect(try scratch.open().load().state.structures.map(\.name) == ["Home"])
    try first.close()
    try HomeDatabase.check(scratch.path)
    #expect(try scratch.open().load().state.structures.map(\.name) == ["Home"])
  }

  /// A process can be killed after it created the file and before it created the tables.
  @Test func opensDatabaseWithoutTables() throws {
    let scratch = try TestDatabase()
    try DatabasePool(path: scratch.path).close()
    try HomeDatabase.check(scratch.path)
    #expect(try scratch.open().load().state == HomeState())
  }

  @Test(arguments: [0, 1, 2, 9, 11, -1]) func rejectsOtherVersions(_ version: Int) throws {
    let scratch = try TestDatabase()
    try create(scratch.path, version: version)
    let before = try files(scratch.directory)
    for _ in 0..<2 {
      let error = try #require(openingError(scratch.path))
      #expect(error.code == .internalError && error.message == expectation(scratch.path, version))
      #expect(failure { () throws(HomeError) in try HomeDatabase.check(scratch.path) }?.message == error.message)
    }
    #expect(try files(scratch.directory) == before)
  }

  /// The process that wrote the database was killed: the write-ahead log is not checkpointed.
  @Test func rejectsOtherVersionWithWriteAheadLog() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    try database.write { try $0.execute(sql: "PRAGMA user_version = 11") }
    let killed = try TestDatabase()
    for ending in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: scratch.path + ending, toPath: killed.path + ending)
    }
    try database.close()
    let before = try files(killed.directory)
    #expect(before["home.sqlite-wal"]?.isEmpty == false)
    #expect(openingError(killed.path)?.message == expectation(killed.path, 11))
    #expect(try files(killed.directory) == before)
  }

  @Test func controllerRejectsOtherVersions() async throws {
    let directory = ScratchDirectory()
    try create(directory.state.database, version: 11)
    let before = try files(directory.state.home)
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.discovery = .off
    do throws(HomeError) {
      await (try HomeController.open(options)).close()
      Issue.record("the home was opened")
    } catch {
      #expect(error.code == .internalError && error.message == expectation(directory.state.database, 11))
    }
    // Names are read without a controller.
    let names = StoredNames(directory.state)
    #expect(
      failure { () throws(HomeError) in _ = try names.registry() }?.message
        == expectation(directory.state.database, 11))
    #expect(try files(directory.state.home) == before)
  }

  /// Another user could replace the socket of the hub.
  @Test(arguments: ["home", "run", "hub"]) func refusesDirectoriesThatOthersCanChange(_ name: String) throws {
    let directory = ScratchDirectory()
    let path = directory.state.root + "/" + name
    func setMode(_ mode: Int) throws {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try setMode(0o777)
    let names = StoredNames(directory.state)
    let error = failure { () throws(HomeError) in _ = try names.registry() }
    #expect(error?.message.hasPrefix("\(path) is not safe: all users can write to it") == true)
    try setMode(0o700)
    #expect(failure { () throws(HomeError) in _ = try names.registry() } == nil)
    withExtendedLifetime(directory) {}
  }

  @Test("reading names changes no file of another owner") func readsNamesOfOpenHome() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    _ = try await open.home.addRoom("Den")
    let names = StoredNames(directory.state)
    let before = try files(directory.state.home)
    #expect(before["home.sqlite-wal"]?.isEmpty == false)
    #expect(try names.registry().rooms.map(\.name) == ["Den"])
    #expect(try names.state().rooms.map(\.name) == ["Den"] && names.interfaces().isEmpty)
    #expect(try files(directory.state.home) == before)
    await open.home.close()
    let after = try files(directory.state.home)
    #expect(try names.registry().rooms.map(\.name) == ["Den"])
    #expect(try files(directory.state.home) == after)
  }

  @Test func readingNamesCreatesNoDatabase() throws {
    let directory = ScratchDirectory()
    let names = StoredNames(directory.state)
    #expect(try names.state() == HomeState() && names.interfaces().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: directory.state.database))
  }

  @Test func readOnlyControllerOpensHome() async throws {
    let directory = ScratchDirectory()
    try await OpenHome(directory).home.close()
    let database = try HomeDatabase.open(directory.state.database)
    try database.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    try database.close()
    let again = try await OpenHome(directory)
    #expect(await again.home.state.structures.map(\.name) == ["Home"])
    await again.home.close()
  }

  @Test func rejectsFilesThatAreNotDatabases() throws {
    let scratch = try TestDatabase()
    try Data(repeating: 0x41, count: 4096).write(to: URL(filePath: scratch.path))
    let before = try files(scratch.directory)
    #expect(openingError(scratch.path)?.message.contains("not a home") == true)
    #expect(try files(scratch.directory) == before)
  }

  @Test func rejectsDatabasesOfOtherPrograms() throws {
    let scratch = try TestDatabase()
    let queue = try DatabaseQueue(path: scratch.path)
    try queue.write { try $0.execute(sql: "CREATE TABLE notes (text TEXT)") }
    try queue.close()
    let before = try files(scratch.directory)
    #expect(openingError(scratch.path)?.message.contains("another program") == true)
    #expect(try files(scratch.directory) == before)
  }
}
