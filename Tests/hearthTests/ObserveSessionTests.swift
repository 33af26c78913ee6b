import Foundation
import Home
import Testing

/// `hearth observe` with a web address, with real processes on loopback.
@Suite("Observers on loopback", .serialized) struct ObserveSessionTests {
  private struct Notice: Decodable {
    var observer: Int
    var after: String
    var until: String
    var attempt: Int
  }

  private func notices(_ server: WebServer) throws -> [Notice] {
    try server.bodies.map { try JSONDecoder().decode(Notice.self, from: Data($0.utf8)) }
  }

  @Test(.timeLimit(.minutes(10))) func suspendsAfterThreeFailuresAndResumes() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await Fleet(hearth, lamp: "Observed " + UUID().uuidString.prefix(8))
    defer { fleet.stop() }
    #expect(try hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let server = try WebServer()
    defer { server.close() }
    #expect(try hearth("off", "lamp").status == 0)
    let added = try hearth(
      "observe", "add", "--attribute", "--device", "lamp", "--cluster", "onOff", "--webhook",
      "http://127.0.0.1:\(server.port)/changed")
    #expect(added.output == "observer 1\n", "\(added.errors)")
    let watch = try Follower(hearth, "watch", "--json")
    defer { watch.process.terminate() }
    #expect(await watch.waits(for: #""connectivityState":"online""#))

    // Successful deliveries have adjoining ranges of the log.
    #expect(try hearth("on", "lamp").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#))
    #expect(try await waits { !server.bodies.isEmpty })
    try await Task.sleep(for: .seconds(2))
    let count = server.bodies.count
    let first = try #require(try notices(server).last)
    #expect(try notices(server).allSatisfy { $0.observer == 1 && $0.attempt == 1 })
    #expect(
      try await waits { try hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#) })

    // Three failures, five and ten seconds apart.
    server.answer(503)
    #expect(try hearth("off", "lamp").status == 0)
    #expect(try await waits { server.bodies.count >= count + 3 })
    #expect(try notices(server).dropFirst(count).map(\.attempt) == [1, 2, 3])
    #expect(try notices(server).dropFirst(count).allSatisfy { $0.after == first.until })
    #expect(
      try await waits { try hearth("observe", "list", "--json").output.contains(#""strikes":3,"suspended":true"#) })
    let list = try hearth("observe", "list").output
    #expect(list.contains("suspended: ") && list.contains("answered with 503"), "\(list)")

    // Changes while it is suspended are delivered together after it is resumed.
    server.answer(204)
    #expect(try hearth("on", "lamp").status == 0)
    #expect(try hearth("off", "lamp").status == 0)
    try await Task.sleep(for: .seconds(1))
    #expect(server.bodies.count == count + 3)
    #expect(try hearth("observe", "resume", "1").output == "resumed observer 1\n")
    #expect(try await waits { server.bodies.count == count + 4 })
    let last = try #require(try notices(server).last)
    #expect(last.after == first.until)
    let changes = try hearth("watch", "lamp", "--since", last.after, "--for", "0s", "--json").output
      .split(separator: "\n").filter { $0.contains(#""attribute":"onOff""#) }
    #expect(changes.map { $0.contains(#""value":true"#) } == [false, true, false], "\(changes)")
    #expect(
      try await waits { try hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#) })
    #expect(try hearth("observe", "remove", "1").status == 0)
    watch.process.interrupt()
    watch.process.waitUntilExit()
  }
}
