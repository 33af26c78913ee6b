import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Test func respondsByReference() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let request = InvokeRequest([
    CommandData(OnOff.on.path(on: 1), ref: 5),
    CommandData(GeneralDiagnostics.timeSnapshot.path(on: 0), ref: 6),
    CommandData(CommandPath(endpoint: 1, cluster: 6, command: 0x77), ref: 7),
  ])
  let answers = try lab.sendRequest(request, on: session)
  let response = try InvokeResponse(decoding: #require(answers.first).bytes)
  #expect(response.responses.map(\.ref) == [5, 6, 7])
  #expect(response.responses[0] == .status(CommandStatus(OnOff.on.path(on: 1), status: .success, ref: 5)))
  #expect(
    response.responses[2]
      == .status(
        CommandStatus(
          CommandPath(endpoint: 1, cluster: 6, command: 0x77), status: Status(.unsupportedCommand), ref: 7)))
}

@Test func rejectsMissingOrDuplicateReferences() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  for refs: [UInt16?] in [[nil, 1], [1, 1]] {
    let request = InvokeRequest([
      CommandData(OnOff.on.path(on: 1), ref: refs[0]), CommandData(OnOff.toggle.path(on: 1), ref: refs[1]),
    ])
    let answers = try lab.sendRequest(request, on: session)
    #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .invalidAction)
  }
  #expect(try !lab.read(OnOff.onOff, endpoint: 1, on: session), "no command was run")
}

@Test func rejectsMismatchedOrLateTimedRequests() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let path = OnOff.on.path(on: 1)
  var answers = try lab.sendRequest(InvokeRequest([CommandData(path)], isTimed: true), on: session)
  #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .timedRequestMismatch)
  answers = try lab.sendRequest(TimedRequest(timeoutMilliseconds: 500), on: session)
  #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .success)
  answers = try lab.sendRequest(InvokeRequest([CommandData(path)]), on: try #require(answers.first?.exchange))
  #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .timedRequestMismatch)
  answers = try lab.sendRequest(TimedRequest(timeoutMilliseconds: 500), on: session)
  let exchange = try #require(answers.first?.exchange)
  lab.advance(by: .milliseconds(501))
  answers = try lab.sendRequest(InvokeRequest([CommandData(path)], isTimed: true), on: exchange)
  #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .timeout)
}

@Test func enforcesPrivileges() throws {
  typealias Entry = AccessControl.AccessControlEntryStruct
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let viewer = Entry(
    privilege: .view, authMode: .case, subjects: .null,
    targets: .value([.init(cluster: .value(6), endpoint: .value(1), deviceType: .null)]))
  let admin = Entry(
    privilege: .administer, authMode: .case, subjects: .null,
    targets: .value([.init(cluster: .value(0x1F), endpoint: .null, deviceType: .null)]))
  let list = AttributeWrite(AccessControl.acl.path(on: 0), value: [viewer, admin].tlv)
  #expect(try lab.write([list], on: session) == [.success])
  #expect(try lab.read(OnOff.onOff, endpoint: 1, on: session) == false)
  #expect(try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session) == Status(.unsupportedAccess))
  let write = AttributeWrite(OnOff.onTime.path(on: 1), value: [0x04, 1])
  #expect(try lab.write([write], on: session) == [Status(.unsupportedAccess)])
  let reports = try lab.read(
    ReadRequest(attributePaths: [
      AttributePath(BasicInformation.nodeLabel.path(on: 0)), AttributePath(endpoint: 9, cluster: 9, attribute: 9),
    ]), on: session)
  let statuses = reports.flatMap(\.attributeReports).map {
    if case .status(let status) = $0 { status.status.code } else { StatusCode.success }
  }
  #expect(statuses == [.unsupportedAccess, .unsupportedAccess], "the error does not reveal what exists")
  let all = try lab.read(ReadRequest(attributePaths: [AttributePath()]), on: session)
  let clusters = Set(
    all.flatMap(\.attributeReports).map { if case .data(let data) = $0 { data.path.cluster } else { ClusterID(0) } })
  #expect(clusters == [6, 0x1F])
}
