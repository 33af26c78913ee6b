import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// ICD Management: registered clients, Check-In messages, and the operating mode. Matter Core § 9.16.
@Suite struct IcdManagementTests {
  private static let key = [UInt8](0x10...0x1F)

  private func sleepyLab(_ change: (inout SleepConfiguration) -> Void = { _ in }) throws -> (Lab, SessionID) {
    var sleep = SleepConfiguration(.long)
    change(&sleep)
    var lab = try Lab(sleep: sleep)
    try lab.addAdministrator()
    let session = try lab.commission()
    return (lab, session)
  }

  private func register(
    _ lab: inout Lab, node: NodeID? = nil, type: IcdManagement.ClientType = .permanent, on session: SessionID
  ) throws -> UInt32 {
    let node = node ?? lab.administrators[0].node
    return try lab.call(
      IcdManagement.registerClient,
      .init(checkInNodeID: node, monitoredSubject: node, key: OctetString(Self.key), clientType: type), on: session
    ).icdCounter
  }

  private func status(_ lab: inout Lab, _ request: IcdManagement.RegisterClientRequest, _ session: SessionID) throws
    -> StatusCode?
  {
    guard case .status(let status) = try lab.invoke(IcdManagement.registerClient, request, on: session) else {
      return nil
    }
    return status.status.code
  }

  @Test(arguments: SleepConfiguration.Mode.allCases, [false, true])
  func conforms(_ mode: SleepConfiguration.Mode, isDynamic: Bool) {
    var sleep = SleepConfiguration(mode)
    sleep.isDynamic = isDynamic
    expectConformance(of: IcdManagementServer.make(sleep))
  }

