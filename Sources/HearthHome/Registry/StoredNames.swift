internal import Glibc
internal import MatterController

/// Access to the names of a home without its controller, also while another process owns its files.
package struct StoredNames: Sendable {
  private let directory: StateDirectory
  private var path: String { directory.database }

  package init(_ directory: StateDirectory) { self.directory = directory }

  /// Loads the stored names.
  package func registry() throws(HomeError) -> HomeRegistry {
    try directory.check()
    let names = try names()
    return HomeRegistry(names?.state ?? HomeState()).with(names.map { GroupRecord.groups(in: $0.controller) } ?? [])
  }

  /// Loads the home without the attribute values of its devices.
  package func state() throws(HomeError) -> HomeState { try names()?.state ?? HomeState() }

  /// Returns the names of the network interfaces of the first pairing; empty if none were named.
  package func interfaces() throws(HomeError) -> [String] { try names()?.interfaces ?? [] }

  private func names() throws(HomeError) -> HomeDatabase.Names? {
    // A log without its database is an error.
    guard access(path, F_OK) == 0 || access(path + "-wal", F_OK) == 0 else { return nil }
    try directory.check()
    return try HomeDatabase.names(in: path)
  }

  /// Calls the body with the home's database, which is created if it does not exist, and closes it. For tests and benchmarks.
  package func withDatabase<R>(_ body: (HomeDatabase) throws(HomeError) -> R) throws(HomeError) -> R {
    try directory.check()
    let database = try HomeDatabase.open(path)
    let result = Result { () throws(HomeError) in try body(database) }
    try database.close()
    return try result.get()
  }
}
