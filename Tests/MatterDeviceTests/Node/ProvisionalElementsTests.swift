import ClusterLanguage
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Elements that are provisional in the standard. Matter Core § 7.3.2.
@Suite struct ProvisionalElementsTests {
  private func provisional(_ lab: Lab) -> [String] {
    lab.device.attributes.filter {
      $0.info.conformance.decision(ConformanceFacts(features: .max)).requirement == .provisional
    }.map(\.info.name)
  }

  @Test func servesProvisionalOnlyIfConfigured() throws {
    #expect(provisional(try Lab()) == [])
    let asked = try Lab { $0.servesProvisional = true }
    #expect(provisional(asked) == ["ConfigurationVersion", "SupportedTemperatureUnits"])
  }

  @Test func servesProvisionalNamedByServer() {
    let server = ClusterServer(UnitLocalization.self, features: [UnitLocalization.temperatureUnitFeature])
    #expect(server.attributes.keys.sorted() == [UnitLocalization.temperatureUnit.id])
    #expect(server.serving(UnitLocalization.supportedTemperatureUnits).attributes.count == 2)
  }

  @Test func servesProvisionalOnBridgeIfConfigured() {
    var facts = BridgedDeviceFacts(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Lamp", productID: 1, nodeLabel: "", serialNumber: "1",
      uniqueID: "1")
    let version = BridgedDeviceBasicInformation.configurationVersion.id
    #expect(BridgedDeviceServer.make(facts).attributes[version] == nil)
    facts.servesProvisional = true
    #expect(BridgedDeviceServer.make(facts).attributes[version] != nil)
  }
}
