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

  var socket: String { state.hubSocket }

  init(_ state: StateDirectory) throws {
    self.state = state
    (home, hub) = try waitFor {
      var options = StoredDevices.options(state)
      options.following.grace = .zero
      let home = try await Home(options)
      var serving = HubServer.Options(logger: quiet)
      // No pings during a measurement.
      serving.heartbeat = .seconds(600)
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

  func close() throws {
    try waitFor { [hub, home] in
      await hub.close()
      await home.close()
    }
  }
}
