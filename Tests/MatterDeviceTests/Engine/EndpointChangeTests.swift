import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Endpoints that are added and removed while the device runs.
@Suite("Changes of endpoints") struct EndpointChangeTests {
  private static func light(_ id: EndpointID) -> EndpointDefinition {
    EndpointDefinition(id, deviceTypes: [DeviceTypes.onOffLight], servers: [GroupsServer.make(), OnOffServer.make()])
  }

  /// Returns the values of reports of changed attributes, by path.
  private func values(_ lab: inout Lab) -> [ConcreteAttributePath: [UInt8]] {
    defer { lab.administrators[0].reports = [] }
    var values: [ConcreteAttributePath: [UInt8]] = [:]
    for report in lab.administrators[0].reports.flatMap(\.attributeReports) {
      if case .data(let data) = report { values[data.path] = data.value }
    }
    return values
  }

  @Test("reports added and removed endpoints to subscribers, and keeps the state of the others")
  func reportsChanges() throws {
    var lab = try Lab(endpoints: [Self.light(1), Self.light(2), Self.light(3)]) { $0.servesProvisional = true }
    try lab.addAdministrator()
    let session = try lab.commission()
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60,
      attributePaths: [
        AttributePath(cluster: Descriptor.id), AttributePath(cluster: OnOff.id),
        AttributePath(BasicInformation.configurationVersion.path(on: 0)),
      ], eventPaths: [], isFabricFiltered: true, dataVersionFilters: [])
    _ = try lab.subscribe(request, on: session)
    for endpoint: EndpointID in [2, 3] { try lab.device.act(set: OnOff.onOff, true, on: endpoint, at: lab.now) }
    lab.settle()
    _ = values(&lab)
    let version = try lab.read(BasicInformation.configurationVersion, on: session)

    lab.device.replaceEndpoints([Self.light(1), Self.light(3), Self.light(4)], at: lab.now)
    lab.settle()
    let changes = values(&lab)
    #expect(try [EndpointID](tlv: #require(changes[Descriptor.partsList.path(on: 0)])) == [1, 3, 4])
    #expect(try Bool(tlv: #require(changes[OnOff.onOff.path(on: 4)])) == false)
    #expect(changes[Descriptor.deviceTypeList.path(on: 4)] != nil)
    #expect(changes[OnOff.onOff.path(on: 3)] == nil, "an endpoint that stays is not reported")
    #expect(!changes.keys.contains { $0.endpoint == 2 })
    #expect(changes[BasicInformation.configurationVersion.path(on: 0)] == (version + 1).tlv)
    #expect(try lab.read(OnOff.onOff, endpoint: 3, on: session) == true)

    let gone = try lab.read(
      ReadRequest(attributePaths: [AttributePath(OnOff.onOff.path(on: 2))]), on: session)
    guard case .status(let status)? = gone.flatMap(\.attributeReports).first else {
      Issue.record("the removed endpoint is readable")
      return
    }
    #expect(status.status == Status(.unsupportedEndpoint))
    #expect(!lab.store.keys.contains { $0.hasPrefix("attribute/2/") }, "its values are erased")
    #expect(lab.store.keys.contains { $0.hasPrefix("attribute/3/") })
  }

  @Test("timers of endpoints that stay continue") func keepsTimers() throws {
    var lab = try Lab(endpoints: [Self.light(1), Self.light(2), Self.light(3)])
    try lab.addAdministrator()
    let session = try lab.commission()
    // On for five seconds.
    let timed = OnOff.OnWithTimedOffRequest(onOffControl: [], onTime: 50, offWaitTime: 0)
    #expect(try lab.status(OnOff.onWithTimedOff, timed, endpoint: 3, on: session) == .success)
    lab.advance(by: .seconds(2))
    lab.device.replaceEndpoints([Self.light(3)], at: lab.now)
    lab.advance(by: .seconds(2))
    #expect(lab.device.value(OnOff.onOff, on: 3) == true)
    lab.advance(by: .seconds(2))
    #expect(lab.device.value(OnOff.onOff, on: 3) == false)
    #expect(lab.device.value(OnOff.onOff, on: 1) == nil)
  }

  @Test("a report in several messages continues without removed endpoints") func continuesReports() throws {
    var lab = try Lab(endpoints: (1...40).map { Self.light(EndpointID($0)) })
    try lab.addAdministrator()
    let session = try lab.commission()
    var answers = try lab.sendRequest(ReadRequest(attributePaths: [AttributePath(cluster: OnOff.id)]), on: session)
    lab.device.replaceEndpoints((1...39).filter { $0 != 20 }.map { Self.light(EndpointID($0)) }, at: lab.now)
    lab.settle()
    var endpoints: [EndpointID] = []
    while let answer = answers.first {
      let report = try ReportData(decoding: answer.bytes)
      for item in report.attributeReports {
        if case .data(let data) = item, data.path.attribute == OnOff.onOff.id {
          endpoints.append(data.path.endpoint)
        }
      }
      guard report.moreChunkedMessages else { break }
      answers = try lab.sendRequest(StatusResponse(.success), on: answer.exchange)
    }
    #expect(endpoints == (1...39).filter { $0 != 20 }.map { EndpointID($0) })
  }
}