  @Test func registersAndUnregistersClients() throws {
    var (lab, session) = try sleepyLab { $0.clientsPerFabric = 2 }
    #expect(try lab.read(IcdManagement.operatingMode, on: session) == .sit)
    let counter = try register(&lab, on: session)
    #expect(try lab.read(IcdManagement.icdCounter, on: session) == counter)
    #expect(try lab.read(IcdManagement.operatingMode, on: session) == .lit)
    _ = try register(&lab, node: 7, type: .ephemeral, on: session)
    let clients = try lab.read(IcdManagement.registeredClients, on: session)
    #expect(clients.map(\.checkInNodeID) == [lab.administrators[0].node, 7])
    #expect(clients.map(\.clientType) == [.permanent, .ephemeral])
    let request = IcdManagement.RegisterClientRequest(
      checkInNodeID: 8, monitoredSubject: 8, key: OctetString(Self.key), clientType: .permanent)
    #expect(try status(&lab, request, session) == .resourceExhausted)
    // The same client replaces its registration.
    _ = try register(&lab, node: 7, on: session)
    #expect(try lab.read(IcdManagement.registeredClients, on: session).last?.clientType == .permanent)
    for node in [7, lab.administrators[0].node] {
      #expect(
        try lab.status(IcdManagement.unregisterClient, .init(checkInNodeID: node), on: session).code == .success)
    }
    #expect(
      try lab.status(IcdManagement.unregisterClient, .init(checkInNodeID: 7), on: session).code == .notFound)
    #expect(try lab.read(IcdManagement.operatingMode, on: session) == .sit)
  }

  @Test func rejectsInvalidRegistrations() throws {
    var (lab, session) = try sleepyLab()
    var request = IcdManagement.RegisterClientRequest(
      checkInNodeID: 7, monitoredSubject: 7, key: OctetString(Array(Self.key.dropLast())), clientType: .permanent)
    #expect(try status(&lab, request, session) == .constraintError)
    request.key = OctetString(Self.key)
    request.clientType = .init(rawValue: 2)
    #expect(try status(&lab, request, session) == .constraintError)
  }

  /// A client that may only manage the cluster needs the key of a registration to change it.
  @Test func requiresKeyOfManagers() throws {
    var (lab, session) = try sleepyLab()
    let administrator = lab.administrators[0].node
    let rights: [(AccessControl.AccessControlEntryPrivilege, ClusterID)] = [
      (.administer, AccessControl.id), (.manage, IcdManagement.id),
    ]
    let entries = rights.map { privilege, cluster in
      AccessControl.AccessControlEntryStruct(
        privilege: privilege, authMode: .case, subjects: .value([administrator]),
        targets: .value([.init(cluster: .value(cluster), endpoint: .null, deviceType: .null)]), fabricIndex: 1)
    }
    #expect(
      try lab.write([AttributeWrite(AccessControl.acl.path(on: 0), value: entries.tlv)], on: session).map(\.code)
        == [.success])
    _ = try register(&lab, on: session)
    var request = IcdManagement.RegisterClientRequest(
      checkInNodeID: administrator, monitoredSubject: 3, key: OctetString(Self.key), clientType: .permanent)
    #expect(try status(&lab, request, session) == .failure)
    request.verificationKey = OctetString(Self.key.reversed())
    #expect(try status(&lab, request, session) == .failure)
    request.verificationKey = OctetString(Self.key)
    #expect(try status(&lab, request, session) == nil)
    let leave = IcdManagement.UnregisterClientRequest(checkInNodeID: administrator)
    #expect(try lab.status(IcdManagement.unregisterClient, leave, on: session).code == .failure)
    #expect(
      try lab.status(
        IcdManagement.unregisterClient, .init(checkInNodeID: administrator, verificationKey: OctetString(Self.key)),
        on: session
      ).code == .success)
  }

  @Test func announcesModeOverDNSSD() throws {
    var (lab, session) = try sleepyLab()
    func service() throws -> MatterService {
      try #require(lab.published.first { if case .operational = $0.kind { true } else { false } })
    }
    #expect(try service().isLongIdleTime == false && service().idleInterval == .seconds(5))
    #expect(try service().activeThreshold == .seconds(5) && service().activeInterval == .milliseconds(300))
    _ = try register(&lab, on: session)
    #expect(try service().isLongIdleTime == true && service().idleInterval == nil)
    let leave = IcdManagement.UnregisterClientRequest(checkInNodeID: lab.administrators[0].node)
    _ = try lab.status(IcdManagement.unregisterClient, leave, on: session)
    #expect(try service().isLongIdleTime == false && service().idleInterval == .seconds(5))

    var short = try Lab(sleep: SleepConfiguration(.short))
    try short.addAdministrator()
    _ = try short.commission()
    let operational = short.published.first { if case .operational = $0.kind { true } else { false } }
    #expect(operational?.isLongIdleTime == nil && operational?.idleInterval == .seconds(3))
    #expect(try Lab().published.first?.text.contains { $0.key == "ICD" } == false)
  }

  @Test func keepsRegistrationsOverRestart() throws {
    var (lab, session) = try sleepyLab()
    let counter = try register(&lab, on: session)
    #expect(lab.durable.contains { $0.hasPrefix("server/0/46/key/") })
    #expect(lab.durable.contains("attribute/0/46/3") && lab.durable.contains("attribute/0/46/4"))
    lab.crash()
    // Without a subscription, it checks in at its start.
    #expect(lab.administrators[0].checkIns.count == 0, "it doesn't know the address")
    let opened = lab.openCASE()
    let again = try #require(opened)
    #expect(try lab.read(IcdManagement.registeredClients, on: again).count == 1)
    #expect(try lab.read(IcdManagement.operatingMode, on: again) == .lit)
    #expect(try lab.read(IcdManagement.icdCounter, on: again) == counter &+ 1)
    _ = try lab.invoke(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: again)
    #expect(!lab.store.keys.contains { $0.hasPrefix("server/0/46/key/") })
  }

  @Test func changesCounterOnTestEvents() throws {
    var (lab, session) = try sleepyLab { $0.isDynamic = true }
    let counter = try register(&lab, on: session)
    func cause(_ code: UInt64) throws -> StatusCode {
      let request = GeneralDiagnostics.TestEventTriggerRequest(
        enableKey: OctetString(Lab.enableKey), eventTrigger: 0x0046_0000_0000_0000 | code)
      return try lab.status(GeneralDiagnostics.testEventTrigger, request, on: session).code
    }
    #expect(try cause(3) == .success)
    #expect(try lab.read(IcdManagement.icdCounter, on: session) == counter &+ 0x7FFF_FFFF)
    #expect(try cause(4) == .success)
    #expect(try lab.read(IcdManagement.icdCounter, on: session) == counter &+ 0x7FFF_FFFE)
    #expect(try cause(5) == .success)
    #expect(try cause(6) == .success)
    #expect(try lab.read(IcdManagement.operatingMode, on: session) == .sit)
    #expect(try cause(7) == .success)
    #expect(try lab.read(IcdManagement.operatingMode, on: session) == .lit)
    #expect(try cause(1) == .success)
    lab.advance(by: .seconds(100))
    #expect(lab.device.isActive)
    #expect(try cause(2) == .success)
    lab.advance(by: .seconds(6))
    #expect(!lab.device.isActive)
  }

  // MARK: Check-In messages

  @Test func checksInWithoutSubscription() throws {
    var (lab, session) = try sleepyLab()
    let counter = try register(&lab, on: session)
    lab.advance(by: .seconds(3600 + 20))
    let message = try #require(
      lab.administrators[0].checkIns.first.flatMap { CheckInMessage(opening: $0, with: Self.key) })
    #expect(message.counter == counter &+ 1 && message.activeThreshold == .seconds(5))
    #expect(lab.administrators[0].checkIns.count == 1)
    lab.advance(by: .seconds(3610))
    #expect(
      lab.administrators[0].checkIns.compactMap { CheckInMessage(opening: $0, with: Self.key)?.counter }
        == [counter &+ 1, counter &+ 2])
    #expect(lab.store["attribute/0/46/4"] == (counter &+ 2).tlv)
  }

  @Test func checksInWithSubscriptionOfOthersOnly() throws {
    var (lab, session) = try sleepyLab()
    _ = try register(&lab, on: session)
    _ = try register(&lab, node: 7, type: .ephemeral, on: session)
    let paths = [AttributePath(OnOff.onOff.path(on: 1))]
    _ = try lab.subscribe(
      SubscribeRequest(minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: paths), on: session)
    lab.advance(by: .seconds(3 * 3600))
    #expect(lab.administrators[0].checkIns.isEmpty)
    #expect(lab.administrators[0].reports.count >= 2)
  }

  @Test func stopsCheckInsAtUnregistration() throws {
    var (lab, session) = try sleepyLab()
    _ = try register(&lab, on: session)
    _ = try lab.status(
      IcdManagement.unregisterClient, .init(checkInNodeID: lab.administrators[0].node), on: session)
    lab.advance(by: .seconds(2 * 3600))
    #expect(lab.administrators[0].checkIns.isEmpty)
  }
}
