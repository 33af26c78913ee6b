import HearthHome
import HomeControl
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Scenario
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Hub

/// Checks of the devices by a client that uses them directly and has another route, in virtual time.
@Suite("Peer watch") struct PeerWatchTests {
  @Test("reports a device that doesn't answer a request within two seconds") func reportsSilence() async throws {
    let definition = try HomeDefinition.load(
      simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: on/off light }\n")])
    let routes = HubClient.Options(
      routes: [.local(.socket("/a")), .local(.socket("/b"))], name: "test", logger: ServedHome.logger)
    let run = await simulate(definition, seed: 1) { [routes] home, world in
      let controller = try home.controller
      let node = try #require(await controller.nodes.first?.nodeID)
      let silence = Mutex(Duration.zero)
      let options = PeerWatch.Options(
        heartbeat: routes.heartbeat, deviceTimeout: .seconds(10), probeInterval: routes.probeInterval)
      _ = try await PeerWatch.start(controller, options) { event in
        if case .silent(let time) = event { silence.withLock { $0 = max($0, time) } }
      }.get()
      // An idle device is not silent.
      try await world.simulation.sleep(for: .seconds(30))
      #expect(silence.withLock { $0 } == .zero)
      try await world.cutPower(of: "Lamp")
      async let reading = try? controller.read(node, [AttributePath(OnOff.onOff.path(on: 1))])
      try await world.simulation.sleep(for: .seconds(2))
      let reported = silence.withLock { $0 }
      #expect(await reading == nil)
      return reported
    }
    #expect(try run.result.get() >= routes.routeTimeout)
  }
}
