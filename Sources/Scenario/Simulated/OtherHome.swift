internal import HearthHome
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime
internal import Simulation

/// A second home with the same devices, which subscribes to them as the first one does.
struct OtherHome {
  let machine: SimulatedMachine
  let directory: String
  /// Nil while the machine has no power.
  var home: Home?
  /// The unique IDs of its devices, including bridged ones.
  var devices: Set<String> = []
}

extension SimulatedHome {
  /// Opens another home on a machine of its own, and commissions all devices of the first home into it.
  /// - Throws: ``HomeError``, also if a device can't be commissioned.
  func addOtherHome() async throws {
    let machine = await simulation.perform { $0.addMachine("other hub") }
    relinkNewMachine(machine)
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

  /// Restores the power of the other homes' machines, and opens the homes with their stored state.
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
    // The power may have been cut again while the home opened.
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
  /// Returns the request for another administrator to commission the device.
  /// - Throws: ``HomeError`` if the window accepts only the setup code of the device's label.
  func request(for device: String) throws(HomeError) -> CommissioningRequest {
    guard case .enhanced(let passcode, let discriminator) = kind else {
      throw HomeError(.unreachable, "\(device) opened no window for a second administrator")
    }
    return CommissioningRequest(passcode: passcode, target: .discriminator(.long(discriminator)))
  }
}
