import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private func statuses(_ reports: [ReportData]) -> [Status] {
  reports.flatMap(\.attributeReports).compactMap { if case .status(let status) = $0 { status.status } else { nil } }
}

private func paths(_ reports: [ReportData]) -> [ConcreteAttributePath] {
  reports.flatMap(\.attributeReports).compactMap { if case .data(let data) = $0 { data.path } else { nil } }
}

@Test func readsAllAttributesInOrder() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let reports = try lab.read(ReadRequest(attributePaths: [AttributePath()]), on: session)
  #expect(reports.count > 1)
  #expect(reports.last?.suppressResponse == true)
  #expect(reports.last?.moreChunkedMessages == false)
  #expect(statuses(reports).isEmpty)
  let all = paths(reports)
  #expect(Set(all) == Set(lab.device.attributes.map(\.path)))
  #expect(all == all.sorted(by: { ($0.endpoint, $0.cluster) < ($1.endpoint, $1.cluster) }))
}

@Test func returnsErrorsForConcretePaths() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let reports = try lab.read(
    ReadRequest(attributePaths: [
      AttributePath(endpoint: 9, cluster: 6, attribute: 0), AttributePath(endpoint: 1, cluster: 0x0300, attribute: 0),
      AttributePath(endpoint: 1, cluster: 6, attribute: 0x1234),
      AttributePath(endpoint: 9, cluster: 6), AttributePath(endpoint: 1, cluster: 6, attribute: 0xFFFD),
    ]), on: session)
  #expect(statuses(reports).map(\.code) == [.unsupportedEndpoint, .unsupportedCluster, .unsupportedAttribute])
  #expect(paths(reports) == [ConcreteAttributePath(1, 6, 0xFFFD)], "a wildcard without matches returns no error")
}

@Test func appliesDataVersionFilters() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let path = AttributePath(OnOff.onOff.path(on: 1))
  let first = try lab.read(ReadRequest(attributePaths: [path]), on: session)
  guard case .data(let data)? = first.first?.attributeReports.first else {
    Issue.record("no data")
    return
  }
  let filter = DataVersionFilter(ClusterPath(1, 6), dataVersion: data.dataVersion)
  let request = ReadRequest(attributePaths: [path], dataVersionFilters: [filter])
  #expect(paths(try lab.read(request, on: session)).isEmpty)
  _ = try lab.status(OnOff.toggle, NoFields(), endpoint: 1, on: session)
  #expect(paths(try lab.read(request, on: session)).count == 1)
}

@Test func hidesListEntriesOfOtherFabrics() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator()
  let first = try lab.commission()
  let open = AdministratorCommissioning.openBasicCommissioningWindow
  _ = try lab.status(open, .init(commissioningTimeout: 180), on: first, isTimed: true)
  let second = try lab.commission(1)
  #expect(try lab.read(AccessControl.acl, on: second, 1).map(\.fabricIndex) == [2])
  let unfiltered = try lab.read(
    ReadRequest(attributePaths: [AttributePath(AccessControl.acl.path(on: 0))], isFabricFiltered: false),
    on: second, 1)
  guard case .data(let data)? = unfiltered.first?.attributeReports.first else {
    Issue.record("no data")
    return
  }
  let entries = try TLVElement(decoding: data.value)
  guard case .array(let members) = entries.value else {
    Issue.record("no list")
    return
  }
  #expect(members.count == 2)
  #expect(members[0].value == .structure([TLVElement(.unsigned(1), tag: .context(254))]), "only the fabric index")
}

@Test func readsEventsFromMinimumNumber() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let all = try lab.read(ReadRequest(eventPaths: [EventPath()]), on: session)
  let events = all.flatMap(\.eventReports).compactMap { if case .data(let data) = $0 { data } else { nil } }
  #expect(
    events.map(\.path) == [
      ConcreteEventPath(0, 0x28, 0), ConcreteEventPath(0, 0x33, 3), ConcreteEventPath(0, 0x1F, 0),
    ])
  #expect(events.map(\.number) == [0, 1, 2])
  let later = try lab.read(
    ReadRequest(eventPaths: [EventPath(endpoint: 0)], eventFilters: [EventFilter(eventMin: 2)]), on: session)
  #expect(later.flatMap(\.eventReports).count == 1)
  let missing = try lab.read(
    ReadRequest(eventPaths: [EventPath(endpoint: 0, cluster: 0x28, event: 9)]), on: session)
  #expect(
    missing.flatMap(\.eventReports) == [
      .status(EventPath(endpoint: 0, cluster: 0x28, event: 9), Status(.unsupportedEvent))
    ])
}

@Test func rejectsUnexpectedMessages() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let answers = try lab.sendRequest(SubscribeResponse(subscriptionID: 1, maxInterval: 1), on: session)
  let answer = try #require(answers.first)
  #expect(try StatusResponse(decoding: answer.bytes).status == .invalidAction)
  #expect(try lab.sendRequest(StatusResponse(.success), on: session).isEmpty)
}
