import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite struct SocketPathTests {
  /// Closing a listener removes no file, neither its own nor one that its short path leads to at that time.
  @Test func closingAListenerRemovesNoSocket() async throws {
    let root = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let paths = [root + "/one", root + "/other"].map { $0 + "/" + String(repeating: "long/", count: 20) + "the.sock" }
    for path in paths {
      let directory = (path as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    let listeners = [
      try await bootstrap.withBoundSocket(SocketPath.listen(at: paths[0], mode: 0o600)).get(),
      try await bootstrap.withBoundSocket(SocketPath.listen(at: paths[1], mode: 0o600)).get(),
    ]
    // Reuses every descriptor number that the first directory could have had.
    let directories = (0..<200).compactMap { _ in SocketPath.Directory(of: paths[1]) }
    try await listeners[0].close().get()
    for directory in directories { directory.close() }
    #expect(throws: NetworkError.self) { try SocketPath.listen(at: paths[1], mode: 0o600) }
    let client = try await SocketPath.withShort(paths[1]) { short in
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(unixDomainSocketPath: short).get()
    }
    try await client.close().get()
    try await listeners[1].close().get()
    #expect(try FileManager.default.attributesOfItem(atPath: paths[1])[.posixPermissions] as? Int == 0o600)
  }

  @Test func missingDirectoryIsNamedInError() {
    #expect(throws: NetworkError.system(operation: "/nowhere/the.sock", code: ENOENT)) {
      try SocketPath.listen(at: "/nowhere/the.sock", mode: 0o600)
    }
  }
}
