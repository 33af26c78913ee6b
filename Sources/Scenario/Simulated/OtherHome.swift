internal import Home
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation

/// A second administrator of the same devices, who follows them as the first one does.
struct OtherHome {
  let machine: SimulatedMachine
  let directory: String
  /// Nil while its machine has no power.
  var home: Home?
  /// The unique ids of the devices that it was let in to, and of what is behind them.
  var devices: Set<String> = []
}

extension SimulatedHome {
  /// Opens another home on a machine of its own, and lets it in to all devices that the first one has.
  /// - Throws: ``HomeError``, also where a device does not let it in.
  func addOtherHome() async throws {
    let machine = await simulation.perform { $0.addMachine("other hub") }
    relinkNewcomer(machine)
    let first = try home
    others.append(OtherHome(machine: machine, directory: directory + "/other \(others.count + 1)"))
    let number = others.count - 1
    try await open(other: number)
    guard let other = others[number].home else { throw HomeError(.unreachable, "the second home has no power") }
    var nodes: Set<NodeID> = []
    for device in await first.registry.devices where nodes.insert(device.nodeID).inserted {
      _ = try await other.pair(try await first.share(device, for: .seconds(180)).request(for: device.name))
    }
    let devices = try await other.devices().list()
    await other.waitForConnectivity(of: Set(devices.map(\.id)), timeout: .seconds(60))
    others[number].devices = Set(try await first.devices().list().map(\.identity.matterUniqueID))
  }

  /// Gives the machines of all other homes their power back, and opens the homes on what was stored there.
  func restoreOthers() async throws {
    for number in others.indices {
      others[number].machine.restorePower()
      if others[number].home == nil { try await open(other: number) }
    }
  }

  private func open(other number: Int) async throws(HomeError) {
    let machine = others[number].machine
    let home = try await Home(homeOptions(machine, others[number].directory))
    let controller = try home.controller
    // It may have lost its power again while it opened.
    guard machine.isPowered else { return controller.abandon() }
    others[number].home = home
    machine.onPowerCut = [
      { [weak self] in
        controller.abandon()
        self?.assumeIsolated { $0.others[number].home = nil }
      }
    ]
    do throws(HomeError) { try await home.follow() } catch { if machine.isPowered { throw error } }
  }
}

extension CommissioningWindow {
  /// What another administrator gets in by.
  /// - Throws: ``HomeError`` where only the code on the device's label does.
  func request(for device: String) throws(HomeError) -> CommissioningRequest {
    guard case .enhanced(let passcode, let discriminator) = kind else {
      throw HomeError(.unreachable, "\(device) opened no window for a second administrator")
    }
    return CommissioningRequest(passcode: passcode, target: .discriminator(.long(discriminator)))
  }
}
