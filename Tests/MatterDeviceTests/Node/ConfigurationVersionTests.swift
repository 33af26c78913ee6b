import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// The number that tells controllers to read anew how a node is put together.
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

  @Test func itRisesWithEachOtherComposition() throws {
    let lab = try Lab { $0.servesProvisional = true }
    var store = lab.store
    #expect(device(lab, [Lab.light], &store) == 1)
    #expect(device(lab, [Lab.light], &store) == 1, "nothing changed")
    var second = Lab.light
    second.id = 2
    #expect(device(lab, [Lab.light, second], &store) == 2, "an endpoint more")
    #expect(device(lab, [second, Lab.light], &store) == 2, "the order says nothing")
    second.deviceTypes = [DeviceTypes.onOffPlugInUnit]
    #expect(device(lab, [Lab.light, second], &store) == 3, "another device type")
    second.servers.append(UserLabelServer.make())
    #expect(device(lab, [Lab.light, second], &store) == 4, "a cluster more")
    #expect(device(lab, [Lab.light], &store) == 5, "an endpoint less")
    #expect(device(lab, [Lab.light], &store) == 5)
  }

  /// As the device's own hands set it, it goes on from there.
  @Test func itCanBeRaisedByHandAndIsKept() throws {
    var lab = try Lab { $0.servesProvisional = true }
    try lab.device.act(set: BasicInformation.configurationVersion, 7, on: .root, at: lab.now)
    lab.settle()
    lab.crash()
    #expect(lab.device.value(BasicInformation.configurationVersion, on: .root) == 7)
    var store = lab.store
    #expect(device(lab, [], &store) == 8)
  }
}
