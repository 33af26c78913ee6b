import Foundation
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Testing

@testable import Home
@testable import HomeControl
@testable import HomeStore

/// Sessions that a process stores for the next one.
@Suite struct SessionCacheTests {
  private let peer = "peer/0000000000000001"
  private let resumption = "resumption/0000000000000001"

  /// The last address of a node is known after a kill, however soon: an older one does not replace it.
  @Test func lastAddressSurvivesKill() async throws {
    try await inDirectory { state in
      try await onLoop { [peer, resumption] loop in
        let first = try cache(state, loop)
        try first.commit([StoreChange(peer, [1]), StoreChange(resumption, [1])])
        try first.commit([StoreChange(peer, [2])])
        first.abandon()
        let second = try cache(state, loop)
        #expect(try second.load() == [peer: [2], resumption: [1]])
        // The same for loaded records.
        try second.commit([StoreChange(resumption, [3])])
        try second.commit([StoreChange(peer, [3])])
        second.abandon()
        let third = try cache(state, loop)
        #expect(try third.load() == [peer: [3], resumption: [3]])
        third.close()
      }
    }
  }

  /// A read-only process stores an address beside the store, which is valid until the store has a newer one.
  @Test func addressOfReaderIsValidUntilStoreChanges() async throws {
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

  /// A change soon after a write is written after a delay, even without a further change.
  @Test func writesDelayedChanges() async throws {
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
