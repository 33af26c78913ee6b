import Foundation
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Testing

@testable import Home

/// What one process leaves to the next of the sessions that it had.
@Suite struct SessionCacheTests {
  private let peer = "peer/0000000000000001"
  private let resumption = "resumption/0000000000000001"

  /// Where a node went is known after a kill, however soon that comes: an older address does not lie over it.
  @Test func theLastAddressOutlivesAKill() async throws {
    try await inDirectory { state in
      try await onLoop { [peer, resumption] loop in
        let first = try cache(state, loop)
        try first.commit([StoreChange(peer, [1]), StoreChange(resumption, [1])])
        try first.commit([StoreChange(peer, [2])])
        first.abandon()
        let second = try cache(state, loop)
        #expect(try second.load() == [peer: [2], resumption: [1]])
        // The same for what it found there.
        try second.commit([StoreChange(resumption, [3])])
        try second.commit([StoreChange(peer, [3])])
        second.abandon()
        let third = try cache(state, loop)
        #expect(try third.load() == [peer: [3], resumption: [3]])
        third.close()
      }
    }
  }

  /// Who may not change the store leaves an address beside it, which counts until the store has another.
  @Test func anAddressBesideTheStoreCountsUntilThatChanges() async throws {
    try await inDirectory { state in
      try await onLoop { [peer] loop in
        let owner = try cache(state, loop)
        try owner.commit([StoreChange(peer, [1])])
        let guest = SessionCache(over: MemoryStore([peer: [1]]), isReadOnly: true, in: state, on: HostMachine(), loop)
        _ = try guest.load()
        try guest.commit([StoreChange(peer, [2])])
        guest.close()
        owner.abandon()
        let next = try cache(state, loop)
        #expect(try next.load() == [peer: [2]])
        try next.commit([StoreChange(peer, [3])])
        next.abandon()
        let last = try cache(state, loop)
        #expect(try last.load() == [peer: [3]])
        last.close()
      }
    }
  }

  /// What changes soon after it was written is written a little later, whether or not anything else changes.
  @Test func whatComesSoonAfterIsWritten() async throws {
    try await inDirectory { state in
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let first = try await loop.submit { [peer, resumption] in
        let first = try cache(state, loop)
        try first.commit([StoreChange(peer, [1])])
        for value in UInt8(1)...100 { try first.commit([StoreChange(resumption, [value])]) }
        return NIOLoopBound(first, eventLoop: loop)
      }.get()
      let isWritten = await eventually {
        let text = try? String(contentsOfFile: state.controller + "/sessions.json", encoding: .utf8)
        return text?.contains(Data([100]).base64EncodedString()) ?? false
      }
      #expect(isWritten)
      try await loop.submit { first.value.abandon() }.get()
    }
  }

  private func cache(_ state: StateDirectory, _ loop: any EventLoop) throws -> SessionCache {
    let machine = HostMachine()
    return SessionCache(over: try machine.openStore(state.controller), isReadOnly: false, in: state, on: machine, loop)
  }

  private func onLoop(_ body: @escaping @Sendable (any EventLoop) throws -> Void) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    try await loop.submit { try body(loop) }.get()
  }

  private func inDirectory(_ body: (StateDirectory) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(StateDirectory(directory))
  }
}
