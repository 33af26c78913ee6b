import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// What is in the store at each moment must be a state that the device may start again with.
@Suite struct DurabilityTests {
  private typealias Entry = AccessControl.AccessControlEntryStruct
  private static let acl = AttributePath(AccessControl.acl.path(on: 0))

  private static func entry(_ subject: NodeID, _ privilege: AccessControl.AccessControlEntryPrivilege) -> Entry {
    Entry(privilege: privilege, authMode: .case, subjects: .value([subject]), targets: .null, fabricIndex: 1)
  }

  /// A list that comes entry by entry must not be found half-written after a power cut: here the administrator's own
  /// entry comes last.
  @Test(arguments: [false, true]) func aListInSeveralMessagesIsStoredAsAWhole(isCut: Bool) throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let before = try lab.read(AccessControl.acl, on: session)
    let key = StoreKey.attribute(AccessControl.acl.path(on: 0))
    let stored = lab.store[key]
    #expect(before.count == 1 && stored != nil)
    let entries = [Self.entry(lab.administrators[0].node, .administer), Self.entry(0x7777, .view)]
    var answers = try lab.ask(
      WriteRequest([AttributeWrite(Self.acl, value: [entries[0]].tlv)], moreChunkedMessages: true), on: session)
    let exchange = try #require(answers.first?.exchange)
    #expect(lab.store[key] == stored)
    answers = try lab.ask(
      WriteRequest([AttributeWrite(Self.acl, .append, value: entries[1].tlv)], moreChunkedMessages: true), on: exchange)
    #expect(try WriteResponse(decoding: #require(answers.first).bytes).statuses.map(\.status) == [.success])
    #expect(lab.store[key] == stored)
    // What others write meanwhile is stored at once.
    _ = try lab.write([AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv)], on: session)
    #expect(lab.store[StoreKey.attribute(BasicInformation.nodeLabel.path(on: 0))] == "Desk".tlv)
    if isCut {
      lab.crash()
      let opened = lab.openCASE()
      let session = try #require(opened)
      #expect(try lab.read(AccessControl.acl, on: session) == before)
      return
    }
    _ = try lab.ask(WriteRequest([AttributeWrite(Self.acl, .append, value: entries[1].tlv)]), on: exchange)
    #expect(lab.store[key] != stored)
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    #expect(try lab.read(AccessControl.acl, on: again).map(\.privilege) == [.administer, .view, .view])
  }

  /// Who never sends the rest leaves what the device has from then on: memory and store agree.
  @Test func aListThatIsNeverFinishedIsStoredInTheEnd() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let path = GroupKeyManagement.groupKeyMap.path(on: 0)
    let entry = GroupKeyManagement.GroupKeyMapStruct(groupId: 1, groupKeySetID: 1)
    _ = try lab.ask(
      WriteRequest([AttributeWrite(AttributePath(path), value: [entry].tlv)], moreChunkedMessages: true), on: session)
    #expect(lab.store[StoreKey.attribute(path)] == nil)
    lab.advance(by: .seconds(120))
    #expect(lab.store[StoreKey.attribute(path)] != nil)
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    #expect(try lab.read(GroupKeyManagement.groupKeyMap, on: again).map(\.groupId) == [1])
  }

  @Test func aFactoryResetIsOneStep() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    _ = try lab.write([AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv)], on: session)
    let commits = lab.commits
    lab.device.factoryReset(at: lab.now)
    lab.settle()
    #expect(lab.commits == commits + 1)
    #expect(!lab.store.keys.contains { $0.hasPrefix("fabric/") || $0.hasPrefix("resumption/") })
  }

  @Test func theLastFabricGoesInOneStep() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let commits = lab.commits
    _ = try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: session)
    #expect(lab.commits == commits + 1)
    #expect(!lab.store.keys.contains { $0.hasPrefix("fabric/") || $0.hasPrefix("resumption/") })
    let acl = try #require(lab.store[StoreKey.attribute(AccessControl.acl.path(on: 0))])
    #expect(try [Entry](tlv: acl).isEmpty)
  }

  /// Not the device's own: what its host keeps beside it outlives a factory reset.
  @Test func aFactoryResetLeavesWhatIsNotTheDevices() throws {
    let lab = try Lab()
    var stored = lab.store
    stored["identity/key"] = [1]
    var device = DeviceEngine(
      lab.configuration, endpoints: lab.endpoints, stored: stored,
      random: SeededRandomSource(seed: 3),
      at: lab.now)
    device.factoryReset(at: lab.now)
    var changed: Set<String> = []
    while let effect = device.nextEffect() {
      if case .store(let changes) = effect { changed.formUnion(changes.map(\.key)) }
    }
    #expect(!changed.isEmpty && !changed.contains("identity/key"))
  }

  // MARK: Events

  private func events(_ lab: inout Lab, _ session: SessionID) throws -> [EventData] {
    try lab.read(ReadRequest(eventPaths: [EventPath()]), on: session).flatMap(\.eventReports).compactMap {
      if case .data(let data) = $0 { data } else { nil }
    }
  }

  @Test func eventsOutliveARestart() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let before = try events(&lab, session)
    #expect(before.contains { $0.priority == .critical } && before.contains { $0.priority == .info })
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    let after = try events(&lab, again)
    // What told of the start before is gone, with all else that was kept: it started once more, and says so.
    let start = [
      ConcreteEventPath(0, BasicInformation.id, BasicInformation.startUp.id),
      ConcreteEventPath(0, GeneralDiagnostics.id, GeneralDiagnostics.bootReasonEvent.id),
    ]
    let kept = before.filter { !start.contains($0.path) }
    #expect(!kept.isEmpty && Array(after.prefix(kept.count)) == kept)
    for path in start {
      #expect(before.count { $0.path == path } == 1 && after.count { $0.path == path } == 1)
      #expect(after.first { $0.path == path } != before.first { $0.path == path })
    }
    #expect(lab.store.keys.count { $0.hasPrefix(StoreKey.events) } == after.count, "the store has no others")
    #expect(zip(after, after.dropFirst()).allSatisfy { $0.number < $1.number })
  }

  /// What the clock showed, where there was one: the time since that start would mean another after this one.
  @Test func anEventKeepsItsTimeOverARestart() throws {
    let epoch: UInt64 = 1_800_000_000_000
    func milliseconds(_ event: EventData) -> UInt64? {
      if case .epoch(let time) = event.timestamp { time } else { nil }
    }
    var lab = try Lab { $0.epoch = Int64(epoch) }
    try lab.addAdministrator()
    lab.advance(by: .seconds(5))
    let before = try events(&lab, try lab.commission()).map(milliseconds)
    #expect(before.first == epoch && before.last == epoch + 5000)
    lab.advance(by: .seconds(3600))
    lab.crash()
    let opened = lab.openCASE()
    let after = try events(&lab, try #require(opened)).map(milliseconds)
    // What tells of a start tells of the last one.
    #expect(after.first == epoch + 5000 && after.last == epoch + 3_605_000)
    // Without a clock it is the time since the start, until somebody sets one.
    lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    #expect(try events(&lab, session).first?.timestamp == .system(0))
    let set = TimeSynchronization.SetUTCTimeRequest(utcTime: 5_000_000, granularity: .minutesGranularity)
    #expect(try lab.status(TimeSynchronization.setUTCTime, set, on: session) == .success)
    let entry = Self.entry(lab.administrators[0].node, .administer)
    _ = try lab.write([AttributeWrite(Self.acl, value: [entry].tlv)], on: session)
    #expect(try events(&lab, session).last.flatMap(milliseconds) == 946_684_805_000)
  }

  @Test func theLogIsBoundedInTheStoreToo() throws {
    var log = EventLog()
    var stored: StoredState = [:]
    func append(_ priority: EventPriority, _ fabric: FabricIndex? = nil) {
      let changes = log.append(isDurable: false) {
        EventRecord(
          number: $0, path: ConcreteEventPath(0, 0x0028, 0), priority: priority, timestamp: .system(5),
          payload: [0x15, 0x18],
          fabric: fabric, read: .view)
      }
      for change in changes { stored[change.key] = change.value }
    }
    for number in 0..<200 {
      append(.info)
      append(.debug)
      if number % 10 == 0 { append(.critical, 2) }
    }
    let records = { stored.keys.filter { $0.hasPrefix(StoreKey.events) }.count }
    #expect(records() == EventLog.capacity + 20)
    for change in log.removeAll(of: 2) { stored[change.key] = change.value }
    #expect(records() == EventLog.capacity)
    #expect(log.records.count == 2 * EventLog.capacity)
  }

  @Test(arguments: [[], [0x15, 0x18], [0x15, 0x24, 0, 1, 0x18], [0xFF]] as [[UInt8]])
  func aBrokenRecordIsPassedOver(bytes: [UInt8]) throws {
    var lab = try Lab()
    lab.store[StoreKey.event(0)] = bytes
    lab.crash()
    #expect(lab.device.isCommissionable)
  }
}

