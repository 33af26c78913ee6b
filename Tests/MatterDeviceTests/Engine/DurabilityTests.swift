import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// At each moment the store must contain a state that the device can restart from.
@Suite struct DurabilityTests {
  private typealias Entry = AccessControl.AccessControlEntryStruct
  private static let acl = AttributePath(AccessControl.acl.path(on: 0))

  private static func entry(_ subject: NodeID, _ privilege: AccessControl.AccessControlEntryPrivilege) -> Entry {
    Entry(privilege: privilege, authMode: .case, subjects: .value([subject]), targets: .null, fabricIndex: 1)
  }

  /// A list that is written entry by entry must not be half-written after a power cut: here the administrator's own
  /// entry is written last.
  @Test(arguments: [false, true]) func storesChunkedListAtomically(isCut: Bool) throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let before = try lab.read(AccessControl.acl, on: session)
    let key = StoreKey.attribute(AccessControl.acl.path(on: 0))
    let stored = lab.store[key]
    #expect(before.count == 1 && stored != nil)
    let entries = [Self.entry(lab.administrators[0].node, .administer), Self.entry(0x7777, .view)]
    var answers = try lab.sendRequest(
      WriteRequest([AttributeWrite(Self.acl, value: [entries[0]].tlv)], moreChunkedMessages: true), on: session)
    let exchange = try #require(answers.first?.exchange)
    #expect(lab.store[key] == stored)
    answers = try lab.sendRequest(
      WriteRequest([AttributeWrite(Self.acl, .append, value: entries[1].tlv)], moreChunkedMessages: true), on: exchange)
    #expect(try WriteResponse(decoding: #require(answers.first).bytes).statuses.map(\.status) == [.success])
    #expect(lab.store[key] == stored)
    // Other writes are stored immediately in the meantime.
    _ = try lab.write([AttributeWrite(BasicInformation.nodeLabel.path(on: 0), value: "Desk".tlv)], on: session)
    #expect(lab.store[StoreKey.attribute(BasicInformation.nodeLabel.path(on: 0))] == "Desk".tlv)
    if isCut {
      lab.crash()
      let opened = lab.openCASE()
      let session = try #require(opened)
      #expect(try lab.read(AccessControl.acl, on: session) == before)
      return
    }
    _ = try lab.sendRequest(WriteRequest([AttributeWrite(Self.acl, .append, value: entries[1].tlv)]), on: exchange)
    #expect(lab.store[key] != stored)
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    #expect(try lab.read(AccessControl.acl, on: again).map(\.privilege) == [.administer, .view, .view])
  }

  /// Without the remaining messages the device stores the current list, so that memory and store agree.
  @Test func storesUnfinishedListAfterTimeout() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let path = GroupKeyManagement.groupKeyMap.path(on: 0)
    let entry = GroupKeyManagement.GroupKeyMapStruct(groupId: 1, groupKeySetID: 1)
    _ = try lab.sendRequest(
      WriteRequest([AttributeWrite(AttributePath(path), value: [entry].tlv)], moreChunkedMessages: true), on: session)
    #expect(lab.store[StoreKey.attribute(path)] == nil)
    lab.advance(by: .seconds(120))
    #expect(lab.store[StoreKey.attribute(path)] != nil)
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    #expect(try lab.read(GroupKeyManagement.groupKeyMap, on: again).map(\.groupId) == [1])
  }

  @Test func resetsInOneCommit() throws {
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

  @Test func removesLastFabricInOneCommit() throws {
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

  /// Entries of the host survive a factory reset.
  @Test func keepsForeignEntriesOnFactoryReset() throws {
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

  /// After a loss of power, a counter that was used before its reservation was stored would be used again.
  @Test func storesGroupCounterBeforeItsFirstUse() throws {
    let button = EndpointDefinition(
      1, deviceTypes: [DeviceTypes.onOffLightSwitch], servers: [BindingServer.make()], clients: [OnOff.id])
    var lab = try Lab(endpoints: [button])
    try lab.addAdministrator()
    let session = try lab.commission()
    let keys = GroupKeyManagement.GroupKeySetStruct(
      groupKeySetID: 1, groupKeySecurityPolicy: .trustFirst,
      epochKey0: .value(OctetString([UInt8](repeating: 1, count: 16))),
      epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
    #expect(try lab.status(GroupKeyManagement.keySetWrite, .init(groupKeySet: keys), on: session) == .success)
    let map = [GroupKeyManagement.GroupKeyMapStruct(groupId: 7, groupKeySetID: 1)]
    let targets = [Binding.TargetStruct(group: 7, cluster: OnOff.id)]
    let statuses = try lab.write(
      [
        AttributeWrite(AttributePath(GroupKeyManagement.groupKeyMap.path(on: 0)), value: map.tlv),
        AttributeWrite(AttributePath(Binding.binding.path(on: 1)), value: targets.tlv),
      ], on: session)
    #expect(statuses == [.success, .success])
    var limit: UInt32?
    var (reservations, messages) = (0, 0)
    for _ in 0..<1500 {
      lab.device.control(OnOff.toggle, NoFields(), from: 1, at: lab.now)
      while let effect = lab.device.nextEffect() {
        switch effect {
        case .store(let changes):
          for change in changes where change.key == StoreKey.groupCounter {
            #expect(change.isDurable)
            limit = try UInt32(tlv: #require(change.value))
            reservations += 1
          }
        case .send(let bytes, _):
          let header = try MessageHeader.decode(bytes).header
          guard header.destination == .group(7) else { continue }
          let stored = try #require(limit, "no reservation before message \(messages)")
          #expect((1...1000).contains(stored &- header.counter), "\(header.counter) with \(stored) stored")
          messages += 1
        default: break
        }
      }
    }
    #expect(messages == 1500 && reservations == 2)
  }

  // MARK: Events

  private func events(_ lab: inout Lab, _ session: SessionID) throws -> [EventData] {
    try lab.read(ReadRequest(eventPaths: [EventPath()]), on: session).flatMap(\.eventReports).compactMap {
      if case .data(let data) = $0 { data } else { nil }
    }
  }

  @Test func restoresEventsAfterRestart() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let before = try events(&lab, session)
    #expect(before.contains { $0.priority == .critical } && before.contains { $0.priority == .info })
    lab.crash()
    let opened = lab.openCASE()
    let again = try #require(opened)
    let after = try events(&lab, again)
    // The start events of the earlier run are replaced by new ones; all other events are kept.
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
    #expect(lab.store.keys.count { $0.hasPrefix(StoreKey.events) } == after.count, "the store contains no other events")
    #expect(zip(after, after.dropFirst()).allSatisfy { $0.number < $1.number })
  }

  /// Events keep the UTC time, if it was known. The time since an earlier start would be ambiguous.
  @Test func restoresEventTimestamps() throws {
    let epoch: UInt64 = 1_800_000_000_000
    func milliseconds(_ event: EventData) -> UInt64? {
      if case .epoch(let time) = event.timestamp { time } else { nil }
    }
    var lab = try Lab { $0.epoch = .milliseconds(Int64(epoch)) }
    try lab.addAdministrator()
    lab.advance(by: .seconds(5))
    let before = try events(&lab, try lab.commission()).map(milliseconds)
    #expect(before.first == epoch && before.last == epoch + 5000)
    lab.advance(by: .seconds(3600))
    lab.crash()
    let opened = lab.openCASE()
    let after = try events(&lab, try #require(opened)).map(milliseconds)
    // The start events are those of the last start.
    #expect(after.first == epoch + 5000 && after.last == epoch + 3_605_000)
    // Without a clock, timestamps are relative to the start until the time is set.
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

  @Test func boundsStoredLog() throws {
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
  func skipsInvalidRecords(bytes: [UInt8]) throws {
    var lab = try Lab()
    lab.store[StoreKey.event(0)] = bytes
    lab.crash()
    #expect(lab.device.isCommissionable)
  }
}

/// Responses that exceed one message, and counts of dropped messages.
@Suite struct AnswerTests {
  private static let lights = (1...60).map { number in
    EndpointDefinition(EndpointID(UInt16(number)), deviceTypes: Lab.light.deviceTypes, servers: Lab.light.servers)
  }

  @Test func rejectsWildcardWriteWithOversizedResponse() throws {
    var lab = try Lab(endpoints: Self.lights)
    try lab.addAdministrator()
    let session = try lab.commission()
    var path = AttributePath(OnOff.onTime.path(on: 1))
    path.endpoint = nil
    path = AttributePath(endpoint: nil, cluster: OnOff.id, attribute: OnOff.onTime.id)
    let answers = try lab.sendRequest(WriteRequest([AttributeWrite(path, value: UInt16(9).tlv)]), on: session)
    #expect(answers.first?.opcode == .statusResponse)
    #expect(try StatusResponse(decoding: #require(answers.first).bytes).status == .resourceExhausted)
    #expect(try lab.read(OnOff.onTime, endpoint: 1, on: session) == 0)
  }

  /// In several messages, with one response for each endpoint that has the command.
  @Test func respondsToWildcardInvokeForEachEndpoint() throws {
    var lab = try Lab(endpoints: Self.lights)
    try lab.addAdministrator()
    let session = try lab.commission()
    let command = CommandData(CommandPath(endpoint: nil, cluster: OnOff.id, command: OnOff.toggle.id))
    var answers = try lab.sendRequest(InvokeRequest([command]), on: session)
    var endpoints: [EndpointID?] = []
    while let answer = answers.first {
      #expect(answer.bytes.count <= InteractionLimits.maximumPayload)
      let response = try InvokeResponse(decoding: answer.bytes)
      for case .status(let status) in response.responses {
        #expect(status.status == .success)
        endpoints.append(status.path.endpoint)
      }
      guard response.moreChunkedMessages else { break }
      answers = try lab.sendRequest(StatusResponse(.success), on: answer.exchange)
    }
    #expect(endpoints == (1...60).map { EndpointID($0) })
    #expect(try lab.read(OnOff.onOff, endpoint: 60, on: session))
  }

  @Test func countsDroppedMessages() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    #expect(lab.device.drops.total == 0)
    #expect(try lab.sendRequest(StatusResponse(.success), on: session).isEmpty)
    #expect(lab.device.drops[.unexpectedMessage] == 1 && lab.device.drops.total == 1)
    // The window is closed after commissioning.
    #expect(lab.openPASE() == nil)
    #expect(lab.device.drops[.notCommissionable] == 1)
  }

  /// A damaged store may contain any event number.
  @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64.max - 1024]) func startsWithLastEventNumber(_ number: UInt64)
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

  /// Entries must survive a loss of power if an old value would restore revoked access or repeat a nonce.
  @Test func marksKeysAndReservationsDurable() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    _ = try lab.commission()
    for prefix in ["fabric/", "fabrics/", "failsafe", "attribute/0/1f/"] {
      #expect(lab.durable.contains { $0.hasPrefix(prefix) }, "\(prefix)")
    }
    // No controller has seen event numbers before.
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
