import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension Lab {
  /// Subscribes and confirms the first report.
  mutating func subscribe(
    _ request: SubscribeRequest, on session: SessionID, _ administrator: Int = 0
  ) throws -> (reports: [ReportData], response: SubscribeResponse) {
    var reports: [ReportData] = []
    var answers = try sendRequest(request, on: session, administrator)
    while let answer = answers.first, answer.opcode == .reportData {
      reports.append(try ReportData(decoding: answer.bytes))
      answers = try sendRequest(StatusResponse(.success), on: answer.exchange, administrator)
    }
    return (reports, try SubscribeResponse(decoding: try #require(answers.first).bytes))
  }

  mutating func refusal(_ request: SubscribeRequest, on session: SessionID) throws -> StatusCode {
    try StatusResponse(decoding: #require(try sendRequest(request, on: session).first).bytes).status
  }
}

private let onOff = AttributePath(OnOff.onOff.path(on: 1))

@Test func reportsWithinMinimumAndMaximumInterval() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (reports, response) = try lab.subscribe(
    SubscribeRequest(minIntervalFloor: 2, maxIntervalCeiling: 10, attributePaths: [onOff]), on: session)
  #expect(reports.count == 1)
  #expect(reports[0].subscriptionID == response.subscriptionID)
  #expect(response.maxInterval == 10)

  _ = try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session)
  _ = try lab.status(OnOff.off, NoFields(), endpoint: 1, on: session)
  _ = try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session)
  #expect(lab.administrators[0].reports.isEmpty, "not before the minimum interval")
  lab.advance(by: .seconds(2))
  #expect(lab.administrators[0].reports.count == 1)
  guard case .data(let data)? = lab.administrators[0].reports.first?.attributeReports.first else {
    Issue.record("no data")
    return
  }
  #expect(data.path == OnOff.onOff.path(on: 1) && data.value == [0x09])

  lab.advance(by: .milliseconds(9999))
  #expect(lab.administrators[0].reports.count == 1)
  lab.advance(by: .milliseconds(1))
  #expect(lab.administrators[0].reports.count == 2)
  #expect(lab.administrators[0].reports[1].attributeReports.isEmpty, "an empty report")

  try lab.device.act(set: OnOff.onOff, false, on: 1, at: lab.now)
  lab.advance(by: .seconds(2))
  #expect(lab.administrators[0].reports.count == 3, "manual changes are also reported")
}

@Test func endsSubscriptionOfUnreachableSubscriber() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let request = SubscribeRequest(minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [onOff])
  _ = try lab.subscribe(request, on: session)
  lab.administrators[0].reportStatus = .invalidSubscription
  _ = try lab.status(OnOff.on, NoFields(), endpoint: 1, on: session)
  #expect(lab.administrators[0].reports.count == 1)
  #expect(lab.device.subscriptions.isEmpty)

  _ = try lab.subscribe(request, on: session)
  lab.administrators[0].reportStatus = nil
  _ = try lab.status(OnOff.off, NoFields(), endpoint: 1, on: session)
  #expect(lab.device.subscriptions.count == 1)
  lab.advance(by: .seconds(120))
  #expect(lab.device.subscriptions.isEmpty, "no response within the timeout")

  lab.administrators[0].reportStatus = .success
  _ = try lab.subscribe(request, on: session)
  lab.administrators[0].core.close(session, notifyingPeer: true, at: lab.now)
  lab.settle()
  #expect(lab.device.subscriptions.isEmpty)
}

@Test func limitsAndReplacesSubscriptions() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  var request = SubscribeRequest(minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [onOff])
  for _ in 0..<SubscriptionLimits.perFabric { _ = try lab.subscribe(request, on: session) }
  #expect(try lab.refusal(request, on: session) == .resourceExhausted)
  request.keepSubscriptions = false
  _ = try lab.subscribe(request, on: session)
  #expect(lab.device.subscriptions.count == 1)

  request.keepSubscriptions = true
  request.minIntervalFloor = 61
  #expect(try lab.refusal(request, on: session) == .invalidAction)
  let nothing = SubscribeRequest(
    minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [AttributePath(endpoint: 9)])
  #expect(try lab.refusal(nothing, on: session) == .invalidAction)
  #expect(lab.device.subscriptions.count == 1)
}

@Test func primesWildcardSubscriptionInChunks() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (reports, _) = try lab.subscribe(
    SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [AttributePath()],
      eventPaths: [EventPath(isUrgent: true)]), on: session)
  #expect(reports.count > 1)
  #expect(reports.allSatisfy { !$0.suppressResponse })
  #expect(reports.flatMap(\.eventReports).count == 3)
  lab.device.shutDown(at: lab.now)
  lab.settle()
  let last = try #require(lab.administrators[0].reports.last)
  guard case .data(let event)? = last.eventReports.last else {
    Issue.record("no event")
    return
  }
  #expect(event.path == ConcreteEventPath(0, 0x28, 1))
  #expect(lab.published.isEmpty)
}
