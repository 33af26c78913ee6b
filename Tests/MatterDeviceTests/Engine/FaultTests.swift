import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Hooks that make a running device misbehave.
@Suite("Faults of a device") struct FaultTests {
  private static let onOff = AttributePath(OnOff.onOff.path(on: 1))

  /// Returns a commissioned device with an operational session of its administrator.
  private func commissioned() throws -> (Lab, SessionID) {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    return (lab, session)
  }

  private func install(
    _ lab: inout Lab, _ change: (inout DeviceHooks) -> Void, node: (inout NodeHooks) -> Void = { _ in }
  ) {
    var (hooks, nodeHooks) = (DeviceHooks(), NodeHooks())
    change(&hooks)
    node(&nodeHooks)
    lab.device.install(hooks, nodeHooks, at: lab.now)
    lab.settle()
  }

  private func status(of answers: [Administrator.Answer]) throws -> StatusCode {
    let answer = try #require(answers.first)
    #expect(answer.opcode == .statusResponse)
    return try StatusResponse(decoding: answer.bytes).status
  }

  private let read = ReadRequest(attributePaths: [Self.onOff])

  @Test("a busy device refuses requests and handshakes") func refusesWhileBusy() throws {
    var (lab, session) = try commissioned()
    install(&lab, { $0.isBusy = true }, node: { $0.busyWait = .seconds(1) })
    #expect(try status(of: lab.sendRequest(read, on: session)) == .busy)
    let toggle = InvokeRequest([CommandData(OnOff.toggle.path(on: 1), fields: NoFields().tlv)])
    #expect(try status(of: lab.sendRequest(toggle, on: session)) == .busy)
    #expect(lab.device.value(OnOff.onOff, on: 1) == false)
    #expect(lab.openCASE() == nil)
    install(&lab, { _ in })
    #expect(try lab.read(OnOff.onOff, endpoint: 1, on: session) == false)
    #expect(lab.openCASE() != nil)
  }

  @Test("a slow device executes and answers requests after the delay") func delaysRequests() throws {
    var (lab, session) = try commissioned()
    install(&lab) { $0.responseDelay = .seconds(3) }
    let toggle = InvokeRequest([CommandData(OnOff.toggle.path(on: 1), fields: NoFields().tlv)])
    #expect(try lab.sendRequest(toggle, on: session, then: .expectResponse(within: .seconds(30))).isEmpty)
    lab.advance(by: .milliseconds(2900))
    #expect(lab.administrators[0].answers.isEmpty)
    #expect(lab.device.value(OnOff.onOff, on: 1) == false)
    lab.advance(by: .milliseconds(200))
    #expect(lab.administrators[0].answers.map(\.opcode) == [.invokeResponse])
    #expect(lab.device.value(OnOff.onOff, on: 1) == true)
    // A request that waits is executed at its time even after the fault ended.
    #expect(try lab.sendRequest(toggle, on: session, then: .expectResponse(within: .seconds(30))).isEmpty)
    install(&lab) { _ in }
    lab.advance(by: .seconds(3))
    #expect(lab.device.value(OnOff.onOff, on: 1) == false)
  }

