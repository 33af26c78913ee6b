import Foundation
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import HearthHome
@testable import hearth

@Suite("hearth describe") struct DescribeTests {
  /// A device with two lights, of which the second is unreachable for the bridge.
  private func row(
    _ state: ConnectivityState = .online, nextReport: Int64? = nil, settled: SourceConnectivity? = nil,
    reason: OfflineReason? = nil
  ) throws -> DeviceRow {
    var entry = DeviceEntry(id: "7", name: "Strip", roomID: nil, structureID: "home")
    var source = DeviceSource(SourceID(7))
    source.endpoints = [
      DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [0x1D], parts: [1, 2]),
      DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6]),
      DeviceEndpoint(id: 2, deviceTypes: [0x100, 0x13], servers: [6, 0x39], clients: [8]),
    ]
    source.status = SourceStatus(SourceConnectivity(state, .peer), reason: reason)
    entry.sources = [source]
    var values = NodeValues()
    for path in [ConcreteAttributePath(1, 6, 0), ConcreteAttributePath(2, 6, 0)] { values[path] = [0x09] }
    // BridgedDeviceBasicInformation.Reachable.
    values[ConcreteAttributePath(2, 0x39, 0x11)] = [0x08]
    let device = HomeDevice(
      entry, values: values, contact: Contact(last: 1_000_000, nextReport: nextReport),
      settled: settled ?? entry.connectivity(entry.parts, values: { _ in values }), home: StubHome())
    return DeviceRow(device: device, record: try #require(DeviceRecord(device.entry, room: "Kitchen")))
  }

  private final class StubHome: HomeAccess {
    func invoke(
      _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
    ) async throws(HomeError) -> CommandData? { nil }
    func write(
      _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
    ) async throws(HomeError) {}
    func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
      throw HomeError(.notFound, "no home")
    }
    func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
      throw HomeError(.notFound, "no home")
    }
    func reports(of device: String) -> DeviceReports { .none }
  }

  @Test func showsDeviatingClusterConnectivity() throws {
    let text = DeviceDescription.text(try row(), nil)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = try #require(lines.firstIndex { $0.hasPrefix("Endpoint 1:") })
    let second = try #require(lines.firstIndex { $0.hasPrefix("Endpoint 2:") })
    let whole = try row().device.sourceConnectivity
    #expect(whole == SourceConnectivity(.partiallyOnline, .peer))
    #expect(lines[first + 1] == "  clusters  onOff (online)")
    #expect(
      lines[second + 1]
        == "  clusters  onOff (offline: bridge says unreachable), "
        + "bridgedDeviceBasicInformation (offline: bridge says unreachable)")
    #expect(lines[second + 2] == "  controls  levelControl")
    #expect(lines.contains("Connectivity   partiallyOnline"))
  }

  @Test func listsFabrics() throws {
    let fabrics = [
      FabricEntry(index: 1, fabricID: 9, nodeID: 7, vendorID: 0xFFF1, label: "", isOurs: true),
      FabricEntry(index: 3, fabricID: 2, nodeID: 4, vendorID: 0x1349, label: "Another Home", isOurs: false),
    ]
    #expect(
      DeviceDescription.text(try row(), fabrics).contains("\nFabrics        1 (this home), 3 Another Home\n"))
    let unknown = DeviceDescription.text(try row(.offline, reason: .timedOut), nil)
    #expect(unknown.contains("\nFabrics        not known: timed out\n"), "\(unknown)")
    let json = DeviceDescription.json(try row(), fabrics).description
    let all = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let listed = try #require(all["fabrics"] as? [[String: Any]])
    #expect(listed.map { $0["index"] as? Int } == [1, 3] && listed.map { $0["isOurs"] as? Bool } == [true, false])
    #expect(listed.map { $0["label"] as? String } == ["", "Another Home"])
  }

  @Test func putsStalePartsInParentheses() throws {
    let row = try row()
    #expect(DeviceTable.state(row) == "on, (on)" && DeviceTable.locality(row) == "peer")
    #expect(DeviceTable.text([row], now: 1000).contains("on, (on)  partiallyOnline  peer"))
    let text = DeviceDescription.text(row, nil)
    #expect(text.contains("\nState          on, (on)\n") && text.contains("\nLocality       peer\n"))
    #expect(
      DeviceTable.json(row).description.contains(
        #""state":{"text":"on, on","isLast":false,"parts":[{"endpoint":1,"onOff":true,"isLast":false},{"endpoint":2,"onOff":true,"isLast":true}]}"#
      ), "\(DeviceTable.json(row).description)")
    let away = try self.row(.offline)
    #expect(DeviceTable.state(away) == "(on, on)" && DeviceTable.locality(away) == "–")
    #expect(
      DeviceTable.json(away).description.contains(#""isLast":true,"parts":[{"endpoint":1,"onOff":true,"isLast":true}"#))
  }

  @Test func fingerprintIncludesReasonAndSettledState() throws {
    let before = try row(.offline)
    #expect(try row(.offline).fingerprint == before.fingerprint)
    #expect(try row(.offline, settled: SourceConnectivity(.online, .peer)).fingerprint != before.fingerprint)
    #expect(try row(.offline, reason: .timedOut).fingerprint != before.fingerprint)
    #expect(try row(.offline, reason: .timedOut).fingerprint != row(.offline, reason: .subscriptionLost).fingerprint)
    // Times are not part of it.
    #expect(try row(.offline, nextReport: 7).fingerprint == before.fingerprint)
  }

  @Test func traitsHaveOfflineReasons() throws {
    func reasons(_ row: DeviceRow) -> [OfflineReason?] { row.device.traits.map(\.metadata.offlineReason) }
    #expect(try reasons(row()) == [nil, nil, .bridgeSaysUnreachable, .bridgeSaysUnreachable])
    #expect(try reasons(row(.offline, reason: .timedOut)) == [.timedOut, .timedOut, .timedOut, .timedOut])
  }

  @Test func omitsClusterConnectivityEqualToDevice() throws {
    let text = DeviceDescription.text(try row(.offline), nil)
    #expect(!text.contains("(online)") && text.contains("  clusters  onOff\n"))
  }

  @Test func showsNextReportIfKnown() throws {
    let time: Int64 = 1_790_000_000_000
    let text = DeviceDescription.text(try row(nextReport: time * 1000), nil)
    #expect(text.contains("\nNext report    \(ClockText.time(milliseconds: time))\n"))
    #expect(
      DeviceDescription.json(try row(nextReport: time * 1000), nil).description
        .contains(#""nextReport":"\#(ClockText.iso(milliseconds: time))""#))
    #expect(!DeviceDescription.text(try row(), nil).contains("Next report"))
    #expect(DeviceDescription.json(try row(), nil).description.contains(#""nextReport":null"#))
  }

  @Test func showsSettledConnectivityIfDifferent() throws {
    #expect(!DeviceDescription.text(try row(), nil).contains("Settled"))
    let text = DeviceDescription.text(try row(.offline, settled: SourceConnectivity(.online, .peer)), nil)
    #expect(text.contains("\nConnectivity   offline\nSettled        online\n"))
  }

  @Test func jsonHasConnectivityOfEachCluster() throws {
    let json = DeviceDescription.json(try row(), nil).description
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let endpoints = try #require(object["endpoints"] as? [[String: Any]])
    let states = endpoints.map { endpoint in
      (endpoint["clusters"] as? [[String: Any]] ?? []).map { $0["connectivityState"] as? String }
    }
    let reasons = endpoints.flatMap { ($0["clusters"] as? [[String: Any]] ?? []) }.map { $0["connectivityReason"] }
    #expect(reasons.map { $0 as? String } == [nil, nil, "bridge says unreachable", "bridge says unreachable"])
    #expect(states == [["online"], ["online"], ["offline", "offline"]])
    let localities = endpoints.flatMap { ($0["clusters"] as? [[String: Any]] ?? []) }.map { $0["dataSourceLocality"] }
    #expect(localities.allSatisfy { $0 as? String == "peer" })
    #expect(object["fabrics"] is NSNull)
  }

  @Test func reportsViolations() {
    let findings: [DeviceCheck.Finding] = [
      .init(
        endpoint: 1, cluster: 8, element: .attribute(2), isViolation: true,
        message: "attribute MinLevel (0x0002) is missing; mandatory with feature LT"),
      .init(endpoint: 1, cluster: 0xFFF1_FC00, isViolation: false, message: "is unknown; not\nchecked"),
      .init(endpoint: 2, isViolation: true, message: "has no device type"),
    ]
    let report = CheckReport(findings: findings, device: "Lamp")
    #expect(report.error?.code == .expectationFailed && report.error?.description == "Lamp: 2 violations")
    #expect(
      report.text == """
        Violations
          endpoint 1, LevelControl: attribute MinLevel (0x0002) is missing; mandatory with feature LT
          endpoint 2: has no device type
        Remarks
          endpoint 1, cluster 0xFFF1FC00: is unknown; not<U+000A>checked
        """)
    #expect(
      report.json.description
        == #"{"violations":[{"endpoint":1,"clusterID":8,"cluster":"levelControl","message":"attribute MinLevel (0x0002) is missing; mandatory with feature LT"},"#
        + #"{"endpoint":2,"clusterID":null,"cluster":null,"message":"has no device type"}],"#
        + #""remarks":[{"endpoint":1,"clusterID":4294048768,"cluster":"0xFFF1FC00","message":"is unknown; not\nchecked"}]}"#
    )
    let good = CheckReport(findings: [], device: "Lamp")
    #expect(
      good.error == nil && good.text == "No violations" && good.json.description == #"{"violations":[],"remarks":[]}"#)
  }
}
