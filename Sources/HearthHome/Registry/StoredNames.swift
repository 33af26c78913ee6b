internal import Glibc
internal import HomeControl
package import HomeModel
package import HomeStore
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// Access to the names of a home without its controller.
package struct StoredNames: Sendable {
  private let directory: StateDirectory
  private var path: String { directory.database }

  package init(_ directory: StateDirectory) { self.directory = directory }

  /// Loads the stored names.
  package func registry() throws(HomeError) -> HomeRegistry {
    HomeRegistry(try state()).with(GroupRecord.groups(in: try stored()))
  }

  private func stored() throws(HomeError) -> StoredState {
    try directory.check()
    do { return try StateStore.snapshot(of: directory.controller) } catch { throw HomeError(opening: error) }
  }

  /// Loads the home without the attribute values of its devices.
  package func state() throws(HomeError) -> HomeState {
    guard access(path, F_OK) == 0 else { return HomeState() }
    return try withDatabase { database throws(HomeError) in try database.names() }
  }

  /// Returns the future ids of nodes that were commissioned and have not yet reported their topology.
  package func awaited() throws(HomeError) -> [String] {
    guard access(path, F_OK) == 0 else { return [] }
    let wishes = try withDatabase { database throws(HomeError) in try database.wishes() }
    guard !wishes.isEmpty else { return [] }
    let stored = try stored()
    let peers = stored.keys.filter { $0.hasPrefix(PeerRecord.prefix) }
    let nodes = peers.compactMap { UInt64($0.dropFirst(PeerRecord.prefix.count), radix: 16) }.map { NodeID($0) }
    return nodes.filter { wishes[$0] != nil }.sorted().map { SourceID($0).description }
  }

  /// Returns the names of the network interfaces of the first pairing; empty if none were named.
  package func interfaces() throws(HomeError) -> [String] {
    guard access(path, F_OK) == 0 else { return [] }
    return try withDatabase { database throws(HomeError) in try database.interfaces() }
  }

  /// Changes names, rooms or devices in one transaction. Processes that have the home open are notified.
  package func change<R: Sendable>(
    _ body: (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) throws(HomeError) -> R {
    try withDatabase { database throws(HomeError) in
      try database.change(origin: nil, at: HostClock.unixMicroseconds(), body).result
    }
  }

  /// Calls the body with the home's database, which is created if it does not exist, and closes it.
  package func withDatabase<R>(_ body: (HomeDatabase) throws(HomeError) -> R) throws(HomeError) -> R {
    try directory.check()
    let database = try HomeDatabase.open(path)
    let result: Result<R, HomeError>
    do throws(HomeError) {
      result = .success(try body(database))
    } catch { result = .failure(error) }
    try database.close()
    return try result.get()
  }
}
