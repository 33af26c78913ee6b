import Foundation
import HearthHome
import Testing

/// `hearth observe` with a web address, with real processes on loopback.
@Suite("Observers on loopback", .serialized, .processes) struct ObserveSessionTests {
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
    let fleet = try await Fleet(hearth, lamp: "Observed " + UUID().uuidString.prefix(8))
    #expect(try await hearth("pair", fleet.code, "--name", "Lamp").status == 0)
    let server = try WebServer()
    defer { server.close() }
    #expect(try await hearth("off", "lamp").status == 0)
    let added = try await hearth(
      "observe", "add", "--attribute", "--device", "lamp", "--cluster", "onOff", "--webhook",
      "http://127.0.0.1:\(server.port)/changed")
    #expect(added.output == "observer 1\n", "\(added.errors)")
    let watch = try Follower(hearth, "watch", "--json")
    #expect(await watch.waits(for: #""connectivityState":"online""#))

    // Successful deliveries have adjoining ranges of the log.
    #expect(try await hearth("on", "lamp").status == 0)
    #expect(await watch.waits(for: #""attribute":"onOff""#))
    #expect(await eventually { !server.bodies.isEmpty })
    #expect(
      try await eventuallyByCommands {
        try await hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#)
      })

    // Three failures, five and ten seconds apart.
    server.answer(503)
    #expect(try await hearth("off", "lamp").status == 0)
    #expect(
      try await eventuallyByCommands {
        try await hearth("observe", "list", "--json").output.contains(#""strikes":3,"suspended":true"#)
      })
    let failed = try notices(server)
    let count = failed.count
    let first = try #require(failed.dropLast(3).last)
    #expect(failed.dropLast(3).allSatisfy { $0.observer == 1 && $0.attempt == 1 })
    #expect(failed.suffix(3).map(\.attempt) == [1, 2, 3])
    #expect(failed.suffix(3).allSatisfy { $0.after == first.until })
    let list = try await hearth("observe", "list").output
    #expect(list.contains("suspended: ") && list.contains("answered with 503"), "\(list)")

    // Changes while it is suspended are delivered together after it is resumed.
    server.answer(204)
    #expect(try await hearth("on", "lamp").status == 0)
    #expect(try await hearth("off", "lamp").status == 0)
    /// The values of the lamp since an anchor in the log.
    func values(since anchor: String) async throws -> [Bool] {
      try await hearth("watch", "lamp", "--since", anchor, "--for", "0s", "--json").output.split(separator: "\n")
        .filter { $0.contains(#""attribute":"onOff""#) }.map { $0.contains(#""value":true"#) }
    }
    #expect(try await eventuallyByCommands { try await values(since: first.until) == [false, true, false] })
    #expect(server.bodies.count == count)
    #expect(try await hearth("observe", "resume", "1").output == "resumed observer 1\n")
    #expect(await eventually { server.bodies.count == count + 1 })
    let last = try #require(try notices(server).last)
    #expect(last.after == first.until)
    #expect(
      try await eventuallyByCommands {
        try await hearth("observe", "list", "--json").output.contains(#""strikes":0,"suspended":false"#)
      })
    #expect(try await hearth("observe", "remove", "1").status == 0)
    _ = await watch.interrupt()
  }
}
