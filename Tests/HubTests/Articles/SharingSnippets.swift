import HearthHome
import Hub
import Logging

// The code samples of the article “Sharing a home”, verbatim; `ArticleTests` compares and runs them.

enum SharingSnippets {
  static func run(_ home: Home, at address: String, _ port: Int) async throws -> HubServer {
    var options = HubServer.Options(logger: Logger(label: "hub"))
    options.addresses = [.host(address, port: port)]
    let hub = try await HubServer.open(home, options)
    return hub
  }

  static func serveLoopback(_ home: Home, _ options: HubServer.Options, _ port: Int) async throws -> HubServer {
    var options = options
    options.loopback = HubServer.Loopback(port: port)
    let hub = try await HubServer.open(home, options)
    return hub
  }

  static func invite(_ home: Home) async throws -> String {
    let (client, token) = try await home.invite("Ada", .member)
    print(client.name, "is a", client.role.rawValue, "with", token)
    return token
  }

  static func join(_ text: String, _ logger: Logger) async throws -> Home {
    let invitation = try HubInvitation(text)
    let home = try await Home(through: HubClient.Options(invitation, logger: logger))
    return home
  }

  static func revoke(_ owner: Home) async throws {
    let gone = try await owner.revoke("Ada").client
    print("revoked", gone.name, "of", try await owner.hubStatus.clients.map(\.name))
  }

  static func client(
    _ routes: [HubRoute], _ token: String?, _ fingerprint: CertificateFingerprint
  ) async throws -> Home {
    var options = HubClient.Options(routes: routes, name: "Kitchen panel", logger: Logger(label: "panel"))
    options.token = token
    options.trust.fingerprint = fingerprint
    let home = try await Home(through: options)
    for device in try await home.devices().list() { print(device.name, device.sourceConnectivity.dataSourceLocality) }
    return home
  }

  static func routes() -> [HubRoute] {
    let routes: [HubRoute] = [
      .local(.host("192.168.1.10", port: 5550)), .remote(.host("hub.example.org", port: 5550)),
    ]
    return routes
  }

  static func changes(_ home: Home) async {
    for await change in home.devices().stream() {
      if case .updated(let old, let new) = change, old.sourceConnectivity != new.sourceConnectivity {
        let (state, way) = (new.sourceConnectivity.connectivityState, new.sourceConnectivity.dataSourceLocality)
        print(new.name, state, way)
      }
    }
  }
}
