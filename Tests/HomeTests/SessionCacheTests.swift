import Foundation
import MatterProtocol
import Runtime
import Testing

@testable import Home

/// What one process leaves to the next of the sessions that it had.
@Suite struct SessionCacheTests {
  /// Where a node went is known after a kill, however soon that comes: an older address does not lie over it.
  @Test func theLastAddressOutlivesAKill() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (state, machine) = (StateDirectory(directory), HostMachine())
    func cache() throws -> SessionCache {
      SessionCache(over: try machine.openStore(state.controller), in: state, on: machine)
    }
    let (peer, resumption) = ("peer/0000000000000001", "resumption/0000000000000001")
    let first = try cache()
    try first.commit([StoreChange(peer, [1]), StoreChange(resumption, [1])])
    try first.commit([StoreChange(peer, [2]), StoreChange(resumption, [2])])
    first.abandon()
    let second = try cache()
    #expect(try second.load() == [peer: [2], resumption: [2]])
    // The same for what it found there.
    try second.commit([StoreChange(resumption, [3])])
    try second.commit([StoreChange(peer, [3])])
    second.abandon()
    let third = try cache()
    #expect(try third.load()[peer] == [3])
    third.close()
  }
}
