import MatterClusters
import MatterDevice
import MatterModel
import Testing

@testable import VirtualDevices

/// The key `faults` of definition files.
@Suite("Definitions of faults") struct FaultReadingTests {
  private func device(_ faults: String, type: String = "dimmable light") throws -> DeviceDefinition {
    let text = "devices:\n  - name: A\n    type: \(type)\n    faults: \(faults)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  private func problem(_ text: String) -> String {
    do {
      _ = try HomeDefinition.load(simulating: [("home.yaml", text)])
      return "no problem"
    } catch {
      return "\(error)"
    }
  }

  private func problem(of faults: String) -> String {
    problem("devices:\n  - name: A\n    type: dimmable light\n    faults: \(faults)\n")
  }

  @Test func readsAllFaults() throws {
    let faults = try device(
      """
      { busy: true, slow: 2s, silent: true, dropSessions: 5m, refuseResumption: yes, attestation: root,
        full: [scenes, groups], update: digest, data: { onOff.onOff: null, 1.levelControl.currentLevel: type,
        0.basicInformation.vendorName: missing } }
      """
    ).faults
    #expect(
      faults.words == [
        "busy", "slow 2 s", "silent", "dropSessions 5 min", "refuseResumption", "attestation root",
        "full groups scenes", "update digest", "onOff.onOff null", "1.levelControl.currentLevel type",
        "0.basicInformation.vendorName missing",
      ])
    #expect(faults.areOfNode && faults.data.map(\.endpoint) == [nil, 1, 0])
    #expect(try device("{ full: all }").faults.fullTables.count == DeviceTable.allCases.count)
    #expect(try device("{ silent: false }").faults == DeviceFaults())
  }

  @Test(
    "names line and expected values",
    arguments: [
      ("slow", "4:13: found “slow”, expected faults such as { slow: 2s }"),
      ("{ slo: 2s }", "4:15: found key “slo”, expected a key of the faults, did you mean “slow”?"),
      ("{ slow: fast }", "4:21: found “fast”, expected a time from 1 ms to a day, such as 2s"),
      ("{ dropSessions: 10ms }", "4:29: found “10ms”, expected a time from 1 s to a day, such as 5m"),
      ("{ busy: maybe }", "4:21: found “maybe”, expected true or false"),
      ("{ attestation: key }", "4:28: found “key”, expected signature, expiry, vendor or root"),
      (
        "{ full: [scenes, shelves] }",
        "4:30: found “shelves”, expected fabrics, accessControl, groups, groupKeys, scenes, bindings or subscriptions, "
          + "or all"
      ),
      (
        "{ data: { onOff.featureMap: unknown, onOff.attributeList: cut, 1.descriptor.clusterRevision: type } }",
        "no problem"
      ),
      (
        "{ data: { onOff.featureMap: cut } }",
        "expected a violation of onOff.featureMap: missing, null, unknown or type"
      ),
      ("{ data: { 1.doorLock.featureMap: missing } }", "4:23: found “1.doorLock"),
      ("{ data: onOff }", "4:21: found “onOff”, expected attributes such as { onOff.onOff: null }"),
      (
        "{ data: { onOff.onOff: cut } }",
        "4:36: found “cut”, expected a violation of onOff.onOff: missing, null or type"
      ),
      ("{ data: { onOff.onOf: null } }", "4:23: found attribute “onOf”, expected an attribute of onOff, did you mean"),
      (
        "{ data: { doorLock.lockState: missing } }",
        "4:23: found “doorLock.lockState”, expected an attribute that the device has"
      ),
      ("{ data: { 0.powerSource.status: null } }", "4:23: found “0.powerSource.status”, expected an attribute that"),
      ("{ data: { 0.basicInformation.vendorName: missing, 0.onOff.onOff: null } }", "4:63: found “0.onOff.onOff”"),
      (
        "{ data: { onOff.featureMap: unknown, 1.onOff.attributeList: cut, 0.descriptor.partsList: null } }",
        "no problem"
      ),
      ("{ data: { descriptor.clusterRevision: missing, 0.generalCommissioning.featureMap: type } }", "no problem"),
      ("{ update: rollback }", "no problem"),
      ("{ update: busy }", "4:23: found “busy”, expected interrupted, digest or rollback"),
      ("{ data: { onOff.offWaitTime: missing, 1.doorLock.lockState: missing } }", "4:51: found “1.doorLock"),
      (
        "{ data: { onOff.onOff: null, onOff.onOff: type } }", "onOff.onOff"
      ),
    ])
  func reportsProblems(_ faults: String, _ message: String) {
    #expect(problem(of: faults).contains(message), "\(problem(of: faults))")
  }

  @Test func bridgedDevicesHaveDataOnly() {
    func bridge(_ faults: String) -> String {
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: A, type: plug, faults: \(faults) }

      """
    }
    #expect(problem(bridge("{ data: { onOff.onOff: null } }")) == "no problem")
    #expect(problem(bridge("{ data: { 0.bridgedDeviceBasicInformation.uniqueID: type } }")) == "no problem")
    #expect(problem(bridge("{ data: { 0.basicInformation.uniqueID: type } }")).contains("5:50: found “0.basicInform"))
    #expect(problem(bridge("{ busy: true }")).contains("5:40: found a mapping, expected only the fault “data”"))
  }

  @Test(
    "a part has neither the identity nor the battery of the device",
    arguments: [
      ("bridgedDeviceBasicInformation.uniqueID", "plug"), ("0.bridgedDeviceBasicInformation.uniqueID", "plug"),
      ("0.basicInformation.uniqueID", "plug"), ("powerSource.status", "smoke alarm"),
    ]) func partsHaveOwnAttributesOnly(_ attribute: String, _ type: String)
  {
    let part = "{ name: A, type: \(type), faults: { data: { \(attribute): type } } }"
    let found = problem("devices:\n  - name: Fan\n    type: fan\n    parts:\n      - \(part)\n")
    #expect(found.contains("home.yaml:5:"), "\(found)")
    let expected = "expected an attribute that the part has; those of the node belong to “Fan”"
    #expect(found.contains("found “\(attribute)”, \(expected)"), "\(found)")
  }

  @Test(
    "a bridged device with several buttons has an endpoint for its identity",
    arguments: [
      ("bridgedDeviceBasicInformation.uniqueID", true), ("0.bridgedDeviceBasicInformation.uniqueID", true),
      ("1.bridgedDeviceBasicInformation.uniqueID", false), ("0.switch.numberOfPositions", false),
      ("2.switch.numberOfPositions", true),
    ]) func buttonsHaveNoIdentity(_ attribute: String, _ isServed: Bool)
  {
    let remote = "{ name: A, type: generic switch, buttons: [On, Off], faults: { data: { \(attribute): type } } }"
    let found = problem("devices:\n  - name: B\n    type: bridge\n    devices:\n      - \(remote)\n")
    #expect((found == "no problem") == isServed, "\(found)")
  }

  @Test func providersFailInTheirOwnWays() {
    func provider(_ fault: String) -> String {
      problem("devices:\n  - { name: A, type: OTA provider, faults: { update: \(fault) } }\n")
    }
    #expect(provider("refused") == "no problem" && provider("digest") == "no problem")
    #expect(provider("rollback").contains("expected busy, unavailable, refused, delayed, interrupted or digest"))
  }

  @Test(
    "a fault needs an attribute of the device itself",
    arguments: [
      ("window covering", "1.windowCovering.currentPositionTiltPercent100ths", "expected an attribute that the device"),
      ("window covering, travel: { tilt: 2s }", "1.windowCovering.currentPositionTiltPercent100ths", "no problem"),
      ("window covering, travel: { tilt: 2s }", "windowCovering.currentPositionLiftPercent100ths", "expected an"),
      ("refrigerator", "3.temperatureControl.temperatureSetpoint", "no problem"),
      ("refrigerator", "4.temperatureControl.temperatureSetpoint", "expected an attribute that the device has"),
      ("refrigerator, compartments: { A: 4C, B: 5C, C: 6C }", "4.temperatureControl.temperatureSetpoint", "no problem"),
      ("smoke alarm", "1.temperatureMeasurement.measuredValue", "expected an attribute that the device has"),
      (
        "smoke alarm, attributes: { temperatureMeasurement.measuredValue: 20C }",
        "1.temperatureMeasurement.measuredValue", "no problem"
      ),
      ("plug, battery: 80%", "powerSource.batPercentRemaining", "no problem"),
      ("plug", "powerSource.batPercentRemaining", "expected an attribute that the device has"),
      ("plug", "2.onOff.onOff", "expected an attribute that the device has; its endpoints are 0 and 1"),
      ("plug", "1.fixedLabel.labelList", "expected an attribute that the device has"),
      ("plug, labels: { floor: ground }", "1.fixedLabel.labelList", "no problem"),
      ("plug", "0.userLabel.labelList", "no problem"),
    ]) func checksDevice(_ type: String, _ attribute: String, _ message: String)
  {
    let found = problem("devices:\n  - { name: A, type: \(type), faults: { data: { \(attribute): missing } } }\n")
    #expect(found.contains(message), "\(found)")
  }
}
