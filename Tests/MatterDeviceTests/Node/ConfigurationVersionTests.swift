import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// The version that makes controllers read the structure of a node again.
@Suite struct ConfigurationVersionTests {
  private func device(_ lab: Lab, _ endpoints: [EndpointDefinition], _ store: inout StoredState) -> UInt32? {
    var device = DeviceEngine(
      lab.configuration, endpoints: endpoints, stored: store, random: SeededRandomSource(seed: 2),
      signatures: DeterministicSignatures(), at: lab.now)
    while let effect = device.nextEffect() {
      if case .store(let changes) = effect { for change in changes { store[change.key] = change.value } }
    }
    return device.value(BasicInformation.configurationVersion, on: .root)
  }

  @Test func incrementsWhenCompositionChanges() throws {
    let lab = try Lab { $0.servesProvisional = true }
    var store = lab.store
    #expect(device(lab, [Lab.light], &store) == 1)
    #expect(device(lab, [Lab.light], &store) == 1, "unchanged")
    var second = Lab.light
    second.id = 2
    #expect(device(lab, [Lab.light, second], &store) == 2, "endpoint added")
    #expect(device(lab, [second, Lab.light], &store) == 2, "the order is ignored")
    second.deviceTypes = [DeviceTypes.onOffPlugInUnit]
    #expect(device(lab, [Lab.light, second], &store) == 3, "device type changed")
    second.servers.append(UserLabelServer.make())
    #expect(device(lab, [Lab.light, second], &store) == 4, "cluster added")
    #expect(device(lab, [Lab.light], &store) == 5, "endpoint removed")
    #expect(device(lab, [Lab.light], &store) == 5)
  }

  /// The version continues from the value that was set at the device.
  @Test func keepsManuallySetVersion() throws {
    var lab = try Lab { $0.servesProvisional = true }
    try lab.device.act(set: BasicInformation.configurationVersion, 7, on: .root, at: lab.now)
    lab.settle()
    lab.crash()
    #expect(lab.device.value(BasicInformation.configurationVersion, on: .root) == 7)
    var store = lab.store
    #expect(device(lab, [], &store) == 8)
  }
}
