import Foundation
import HearthHome
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// A hub of a stored home without a network; the reports of its devices are injected.
final class BenchHub: EventServer {
  /// A few, so that the home that each client loads is small.
  static let devices = 10

  let state: StateDirectory
  private let home: Home
  private let controller: HomeController
  private let hub: HubServer
  private var reports = 0
  private var invitations = 0

  var socket: String { state.hubSocket }

  /// - Parameter isOnNetwork: whether the hub also listens on TLS.
  init(_ state: StateDirectory, isOnNetwork: Bool = false) throws {
    self.state = state
    (home, hub) = try waitFor {
      var options = StoredDevices.options(state)
      options.following.grace = .zero
      let home = try await Home(options)
      var serving = HubServer.Options(logger: quiet)
      // No pings during a measurement.
      serving.heartbeat = .seconds(600)
      if isOnNetwork { serving.addresses = [.host("127.0.0.1", port: 0)] }
      let hub = try await HubServer.open(home, serving)
      for node in 1...Self.devices {
        try await home.controller.process(.established(NodeID(UInt64(node)), deadline: .max))
      }
      return (home, hub)
    }
    controller = try home.controller
  }

  /// Injects a report of one changed attribute, on the event loop of the home like a datagram.
  func inject() {
    let change = StoredDevices.change(
      NodeID(UInt64(reports % Self.devices + 1)), level: UInt8(reports / Self.devices % 100))
    reports += 1
    controller.eventLoop.execute { [controller] in controller.assumeIsolated { $0.process(change) } }
  }

  func clientCount() throws -> Int { try waitFor { [hub] in await hub.status.clients.count } }

  /// Invites another client.
  func invitation() throws -> HubInvitation {
    invitations += 1
    return try waitFor { [home, hub, invitations] in try await home.invitation("Bench \(invitations)", to: hub) }
  }

  func close() throws {
    try waitFor { [hub, home] in
      await hub.close()
      await home.close()
    }
  }
}

extension Home {
  /// Invites a client to the TLS port of a hub.
  func invitation(_ name: String, to hub: HubServer) async throws -> HubInvitation {
    let status = await hub.status
    let address = try status.addresses.map { text throws(HomeError) in try HubAddress(text) }
      .first { if case .host = $0 { true } else { false } }
    guard let address, let fingerprint = status.fingerprint else { throw BenchError("the hub has no TLS port") }
    return HubInvitation(
      addresses: [address], token: try await invite(name, .member).token,
      fingerprint: try CertificateFingerprint(fingerprint), home: status.home, name: name, role: .member)
  }
}