  @Test("a silent device reports after the fault ended") func sendsNoReports() throws {
    var (lab, session) = try commissioned()
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [Self.onOff], eventPaths: [],
      isFabricFiltered: true, dataVersionFilters: [])
    install(&lab) { $0.sendsReports = false }
    _ = try lab.subscribe(request, on: session)
    lab.administrators[0].reports = []
    try lab.device.act(set: OnOff.onOff, true, on: 1, at: lab.now)
    lab.settle()
    lab.advance(by: .seconds(200))
    #expect(lab.administrators[0].reports.isEmpty)
    #expect(lab.device.standingSubscriptions.count == 1)
    install(&lab) { _ in }
    #expect(lab.administrators[0].reports.flatMap(\.attributeReports).count == 1)
  }

  @Test("drops sessions at once and at each interval") func dropsSessions() throws {
    var (lab, session) = try commissioned()
    install(&lab) { $0.sessionDropInterval = .seconds(300) }
    #expect(try lab.sendRequest(read, on: session).isEmpty)
    #expect(!lab.administrators[0].closed.contains(session), "the administrator is not notified")
    let reopened = lab.openCASE()
    let next = try #require(reopened)
    lab.advance(by: .seconds(290))
    #expect(try lab.read(OnOff.onOff, endpoint: 1, on: next) == false)
    lab.advance(by: .seconds(11))
    #expect(try lab.sendRequest(read, on: next).isEmpty)
    install(&lab) { _ in }
    let again = lab.openCASE()
    let last = try #require(again)
    lab.advance(by: .seconds(700))
    #expect(try lab.read(OnOff.onOff, endpoint: 1, on: last) == false)
  }

  @Test("requires full handshakes if it refuses resumption") func refusesResumption() throws {
    var (lab, _) = try commissioned()
    /// Returns the size of the device's largest message.
    func handshake() -> Int {
      lab.sizes = []
      #expect(lab.openCASE() != nil)
      return lab.sizes.max() ?? 0
    }
    #expect(lab.administrators[0].core.canResume(fabric: 1, peer: lab.administrators[0].deviceNode))
    let resumed = handshake()
    install(&lab, { _ in }, node: { $0.acceptsResumption = false })
    #expect(handshake() > resumed + 200, "Sigma2 carries certificates")
  }

  @Test("full tables refuse new entries") func refusesNewEntries() throws {
    var (lab, session) = try commissioned()
    install(&lab) { $0.fullTables = Set(DeviceTable.allCases) }
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [Self.onOff], eventPaths: [],
      isFabricFiltered: true, dataVersionFilters: [])
    #expect(try status(of: lab.sendRequest(request, on: session)) == .resourceExhausted)
    let keys = GroupKeyManagement.GroupKeySetStruct(
      groupKeySetID: 7, groupKeySecurityPolicy: .trustFirst, epochKey0: .value(OctetString([UInt8](1...16))),
      epochStartTime0: .value(1), epochKey1: .null, epochStartTime1: .null, epochKey2: .null, epochStartTime2: .null)
    #expect(
      try lab.status(GroupKeyManagement.keySetWrite, .init(groupKeySet: keys), on: session)
        == Status(.resourceExhausted))
    let entries = try lab.read(AccessControl.acl, on: session)
    let path = AttributePath(AccessControl.acl.path(on: 0))
    #expect(try lab.write([AttributeWrite(path, value: entries.tlv)], on: session) == [.success])
    #expect(
      try lab.write([AttributeWrite(path, value: (entries + entries).tlv)], on: session)
        == [Status(.resourceExhausted)])
    #expect(try lab.read(AccessControl.acl, on: session) == entries)

    // A second administrator is refused with TableFull.
    try lab.addAdministrator()
    let opened = try lab.status(
      AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 180), on: session,
      isTimed: true)
    #expect(opened == .success)
    let accepted = lab.openPASE(1)
    let pase = try #require(accepted)
    let refusal = try lab.addNOC(on: pase, 1)
    #expect(refusal.statusCode == .tableFull && refusal.debugText == "the table of fabrics is full")
    #expect(lab.device.fabrics.count == 1)
  }

  // MARK: Data

  @Test("global attributes can violate the data model") func violatesGlobalAttributes() throws {
    var (lab, session) = try commissioned()
    func path(_ attribute: AttributeID) -> ConcreteAttributePath { .init(1, OnOff.id, attribute) }
    func value(_ attribute: AttributeID) throws -> [UInt8]? {
      guard case .data(let data)? = try report(&lab, AttributePath(path(attribute)), on: session) else { return nil }
      return data.value
    }
    let list = try #require(try value(GlobalAttribute.attributeList).map { try [AttributeID](tlv: $0) })
    let features = try #require(try value(GlobalAttribute.featureMap).map { try UInt32(tlv: $0) })
    install(&lab) {
      $0.violations = [path(GlobalAttribute.attributeList): .cut, path(GlobalAttribute.featureMap): .unknown]
    }
    #expect(
      try value(GlobalAttribute.attributeList) == Array(list.prefix(list.count - list.count / 2)).tlv)
    #expect(try value(GlobalAttribute.featureMap) == (features | 1 << 31).tlv)
  }

  private func report(_ lab: inout Lab, _ path: AttributePath, on session: SessionID) throws -> AttributeReport? {
    try lab.read(ReadRequest(attributePaths: [path]), on: session).flatMap(\.attributeReports).first
  }

  @Test("hides a missing attribute from clients") func hidesMissingAttribute() throws {
    var (lab, session) = try commissioned()
    install(&lab) { $0.violations[OnOff.onTime.path(on: 1)] = .missing }
    guard case .status(let status)? = try report(&lab, AttributePath(OnOff.onTime.path(on: 1)), on: session) else {
      Issue.record("the attribute has a value")
      return
    }
    #expect(status.status == Status(.unsupportedAttribute))
    let list = AttributePath(endpoint: 1, cluster: OnOff.id, attribute: GlobalAttribute.attributeList)
    guard case .data(let data)? = try report(&lab, list, on: session) else {
      Issue.record("no attribute list")
      return
    }
    let ids = try [AttributeID](tlv: data.value)
    #expect(ids.contains(OnOff.onOff.id) && !ids.contains(OnOff.onTime.id))
    let all = try lab.read(
      ReadRequest(attributePaths: [AttributePath(endpoint: 1, cluster: OnOff.id)]), on: session)
    let found = all.flatMap(\.attributeReports).compactMap {
      if case .data(let data) = $0 { data.path.attribute } else { nil }
    }
    #expect(found.contains(OnOff.onOff.id) && !found.contains(OnOff.onTime.id))
    let write = AttributeWrite(AttributePath(OnOff.onTime.path(on: 1)), value: UInt16(5).tlv)
    #expect(try lab.write([write], on: session) == [Status(.unsupportedAttribute)])
  }

  @Test("subscribers get a wrong value when the fault begins, and the right one when it ends")
  func reportsWrongValues() throws {
    var (lab, session) = try commissioned()
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [Self.onOff], eventPaths: [],
      isFabricFiltered: true, dataVersionFilters: [])
    _ = try lab.subscribe(request, on: session)
    func values() -> [[UInt8]] {
      defer { lab.administrators[0].reports = [] }
      return lab.administrators[0].reports.flatMap(\.attributeReports).compactMap {
        if case .data(let data) = $0 { data.value } else { nil }
      }
    }
    _ = values()
    install(&lab) { $0.violations[OnOff.onOff.path(on: 1)] = .null }
    #expect(values() == [[0x14]])
    try lab.device.act(set: OnOff.onOff, true, on: 1, at: lab.now)
    lab.settle()
    #expect(values() == [[0x14]])
    #expect(lab.device.value(OnOff.onOff, on: 1) == true, "the device has the right value")
    install(&lab) { _ in }
    #expect(values() == [true.tlv])
  }

  @Test("violating values don't have the attribute's type", arguments: ModelViolation.allCases)
  func violatesSchema(_ violation: ModelViolation) throws {
    let members: [Schema.Member] = [
      .init(id: 0, name: "A", schema: .unsigned(bits: 8), isOptional: false),
      .init(id: 1, name: "B", schema: .unsigned(bits: 8), isOptional: false),
    ]
    let pair = TLVElement.Value.structure([
      TLVElement(.unsigned(1), tag: .context(0)), TLVElement(.unsigned(2), tag: .context(1)),
    ])
    let cases: [(Schema, TLVElement.Value, [ModelViolation])] = [
      (.boolean, .boolean(true), [.missing, .null, .type]),
      (.string, .string("a"), [.missing, .null, .type]),
      (.nullable(.unsigned(bits: 8)), .unsigned(1), [.missing, .type]),
      (.enumeration(bits: 8, names: [0: "Off", 1: "On"]), .unsigned(1), [.missing, .null, .unknown, .type]),
      (.bitmap(bits: 8, names: [0: "A"]), .unsigned(1), [.missing, .null, .unknown, .type]),
      (.bitmap(bits: 1, names: [0: "A"]), .unsigned(1), [.missing, .null, .type]),
      (.list(.structure(members)), .array([TLVElement(pair)]), [.missing, .null, .cut, .type]),
      (.any, .unsigned(1), [.missing]),
    ]
    for (schema, value, possible) in cases {
      #expect(violation.isPossible(for: schema) == possible.contains(violation), "\(schema)")
      guard violation != .missing, possible.contains(violation) else { continue }
      let wrong = try TLVElement(decoding: violation.value(instead: TLVElement(value).encoded, schema))
      #expect(wrong.value != value, "\(schema)")
      switch (violation, wrong.value) {
      case (.null, .null), (.type, .string), (.type, .unsigned), (.cut, .array): break
      case (.unknown, .unsigned(let number)): #expect(number == 0xFE || number == 0x81)
      default: Issue.record("\(violation) of \(schema): \(wrong)")
      }
    }
  }

  @Test("a cut list has half of its entries") func cutsList() throws {
    let list = [UInt16]([1, 2, 3, 4, 5]).tlv
    #expect(try [UInt16](tlv: ModelViolation.cut.value(instead: list, .list(.unsigned(bits: 16)))) == [1, 2, 3])
    let single = [UInt16]([1]).tlv
    #expect(try [UInt16](tlv: ModelViolation.cut.value(instead: single, .list(.unsigned(bits: 16)))) == [])
  }
}