/// Answers that are too long for one message, and counts of what gets none.
@Suite struct AnswerTests {
  private static let lights = (1...60).map { number in
    EndpointDefinition(EndpointID(UInt16(number)), deviceTypes: Lab.light.deviceTypes, servers: Lab.light.servers)
  }

  @Test func aWildcardWriteThatCantBeAnsweredIsRefusedBeforeItIsDone() throws {
    var lab = try Lab(endpoints: Self.lights)
    try lab.addAdministrator()
    let session = try lab.commission()
    var path = AttributePath(OnOff.onTime.path(on: 1))
    path.endpoint = nil
    path = AttributePath(endpoint: nil, cluster: OnOff.id, attribute: OnOff.onTime.id)
    let answers = try lab.ask(WriteRequest([AttributeWrite(path, value: UInt16(9).tlv)]), on: session)
    #expect(answers.first?.opcode == .statusResponse)
    #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .resourceExhausted)
    #expect(try lab.read(OnOff.onTime, endpoint: 1, on: session) == 0)
  }

  /// As many messages as it takes, one answer for each endpoint that has the command.
  @Test func aWildcardInvokeIsAnsweredForEachEndpoint() throws {
    var lab = try Lab(endpoints: Self.lights)
    try lab.addAdministrator()
    let session = try lab.commission()
    let command = CommandData(CommandPath(endpoint: nil, cluster: OnOff.id, command: OnOff.toggle.id))
    var answers = try lab.ask(InvokeRequest([command]), on: session)
    var endpoints: [EndpointID?] = []
    while let answer = answers.first {
      #expect(answer.bytes.count <= InteractionLimits.maximumPayload)
      let response = try InvokeResponse(decoding: answer.bytes)
      for case .status(let status) in response.responses {
        #expect(status.status == .success)
        endpoints.append(status.path.endpoint)
      }
      guard response.moreChunkedMessages else { break }
      answers = try lab.ask(StatusResponse(.success), on: answer.exchange)
    }
    #expect(endpoints == (1...60).map { EndpointID($0) })
    #expect(try lab.read(OnOff.onOff, endpoint: 60, on: session))
  }

