import Foundation
import GRDB
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import MatterController
import MatterModel
import Testing
import WebClient

@testable import Hub

/// Invitations that can't be read, and requests in unusual forms.
@Suite("Unreadable invitations and unusual requests", .timeLimit(.minutes(10))) struct UnreadableInvitationTests {
  private func execute(_ sql: String, in served: ServedHome) async throws {
    try await served.home.controller.withDatabase { database in
      try database.write { try $0.execute(sql: sql) }
    }
  }

  @Test("disconnects invited clients when the invitations can't be read, and accepts them once they can")
  func failedRead() async throws {
    let served = try await ServedHome()
    let socket = served.scratch.state.hubSocket
    let token = try await served.invite("Ada", .member)
    let invited = try await RawWebSocket(socket: socket, token: token)
    let own = try await RawWebSocket(socket: socket)
    #expect(await eventually { try await served.hub.status.clients.map(\.name).sorted() == ["Ada", "client"] })
    try await execute("ALTER TABLE client RENAME TO lost", in: served)
    await #expect(throws: HomeError.self) { try await served.hub.loadInvitations() }
    #expect(await eventually { invited.isClosed })
    #expect(!own.isClosed && invited.now.closeCode == 1011)
    let refused = try await RawWebSocket(socket: socket, token: token)
    #expect(await eventually { refused.isClosed })
    #expect(refused.status == "500" && !String(decoding: refused.now.bytes, as: UTF8.self).contains("sqlite"))
    try await execute("ALTER TABLE lost RENAME TO client", in: served)
    let again = try await RawWebSocket(socket: socket, token: token)
    #expect(again.status == "101")
    await served.close()
  }

  @Test(
    "a damaged invitation gives no access and can be revoked",
    arguments: ["role = 'cook'", "token = x'00'", "created = 'x'"])
  func damagedRow(_ damage: String) async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Ada", .member)
    let other = try await served.invite("Bea", .member)
    try await execute("UPDATE client SET \(damage) WHERE name = 'Ada'", in: served)
    try await served.hub.loadInvitations()
    #expect(try await served.home.invitedClients.map(\.name) == ["Bea"])
    let refused = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    #expect(refused.status == "401")
    let accepted = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: other)
    #expect(accepted.status == "101")
    // Its name is taken until it is revoked.
    await #expect(throws: HomeError.self) { try await served.invite("ada", .guest) }
    #expect(try await served.home.revoke("ada").client.name == "Ada")
    _ = try await served.invite("Ada", .guest)
    await served.close()
  }

  @Test("refuses a request with the id of a running one, which can still be canceled") func sameID() async throws {
    let served = try await ServedHome()
    let client = try await RawWebSocket(socket: served.scratch.state.hubSocket)
    client.send(.start(HubStart(name: "twice")))
    let request = HomeRequest.subscribe(node: 5, request: SubscriptionRequest(paths: []))
    for _ in 0..<2 { client.send(.request(id: "a", request, origin: nil)) }
    func failures() -> [HomeError.Code] {
      client.news.compactMap { news -> HomeError.Code? in
        if case .reply(id: "a", .failure(let error)) = news { error.code } else { nil }
      }
    }
    #expect(await eventually { failures().contains(.badArguments) })
    client.send(.cancel(id: "a"))
    #expect(await eventually { failures().count == 2 })
    client.send(.request(id: "a", .anchor, origin: nil))
    #expect(
      await eventually { client.news.contains { if case .reply(id: "a", .success) = $0 { true } else { false } } })
    await served.close()
  }

  @Test("reports an unknown command to every role", arguments: HomeRole.allCases)
  func unknownCommand(role: HomeRole) async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Ada", role)
    let client = try await RawWebSocket(socket: served.scratch.state.hubSocket, token: token)
    #expect(await client.result("nosuch")?["error_code"] == 9)
    await served.close()
  }

  @Test("understands absolute URLs in requests, and answers the first of several requests") func requests() async throws
  {
    let served = try await ServedHome()
    for (target, status) in [
      ("http://localhost/health", "200"), ("HTTPS://hub.example:1/health?x", "200"), ("/health?x=/y", "200"),
      ("http://localhost", "404"), ("http://localhost/healthy", "404"), ("//health", "404"),
      ("/%68ealth", "404"),
    ] {
      let client = try await RawWebSocket(socket: served.scratch.state.hubSocket, isUpgrade: false)
      let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      client.send(Array((request + request).utf8))
      #expect(await eventually { client.isClosed })
      #expect(client.status == status, "\(target)")
      #expect(!String(decoding: client.now.bytes, as: UTF8.self).contains("HTTP/1.1"), "\(target)")
    }
    await served.close()
  }
}
