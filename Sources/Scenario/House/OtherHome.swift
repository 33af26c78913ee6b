internal import Home
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation

/// A second administrator of the same devices, who follows them as the first one does.
struct OtherHome {
  let machine: SimulatedMachine
  let home: Home
  /// The unique ids of the devices that it was let in to, and of what is behind them.
  var devices: Set<String> = []
}

extension SimulatedHome {
  /// Opens another home on a machine of its own, and lets it in to all devices that the first one has.
  func addOtherHome() async throws {
    let machine = await simulation.perform { $0.addMachine("other hub") }
    take(machine)
    let first = try home
    let other = try await Home(homeOptions(machine, directory + "/other \(others.count + 1)"))
    others.append(OtherHome(machine: machine, home: other))
    try await other.follow()
    var nodes: Set<NodeID> = []
    for device in await first.registry.devices where nodes.insert(device.nodeID).inserted {
      let window = try await first.share(device, for: .seconds(180))
      guard case .enhanced(let passcode, let discriminator) = window.kind else { continue }
      _ = try await other.pair(
        CommissioningRequest(passcode: passcode, target: .discriminator(.long(discriminator))))
    }
    let devices = try await other.devices().list()
    await other.waitForConnectivity(of: Set(devices.map(\.id)), timeout: .seconds(60))
    others[others.count - 1].devices = Set(try await first.devices().list().map(\.identity.matterUniqueID))
  }
}
