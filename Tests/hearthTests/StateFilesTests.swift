import Foundation
import GRDB
import HearthHome
import Testing

/// The state directory as other users or a broken disk leave it.
@Suite("State files", .serialized, .processes) struct StateFilesTests {
  private func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test("keeps a damaged database until the user acts") func damagedDatabase() async throws {
    let hearth = Hearth()
    #expect(try await hearth("group", "create", "Crowd").status == 0)
    let database = URL(filePath: hearth.state + "/home/home.sqlite")
    let queue = try DatabaseQueue(path: database.path)
    try await queue.writeWithoutTransaction {
      try $0.execute(sql: "UPDATE controller SET value = x'00' WHERE key = 'authority/key'")
      try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try queue.close()
    let bytes = try Data(contentsOf: database)

    for command in [["pair", "34970112332", "--timeout", "500ms"], ["group", "list"], ["rooms"]] {
      let result = try await hearth.run(command)
      #expect(result.status == 1)
      #expect(result.errors.contains("\(database.path) is damaged") && result.errors.contains("authority/key"))
      #expect(try Data(contentsOf: database) == bytes)
    }
    #expect(try await hearth("doctor").output.contains("is damaged"))
  }

  @Test(
    "rejects a database of another version and leaves it unchanged",
    arguments: [
      ["rooms"], ["devices"], ["room", "add", "Den"], ["hub", "clients"], ["observe", "list"],
      ["home", "cloud", "list"],
      ["group", "create", "Crew"], ["pair", "34970112332"],
    ])
  func otherVersion(_ command: [String]) async throws {
    let hearth = Hearth()
    #expect(try await hearth("room", "add", "Attic").status == 0)
    let database = URL(filePath: hearth.state + "/home/home.sqlite")
    let queue = try DatabaseQueue(path: database.path)
    try await queue.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA user_version = 11; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try queue.close()
    let bytes = try Data(contentsOf: database)
    let message =
      "\(database.path): made by another version of Hearth (schema 11; expected 10); move it and \(database.path)-wal away "
      + "to create a new home"

    let result = try await hearth.run(command)
    #expect(result.status == 1 && result.errors.contains(message), "\(result)")
    let doctor = try await hearth("doctor", "--json")
    #expect(doctor.status == 11 && doctor.output.contains("made by another version of Hearth"), "\(doctor)")
    #expect(try Data(contentsOf: database) == bytes)

    try FileManager.default.removeItem(at: database)
    #expect(try await hearth("rooms").status == 0)
  }

  @Test("names the owner of the home whose socket was removed") func removedSocket() async throws {
    let hearth = Hearth()
    let lock = try #require(try OwnerLock.acquire(StateDirectory(hearth.state)))
    let status = try await hearth("hub", "status")
    #expect(status.status != 13 && status.errors.contains("process \(getpid()), which owns the home"), "\(status)")
    withExtendedLifetime(lock) {}
  }

  @Test(
    "rejects a home that all users can change",
    arguments: [
      ["rooms"], ["home", "trust"], ["hub", "invite", "Phone", "--address", "127.0.0.1:5550"], ["devices"],
      ["group", "list"], ["room", "add", "Den"],
    ])
  func insecureDirectories(_ command: [String]) async throws {
    let hearth = Hearth()
    #expect(try await hearth("group", "create", "Crowd").status == 0)
    for directory in [hearth.state, hearth.state + "/home"] {
      try setMode(0o777, of: directory)
      let result = try await hearth.run(command)
      #expect(result.status == 1, "\(directory): \(result)")
      #expect(result.errors.contains("\(directory) is not safe: all users can write to it"), "\(result.errors)")
      try setMode(0o700, of: directory)
    }
    #expect(try await hearth.run(command).status == 0)
  }

  @Test(
    "warns once of a home that the group can change",
    arguments: [["rooms"], ["home", "trust"], ["hub", "clients"], ["devices"], ["group", "list"]])
  func groupWritableDirectories(_ command: [String]) async throws {
    let hearth = Hearth()
    #expect(try await hearth("group", "create", "Crowd").status == 0)
    for directory in [hearth.state, hearth.state + "/home"] {
      try setMode(0o770, of: directory)
      let result = try await hearth.run(command)
      #expect(result.status == 0, "\(result)")
      #expect(result.errors.ranges(of: "\(directory): the group can replace its files").count == 1, "\(result.errors)")
      try setMode(0o700, of: directory)
    }
  }
}
