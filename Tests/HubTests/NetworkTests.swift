import Foundation
import HearthHome
import HomeModel
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Hub

/// Clients over TLS.
@Suite("Network", .timeLimit(.minutes(10))) struct NetworkTests {
  private func port(_ served: ServedHome) async throws -> Int {
    let address = try #require(try await served.hub.status.addresses.last)
    return try #require(address.split(separator: ":").last.flatMap { Int($0) })
  }

  @Test func connectsOverTLS() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let far = HubRoute.remote(.host("127.0.0.1", port: try await port(served)))
    let token = try await served.invite("Ada", .member)
    #expect(await code { _ = try await served.client(through: [far]) } == .accessDenied)
    let unknown = "0123456789abcdef0123456789abcdef"
    #expect(await code { _ = try await served.client(token: unknown, through: [far]) } == .accessDenied)
    let client = try await served.client(token: token, through: [far])
    #expect(try await client.devices().list().map(\.sourceConnectivity) == [.init(.online, .remote)])
    #expect(try await served.hub.status.clients.map(\.name) == ["Ada"])
    #expect(try await served.hub.status.clients.map(\.address) == ["127.0.0.1"])
    #expect(await code { _ = try await client.addRoom("Den") } == .accessDenied)
    try await served.report(level: 9)
    #expect(await eventually { await client.state.value(5, ServedHome.level) == [0x04, 9] })
    // Large messages, in both directions.
    let labels = ConcreteAttributePath(1, 0x41, 0)
    let text = [UInt8](repeating: 3, count: 100_000)
    let data = AttributeData(labels, dataVersion: 0, value: text)
    try await served.home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
    #expect(await eventually { await client.state.value(5, labels) == text })
    let record = try #require(await client.registry.devices.first)
    let write = AttributeWrite(AttributePath(endpoint: 1, cluster: 8, attribute: 0x11), value: [0x04, 9])
    let writes = [AttributeWrite](repeating: write, count: 8000)
    #expect(await code { try await client.write(record, writes, isTimed: false) } == .notFound)
    // Resumption after a disconnection.
    let updates = await listening(to: client)
    try await served.hub.hangUp(andThen: (20...22).map { served.input(level: $0) })
    var levels: [UInt8] = []
    for await update in updates {
      for case .attribute(_, ServedHome.level, let value?) in update.changes { levels.append(value[1]) }
      if levels.last == 22 { break }
    }
    #expect(levels == [20, 21, 22])
    await client.close()
    await served.close()
  }

  @Test func reconnectsIfLocalAddressIsRemoved() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let far = HubRoute.remote(.host("127.0.0.1", port: try await port(served)))
    let client = try await served.client(token: try await served.invite("Ada", .member), through: [far])
    let count = try await served.hub.nextConnection
    try await #require(client.backend as? HubClient).noteAddresses([])
    #expect(await eventually { try await served.hub.nextConnection > count })
    #expect(
      await eventually { try await client.devices().list().map(\.sourceConnectivity) == [.init(.online, .remote)] })
    await client.close()
    await served.close()
  }

  @Test("replies to an owner that revokes its own invitation before its connections are closed")
  func repliesToOwnRevocation() async throws {
    let served = try await ServedHome()
    let token = try await served.invite("Ada", .owner)
    let (client, other) = (try await served.client(token: token), try await served.client(token: token))
    #expect(try await client.revoke("ada").client.name == "Ada")
    #expect(await eventually { try await served.hub.status.clients.isEmpty })
    for home in [client, other] {
      #expect(await eventually { await code { _ = try await home.addRoom("Den") } == .accessDenied })
      await home.close()
    }
    #expect(try await served.home.rooms().list().isEmpty)
    await served.close()
  }

  @Test("reports the role that the hub gives the client") func reportsRole() async throws {
    let served = try await ServedHome()
    #expect(await served.home.role == nil)
    for role in HomeRole.allCases {
      let client = try await served.client(token: try await served.invite(role.rawValue, role))
      #expect(await client.role == role)
      await client.close()
    }
    await served.close()
  }

  @Test("checks the user's certificate also without a port") func checksUnusedCertificate() async throws {
    let served = try await ServedHome(isEmpty: true)
    await served.stopHub()
    let missing = served.scratch.state.root + "/nope.pem"
    let start = { try await served.startHub { $0.certificate = .init(certificate: missing, key: missing) } }
    #expect(await code(start) == .badArguments)
    await served.close()
  }

  @Test("names the path of a socket that can't be created once") func namesPathOnce() async throws {
    let served = try await ServedHome(isEmpty: true)
    await served.stopHub()
    let path = served.scratch.state.root + "/no such dir/s"
    do {
      try await served.startHub { $0.addresses = [.socket(path)] }
      Issue.record("listens in a directory that does not exist")
    } catch {
      #expect(HomeError(error).message.components(separatedBy: path).count == 2, "\(error)")
    }
    await served.close()
  }

  @Test func rejectsOtherCertificate() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let far = HubRoute.remote(.host("127.0.0.1", port: try await port(served)))
    var options = ServedHome.clientOptions(token: try await served.invite("Ada", .member), [far])
    options.trust.fingerprint = try CertificateFingerprint(String(repeating: "00", count: 32))
    let other = options
    #expect(await code { _ = try await Home(through: other) } == .accessDenied)
    #expect(try await served.hub.status.clients.isEmpty)
    await served.close()
  }

  @Test func connectsWithInvitation() async throws {
    let served = try await ServedHome { $0.addresses = [.host("127.0.0.1", port: 0)] }
    let fingerprint = try #require(await served.hub.identity?.fingerprint)
    #expect(try await served.hub.status.fingerprint == "\(fingerprint)")
    let invitation = HubInvitation(
      addresses: [.host("127.0.0.1", port: try await port(served))], token: try await served.invite("Ada", .member),
      fingerprint: fingerprint, home: ServedHome.identity, name: "Ada", role: .member)
    func connect(_ invitation: HubInvitation) async throws -> Home {
      var options = HubClient.Options(try HubInvitation("\(invitation)"), logger: ServedHome.logger)
      options.timeout = .seconds(120)
      return try await Home(through: options)
    }
    func refusal(_ invitation: HubInvitation) async -> HomeError.Code? {
      await code { _ = try await connect(invitation) }
    }
    let client = try await connect(invitation)
    #expect(try await client.devices().list().map(\.sourceConnectivity) == [.init(.online, .local)])
    await client.close()
    var other = invitation
    other.home = String(repeating: "0B", count: 16)
    #expect(await refusal(other) == .badArguments)
    other = invitation
    other.token = String(repeating: "0B", count: 16)
    #expect(await refusal(other) == .accessDenied)
    await served.close()
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], Array("GET /ws HTTP/1.1\r\n\r\n".utf8),
    ] as [[UInt8]])
  func rejectsConnectionWithoutTLS(_ bytes: [UInt8]) async throws {
    let served = try await ServedHome {
      $0.addresses = [.host("127.0.0.1", port: 0)]
      $0.handshakeTime = .milliseconds(500)
    }
    let port = try await port(served)
    let raw = try await RawWebSocket { try await $0.connect(host: "127.0.0.1", port: port).get() }
    raw.send(bytes)
    #expect(await eventually { raw.isClosed })
    #expect(try await served.hub.status.clients.isEmpty)
    await served.close()
  }
}