  @Test func whatNobodyWaitsForIsCounted() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    #expect(lab.device.drops.total == 0)
    #expect(try lab.ask(StatusResponse(.success), on: session).isEmpty)
    #expect(lab.device.drops[.unexpectedMessage] == 1 && lab.device.drops.total == 1)
    // The window is closed since.
    #expect(lab.openPASE() == nil)
    #expect(lab.device.drops[.notCommissionable] == 1)
  }

  /// A damaged store may name any number for the next event.
  @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64.max - 1024]) func startsWithTheLastEventNumber(_ number: UInt64)
    throws
  {
    var lab = try Lab()
    try lab.addAdministrator()
    _ = try lab.commission()
    lab.store[StoreKey.eventNumber] = number.tlv
    for _ in 0..<3 { lab.crash() }
    let opened = lab.openCASE()
    let session = try #require(opened)
    let reports = try lab.read(ReadRequest(eventPaths: [EventPath()]), on: session)
    #expect(!reports.flatMap(\.eventReports).isEmpty)
  }

  /// What would let somebody in again, or repeat a nonce, must survive a loss of power.
  @Test func marksKeysAndReservationsAsDurable() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    _ = try lab.commission()
    for prefix in ["fabric/", "fabrics/", "failsafe", "attribute/0/1f/"] {
      #expect(lab.durable.contains { $0.hasPrefix(prefix) }, "\(prefix)")
    }
    // Nobody has seen numbers of events before.
    #expect(!lab.durable.contains(StoreKey.eventNumber))
    lab.crash()
    #expect(lab.durable.contains(StoreKey.eventNumber))
    let opened = lab.openCASE()
    let session = try #require(opened)
    lab.durable = []
    _ = try lab.write([AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv)], on: session)
    #expect(lab.durable.isEmpty)
    let keys = GroupKeyManagement.GroupKeySetStruct(
      groupKeySetID: 1, groupKeySecurityPolicy: .trustFirst,
      epochKey0: .value(OctetString([UInt8](repeating: 1, count: 16))),
      epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
    #expect(try lab.status(GroupKeyManagement.keySetWrite, .init(groupKeySet: keys), on: session) == .success)
    #expect(!lab.durable.isEmpty)
  }
}
