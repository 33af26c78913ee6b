import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// The ids of subscriptions, and reports in several messages.
@Suite struct SubscriptionTableTests {
  private let invalid = InteractionError.status(Status(.invalidSubscription))

  /// Subscriptions with the handles 1, 2, … and the ids 101, 102, … on session 1 of node 1.
  private func table(_ count: UInt64 = 1) throws -> SubscriptionTable {
    var table = SubscriptionTable()
    for number in 1...count { try add(OperationID(number), UInt32(100 + number), session: 1, &table) }
    return table
  }

  private func add(
    _ handle: SubscriptionHandle, _ id: UInt32, node: NodeID = 1, session: UInt16, _ table: inout SubscriptionTable
  ) throws {
    table.add(Subscription(node, SubscriptionRequest(retries: true), at: .zero), handle)
    table.expect(id, for: handle, until: .at(10))
    try table.establish(handle, SubscribeResponse(subscriptionID: id, maxInterval: 60), on: .number(session))
  }

  private func report(_ value: UInt64, more: Bool = false, _ id: UInt32 = 101) -> ReportData {
    ReportData(
      subscriptionID: id,
      attributeReports: [.data(AttributeData(ConcreteAttributePath(1, 6, 0), dataVersion: 1, value: value.tlv))],
      moreChunkedMessages: more)
  }

  private func receive(
    _ data: ReportData, _ table: inout SubscriptionTable, node: NodeID = 1, on exchange: ExchangeID = .number(1)
  ) throws(InteractionError) -> (handle: SubscriptionHandle, report: ReassembledReport?) {
    try table.receive(data, SubscriptionKey(node: node, id: data.subscriptionID ?? 0), on: exchange)
  }

  // MARK: Reports

  @Test func assemblesReportsOfSeveralExchanges() throws {
    var table = try table(2)
    #expect(try receive(report(1, more: true), &table).report == nil)
    #expect(try receive(report(5, more: true, 102), &table, on: .number(2)).report == nil)
    let first = try receive(report(2), &table)
    #expect(first.handle == OperationID(1) && first.report?.attributes.map(\.value) == [UInt64(2).tlv])
    let second = try receive(report(6, 102), &table, on: .number(2))
    #expect(second.handle == OperationID(2) && second.report?.attributes.map(\.value) == [UInt64(6).tlv])
  }

  @Test func rejectsUnknownSubscription() throws {
    var table = try table()
    #expect(throws: invalid) { try receive(report(1, 999), &table) }
    #expect(throws: invalid) { try receive(report(1), &table, node: 2) }
    table.remove(OperationID(1))
    #expect(throws: invalid) { try receive(report(1), &table) }
    #expect(table.count == 0 && table.handlesByKey.isEmpty && !table.isSubscribed(to: 1) && !table.isUsed(.number(1)))
  }

