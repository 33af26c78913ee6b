import Foundation
import HearthHome
import Hub
import MatterProtocol
import Testing

/// The code samples of the documentation compile and run.
@Suite("Hub articles", .timeLimit(.minutes(10))) struct ArticleTests {
  /// The nonempty lines of a text, without surrounding whitespace.
  private func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  @Test func snippetsMatchArticles() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(contentsOf: root.appending(path: "Sources/Hub/Hub.docc/SharingAHome.md"), encoding: .utf8)
    let compiled = lines(try String(contentsOf: here.appending(path: "SharingSnippets.swift"), encoding: .utf8))
    let blocks = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count >= 6)
    for block in blocks {
      let wanted = lines(block)
      let isFound = compiled.indices.contains { start in compiled[start...].starts(with: wanted) }
      #expect(isFound, "not among the compiled snippets:\n\(block)")
    }
  }

  @Test func sharingWorksAsDocumented() async throws {
    let served = try await ServedHome()
    await served.stopHub()
    let state = served.scratch.state
    let hub = try await SharingSnippets.run(served.home, at: "127.0.0.1", 0)
    let token = try await SharingSnippets.invite(served.home)
    let address = try #require(await hub.status.addresses.last)
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let fingerprint = try HubIdentity(state).fingerprint
    let member = try await SharingSnippets.client([.local(.host("127.0.0.1", port: port))], token, fingerprint)
    #expect(await member.state.devices.count == 1)
    let invitation = HubInvitation(
      addresses: [.host("127.0.0.1", port: port)], token: token, fingerprint: fingerprint, home: ServedHome.identity,
      name: "Ada", role: .member)
    let joined = try await SharingSnippets.join("\(invitation)", ServedHome.logger)
    #expect(await joined.state.devices.count == 1)
    await joined.close()
    #expect(await eventually { await hub.status.clients.count == 1 })
    let owner = try await SharingSnippets.client([.local(.socket(state.hubSocket))], nil, fingerprint)
    #expect(try await owner.hubStatus.clients.map(\.role) == [.member, .owner])
    // A member can't change names, and no client has access to the keys.
    #expect(await code { _ = try await member.rename("5", to: "Desk") } == .accessDenied)
    #expect(await code { _ = try member.controller } == .accessDenied)
    async let changes: Void = SharingSnippets.changes(owner)
    try await SharingSnippets.revoke(owner)
    #expect(await eventually { try await owner.hubStatus.clients.map(\.role) == [.owner] })
    await member.close()
    await owner.close()
    await changes
    await hub.close()
    let options = HubServer.Options(logger: ServedHome.logger)
    let local = try await SharingSnippets.serveLoopback(served.home, options, 0)
    #expect(await local.status.addresses.last?.hasPrefix("ws://") == true)
    await local.close()
    await served.close()
  }

  @Test func routesWorkAsDocumented() {
    #expect(SharingSnippets.routes().map(\.locality) == [.local, .remote])
    #expect(HubRoute.peer(ServedHome.options(Scratch())).locality == .peer)
  }
}
