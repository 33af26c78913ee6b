import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension Lab {
  /// A lamp that is intermittently connected.
  init(sleep: SleepConfiguration, _ change: (inout DeviceConfiguration) -> Void = { _ in }) throws {
    let root = EndpointDefinition(.root, deviceTypes: [], servers: [IcdManagementServer.make(sleep)])
    try self.init(endpoints: [root, Lab.light]) {
      $0.sleep = sleep
      change(&$0)
    }
  }
}

/// The modes of an intermittently connected device. Matter Core § 9.16.1.
@Suite struct SleepTests {
  private func sleepyLab(_ mode: SleepConfiguration.Mode) throws -> (Lab, SessionID) {
    var lab = try Lab(sleep: SleepConfiguration(mode))
    try lab.addAdministrator()
    let session = try lab.commission()
    if mode == .long {
      let request = IcdManagement.RegisterClientRequest(
        checkInNodeID: 7, monitoredSubject: 7, key: OctetString([UInt8](1...16)), clientType: .ephemeral)
      _ = try lab.call(IcdManagement.registerClient, request, on: session)
    }
    return (lab, session)
  }

  private func invokeOn(_ lab: inout Lab, _ session: SessionID) throws -> Bool {
    let invoke = InvokeRequest([CommandData(OnOff.on.path(on: 1), fields: NoFields().tlv)])
    return try !lab.sendRequest(invoke, on: session).isEmpty
  }

  @Test func staysActiveUntilCommissioned() throws {
    var lab = try Lab(sleep: SleepConfiguration(.short))
    lab.advance(by: .seconds(1000))
    #expect(lab.device.isActive)
    try lab.addAdministrator()
    _ = try lab.commission()
    #expect(lab.device.isActive)
    lab.advance(by: .seconds(5))
    #expect(!lab.device.isActive)
    #expect(lab.events.contains(.modeChanged(isActive: false)))
  }

  @Test func answersWithinThresholdAfterMessages() throws {
    var (lab, session) = try sleepyLab(.long)
    for _ in 0..<5 {
      lab.advance(by: .seconds(4))
      #expect(lab.device.isActive)
      #expect(try invokeOn(&lab, session))
    }
    lab.advance(by: .seconds(6))
    #expect(!lab.device.isActive)
  }

  /// The parent keeps messages for a device with a short idle time until its next poll.
  @Test func receivesKeptMessagesAtPoll() throws {
    var (lab, session) = try sleepyLab(.short)
    lab.advance(by: .seconds(10))
    #expect(!lab.device.isActive)
    #expect(try !invokeOn(&lab, session))
    #expect(lab.device.value(OnOff.onOff, on: 1) == false)
    lab.advance(by: .seconds(3))
    #expect(lab.device.value(OnOff.onOff, on: 1) == true)
    #expect(lab.device.isActive && lab.device.lostWhileIdle == 0)
    #expect(lab.administrators[0].answers.contains { $0.opcode == .invokeResponse })
  }

  @Test func losesMessagesInLongIdleTime() throws {
    var (lab, session) = try sleepyLab(.long)
    lab.advance(by: .seconds(10))
    #expect(!lab.device.isActive)
    #expect(try !invokeOn(&lab, session))
    lab.advance(by: .seconds(120))
    #expect(lab.device.value(OnOff.onOff, on: 1) == false)
    #expect(lab.device.lostWhileIdle == Retransmission.maximumTransmissions)
    lab.advance(by: .seconds(3477))
    #expect(lab.device.isActive, "idle mode ends")
    #expect(try invokeOn(&lab, session))
    #expect(lab.device.value(OnOff.onOff, on: 1) == true)
  }

  @Test func keepsLimitedNumberOfMessages() throws {
    var state = SleepState(SleepConfiguration(.short), at: .zero)
    for _ in 0..<20 { state.keep(.init(bytes: [1], address: Lab.deviceAddress), at: .zero + .seconds(4)) }
    #expect(state.lost == 4)
    #expect(state.deadline == .zero + .seconds(6))
    #expect(state.takeKept(at: .zero + .seconds(5)).isEmpty)
    #expect(state.takeKept(at: .zero + .seconds(6)).count == 16)
    #expect(state.deadline == .zero + .seconds(60))
  }

  /// A change leaves idle mode to be reported, and then the device rests again.
  @Test func reportsChangesAtOnce() throws {
    var (lab, session) = try sleepyLab(.long)
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [AttributePath(OnOff.onOff.path(on: 1))])
    let response = try lab.subscribe(request, on: session).response
    #expect(response.maxInterval == 3600, "a multiple of the idle mode duration")
    lab.advance(by: .seconds(30))
    #expect(!lab.device.isActive)
    try lab.device.act(set: OnOff.onOff, true, on: 1, at: lab.now)
    lab.settle()
    #expect(lab.administrators[0].reports.count == 1 && lab.device.isActive)
    lab.advance(by: .seconds(6))
    #expect(!lab.device.isActive)
  }

  @Test(arguments: [
    (Int64(60), UInt16(0), UInt16(60), UInt16(60)), (60, 0, 150, 120), (60, 0, 30, 60), (60, 70, 80, 120),
    (3600, 0, 60, 3600), (64_800, 0, 3600, 64_800), (1, 0, 0, 1), (7, 10, 10, 14),
  ]) func reportsAtMultiplesOfIdleTime(_ idle: Int64, _ floor: UInt16, _ ceiling: UInt16, _ expected: UInt16) {
    var sleep = SleepConfiguration(.long)
    sleep.idleDuration = .seconds(idle)
    #expect(sleep.maximumInterval(from: floor, to: ceiling) == expected)
  }

  @Test func wakesAtPressOfButton() throws {
    var (lab, session) = try sleepyLab(.long)
    lab.advance(by: .seconds(100))
    #expect(!lab.device.isActive)
    try lab.device.act(part: IcdManagementServer.button, "pressed", on: 0, at: lab.now)
    lab.settle()
    #expect(lab.device.isActive)
    #expect(try invokeOn(&lab, session))
  }

  /// A subscriber knows by a report that the device is active.
  @Test func reportsAtStartOfActiveMode() throws {
    var (lab, session) = try sleepyLab(.long)
    let request = SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [AttributePath(OnOff.onOff.path(on: 1))])
    _ = try lab.subscribe(request, on: session)
    lab.advance(by: .seconds(100))
    try lab.device.act(part: IcdManagementServer.button, "pressed", on: 0, at: lab.now)
    lab.settle()
    #expect(lab.administrators[0].reports.map(\.attributeReports.count) == [0])
  }

  @Test func staysActiveOnRequest() throws {
    var (lab, session) = try sleepyLab(.long)
    func promise(_ milliseconds: UInt32) throws -> UInt32 {
      try lab.call(IcdManagement.stayActiveRequest, .init(stayActiveDuration: milliseconds), on: session)
        .promisedActiveDuration
    }
    #expect(try promise(20_000) == 20_000)
    lab.advance(by: .seconds(19))
    #expect(lab.device.isActive)
    #expect(try promise(.max) == 30_000, "at most 30 s")
    #expect(try promise(1) >= 29_000, "never less than promised before")
    lab.advance(by: .seconds(29))
    #expect(lab.device.isActive)
    lab.advance(by: .seconds(2))
    #expect(!lab.device.isActive)
  }

  @Test func declaresTimingInSessions() throws {
    let (lab, session) = try sleepyLab(.short)
    let parameters = lab.administrators[0].core.session(session)?.parameters
    #expect(parameters?.idleInterval == .seconds(3))
    #expect(parameters?.activeThreshold == .seconds(1))
  }
}