  @Test("drops an incomplete report after an error") func dropsInvalidReport() throws {
    var table = try table(2)
    _ = try receive(report(1, more: true), &table)
    #expect(throws: InteractionError.unexpected(.reportData)) { try receive(report(1, 102), &table) }
    // The next report on the exchange starts anew, even for the other subscription.
    #expect(try receive(report(1, 102), &table).handle == OperationID(2))
    _ = try receive(report(1, more: true), &table)
    table.dropReport(on: .number(1))
    #expect(try receive(report(1, 102), &table).handle == OperationID(2))
    _ = try receive(report(1, more: true), &table)
    _ = try receive(report(1, more: true), &table, on: .number(1, on: 2))
    table.dropReports(on: .number(1))
    #expect(try receive(report(1, 102), &table).handle == OperationID(2))
    #expect(throws: InteractionError.unexpected(.reportData)) {
      try receive(report(1, 102), &table, on: .number(1, on: 2))
    }
  }

  // MARK: Ids

  @Test("accepts reports under both ids until a replacement is established") func replacesID() throws {
    var table = try table()
    _ = table[OperationID(1)]?.startRenewing()
    table.expect(201, for: OperationID(1), until: .at(10))
    table.expect(202, for: OperationID(1), until: .at(10))
    #expect(Set(table.handlesByKey.keys.map(\.id)) == [101, 202], "a repeated request has another id")
    let other = SubscribeResponse(subscriptionID: 201, maxInterval: 60)
    #expect(throws: ControllerError.unexpectedResponse("another subscription id")) {
      try table.establish(OperationID(1), other, on: .number(2))
    }
    try table.establish(OperationID(1), SubscribeResponse(subscriptionID: 202, maxInterval: 60), on: .number(2))
    #expect(table.handlesByKey.keys.map(\.id) == [202] && table.establishedIDs == [202])
    #expect(table.isUsed(.number(2)) && !table.isUsed(.number(1)))
  }

  @Test func dropsIDOfCanceledReplacement() throws {
    var table = try table()
    let early = table.stopRenewing(OperationID(1))
    #expect(!early)
    _ = table[OperationID(1)]?.startRenewing()
    table.expect(201, for: OperationID(1), until: .at(10))
    let isStopped = table.stopRenewing(OperationID(1))
    #expect(isStopped && table.handlesByKey.keys.map(\.id) == [101])
  }

  @Test("a lost subscription accepts no reports, and its incomplete ones are dropped") func scheduleRetry() throws {
    var table = try table(2)
    for exchange in [8, 3] as [UInt16] { _ = try receive(report(1, more: true), &table, on: .number(exchange)) }
    _ = try receive(report(1, more: true, 102), &table, on: .number(5))
    var random: any RandomSource = SeededRandomSource(seed: 1)
    let retry = try #require(table.scheduleRetry(OperationID(1), RenewalPolicy(), random: &random, at: .at(3)))
    #expect(retry.delay == .zero && retry.exchanges == [.number(3), .number(8)])
    #expect(table[OperationID(1)]?.isWaiting == true && table.nextDeadline == .at(3))
    #expect(table.handles(on: .number(1)) == [OperationID(2)] && table.due(at: .at(3)) == [OperationID(1)])
    #expect(throws: invalid) { try receive(report(1), &table) }
    #expect(try receive(report(2, 102), &table, on: .number(5)).report != nil)
    #expect(table.scheduleRetry(OperationID(9), RenewalPolicy(), random: &random, at: .zero) == nil)
  }

  // MARK: Sessions

  @Test("moves all subscriptions of a session, and expects reports of the others") func moves() throws {
    var table = try table(3)
    try add(OperationID(4), 104, session: 2, &table)
    let hasOthers = table.move(from: .number(1), to: .number(9), resumed: OperationID(2), others: .at(2))
    #expect(hasOthers)
    #expect(table.handles(on: .number(9)) == [1, 2, 3].map { OperationID($0) })
    #expect((1...4).map { table[OperationID($0)]?.overdueAt } == [.at(2), nil, .at(2), nil])
    #expect(!table.isUsed(.number(1)) && table.due(at: .at(2)) == [OperationID(1), OperationID(3)])
    let isAlone = table.move(from: .number(2), to: .number(9), resumed: OperationID(4), others: .at(2))
    #expect(!isAlone && table.handles(on: .number(9)).count == 4)
  }

  @Test func listsSubscriptionsOfNodes() throws {
    var table = try table(2)
    try add(OperationID(7), 101, node: 5, session: 3, &table)
    #expect(table.handles(with: 1) == [OperationID(1), OperationID(2)] && table.handles(with: 5) == [OperationID(7)])
    #expect(table.isSubscribed(to: 5) && !table.isSubscribed(to: 6))
    #expect(try receive(report(1), &table, node: 5).handle == OperationID(7), "ids are those of the device")
  }
}

extension SubscriptionRequest {
  fileprivate init(retries: Bool) {
    self.init(paths: [AttributePath(cluster: 6)])
    retriesFirstAttempt = retries
  }
}
