import Foundation
import GRDB
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import Logging
import MatterModel
import NIOCore
import Runtime
import Testing

/// Failures while a home is opened, or while it starts to follow its devices.
@Suite("Opening of a controller", .timeLimit(.minutes(10))) struct ControllerOpeningTests {
  /// Returns the open files of this process below a directory.
  private func openFiles(below directory: String) throws -> [String] {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(directory + "/") }
  }

  /// A process that can't open its home retries twice a second.
  @Test func failedOpeningReleasesSocketsAndFiles() async throws {
    let directory = ScratchDirectory()
    try await OpenHome(directory).home.close()
    let database = try HomeDatabase.open(directory.state.database)
    try database.write { try $0.execute(sql: "INSERT INTO device VALUES (x'00', x'00', NULL, '')") }
    try database.close()
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.logger.logLevel = .critical
    options.discovery = .builtin
    for _ in 0..<3 {
      await #expect(throws: HomeError.self) { try await HomeController.open(options) }
    }
    // Service discovery registers each of its sockets on loopback until it is stopped.
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.state.responders) == [])
    #expect(await eventually { (try? openFiles(below: directory.state.root)) == [] })
  }

  @Test func followsAfterAFailure() async throws {
    let open = try await OpenHome(.lamp(5))
    let controller = open.controller
    try await controller.withDatabase { database in
      try database.write { try $0.execute(sql: "INSERT INTO observer (definition, sequence) VALUES ('damaged', 0)") }
    }
    @Sendable func fails() async -> Bool {
      do throws(HomeError) {
        try await controller.follow()
        return false
      } catch {
        return true
      }
    }
    async let first = fails()
    async let second = fails()
    let outcomes = await [first, second]
    #expect(outcomes == [true, true])
    #expect(await controller.isFollowing == false)
    #expect(try await controller.eventLoop.submit { controller.view.stream.hubState }.get() == .notAvailable)
    try await controller.withDatabase { database in try database.write { try $0.execute(sql: "DELETE FROM observer") } }
    try await controller.follow()
    #expect(await controller.isFollowing)
    let isSubscribing = try await controller.eventLoop.submit {
      controller.dispatcher.value.host.perform { engine, _ in engine.isFollowing }
    }.get()
    #expect(isSubscribing)
    await open.home.close()
  }
}
