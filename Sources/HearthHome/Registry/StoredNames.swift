internal import Glibc
internal import MatterController

/// Access to the names of a home without its controller.
package struct StoredNames: Sendable {
  private let directory: StateDirectory
  private var path: String { directory.database }

  package init(_ directory: StateDirectory) { self.directory = directory }

  /// Loads the stored names.
  package func registry() throws(HomeError) -> HomeRegistry {
    try directory.check()
    guard access(path, F_OK) == 0 else { return HomeRegistry(HomeState()).with([]) }
    return try withDatabase { database throws(HomeError) in
      HomeRegistry(try database.names()).with(GroupRecord.groups(in: try database.controllerState()))
    }
  }

  /// Loads the home without the attribute values of its devices.
  package func state() throws(HomeError) -> HomeState {
    guard access(path, F_OK) == 0 else { return HomeState() }
    return try withDatabase { database throws(HomeError) in try database.names() }
  }

  /// Returns the names of the network interfaces of the first pairing; empty if none were named.
  package func interfaces() throws(HomeError) -> [String] {
    guard access(path, F_OK) == 0 else { return [] }
    return try withDatabase { database throws(HomeError) in try database.interfaces() }
  }

  /// Calls the body with the home's database, which is created if it does not exist, and closes it.
  package func withDatabase<R>(_ body: (HomeDatabase) throws(HomeError) -> R) throws(HomeError) -> R {
    try directory.check()
    let database = try HomeDatabase.open(path)
    let result = Result { () throws(HomeError) in try body(database) }
    try database.close()
    return try result.get()
  }
}
