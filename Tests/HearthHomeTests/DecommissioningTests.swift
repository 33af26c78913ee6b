import HearthHome
import MatterModel
import Testing

@Suite("Removal of devices") struct DecommissioningTests {
  @Test func eligibilityFollowsSources() async throws {
    let open = try await OpenHome(.lamp(5), .bridge(7), .lamp(.temporaryLocal(1)))
    func eligibility(_ id: String) async throws -> HomeDevice.DecommissionEligibility {
      try await open.device(id).decommissionEligibility
    }
    #expect(try await eligibility("5") == .eligible)
    #expect(try await eligibility("7") == .eligibleWithSideEffects(.bridge(bridgedDeviceIDs: ["7/2", "7/3"])))
    #expect(try await eligibility("7/2") == .ineligible(reason: .bridgedDevice))
    let cloud = try #require(try await open.home.devices().list().first { !$0.isMatterDevice })
    #expect(try await cloud.decommissionEligibility == .ineligible(reason: .nonMatterDevice))
    for device in [cloud, try await open.device("7/2")] {
      let error = await #expect(throws: HomeError.self) { try await device.decommission() }
      #expect(error?.code == .badArguments)
    }
    let lamp = try await open.device("5")
    await open.process(.nodeRemoved(5))
    guard case .ineligible(.other) = try await lamp.decommissionEligibility else {
      Issue.record("a removed device can be removed")
      return
    }
    await open.home.close()
  }

  @Test func deviceOfAccountIsNotRemoved() async throws {
    let open = try await OpenHome(
      .lamp(5, uniqueID: "a", vendor: 0xFFF1), .lamp(.temporaryLocal(1), uniqueID: "a", vendor: 0xFFF1))
    let devices = try await open.home.devices().list()
    #expect(devices.map(\.sources.count) == [2])
    let device = try #require(devices.first)
    #expect(try await device.decommissionEligibility == .ineligible(reason: .multiSourceDevice))
    let error = await #expect(throws: HomeError.self) { try await device.decommission() }
    #expect(error?.code == .badArguments && error?.message.contains("cloud account") == true)
    #expect(try await open.home.devices().list().count == 1)
    await open.home.close()
  }
}
