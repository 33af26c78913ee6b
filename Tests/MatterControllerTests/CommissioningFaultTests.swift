import MatterCertificates
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// Devices that fail or are slow during commissioning.
@Suite struct CommissioningFaultTests {
  private func request(_ world: World) -> CommissioningRequest {
    CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address]))
  }

  @Test(arguments: [
    ("ArmFailSafe", CommissioningStep.armFailSafe), ("SetRegulatoryConfig", .setRegulatoryConfig),
    ("CertificateChainRequest", .requestAttestation), ("AttestationRequest", .requestAttestation),
    ("CSRRequest", .requestSigning), ("AddTrustedRootCertificate", .addTrustedRoot), ("AddNOC", .addCertificate),
    ("CommissioningComplete", .complete),
  ])
  func reportsStepOfRebootAndSucceedsNextTime(_ command: String, _ step: CommissioningStep) throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].rebootsAt = command
    let id = world.controller.commission(request(world), at: world.now)
    let error = world.error(of: id)
    guard case .commissioningFailed(step, let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.isTransport, "\(cause)")
    #expect(world.now < .zero + .seconds(60))
    #expect(world.controller.nodes.isEmpty && world.browsed.isEmpty)
    #expect(!world.store.keys.contains { $0.hasPrefix("peer/") || $0.hasPrefix("resumption/") })
    let again = world.controller.commission(request(world), at: world.now)
    guard case .commissioned(let result)? = try world.result(of: again)?.get() else {
      Issue.record("the second try failed")
      return
    }
    #expect(world.controller.nodes.map(\.nodeID) == [result.nodeID])
    let toggle = world.controller.invoke(OnOff.toggle, on: 1, of: result.nodeID, at: world.now)
    _ = try #require(try world.result(of: toggle)?.get())
  }

  /// The device completed the last step and lost power before the answer; the repeated request shows that it is
  /// commissioned.
  @Test func confirmsCompletionAfterLostAnswer() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].rebootsAfter = "CommissioningComplete"
    let id = world.controller.commission(request(world), at: world.now)
    guard case .commissioned(let result)? = try world.result(of: id)?.get() else {
      Issue.record("not commissioned")
      return
    }
    #expect(world.devices[0].log.suffix(2) == ["CommissioningComplete", "CommissioningComplete"])
    #expect(world.devices[0].core.fabric(1)?.nodeID == result.nodeID)
    #expect(world.store["peer/0000000000000001"] != nil)
  }

  @Test func retriesBusySteps() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].busyCommands = ["ArmFailSafe": 2, "AddNOC": 3, "CommissioningComplete": 1]
    world.devices[0].handshakeReplies = [StatusReport(.busy, .busy, data: [0x88, 0x13])]
    let id = world.controller.commission(request(world), at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    // 5 s given by the device, then 0.5 + 1, 0.5 + 1 + 2 and 0.5 s.
    #expect(world.now - .zero >= .milliseconds(10_500) && world.now - .zero < .milliseconds(11_500))
    #expect(world.devices[0].log.count { $0 == "AddNOC" } == 4)
  }

  /// The connection is lost after each number of datagrams of the handshake: PBKDFParamRequest, PBKDFParamResponse, Pake1,
  /// Pake2, Pake3, the status report, and the acknowledgments between them.
  @Test("repeats an interrupted passcode handshake", arguments: [false, true])
  func repeatsInterruptedHandshake(_ reboots: Bool) throws {
    for count in 2...5 {
      var world = try World()
      try world.addDevice()
      world.loses = { $0 >= count }
      let id = world.controller.commission(request(world), at: world.now)
      world.run(for: .seconds(9))
      #expect(world.completion(of: id) == nil && world.datagramCount > count)
      if reboots { world.devices[0].reboot() }
      // The handshake has timed out before the next attempt.
      world.run(for: .seconds(3))
      world.loses = { _ in false }
      guard case .commissioned? = try world.result(of: id)?.get() else {
        Issue.record("not commissioned after a loss of all from datagram \(count) on")
        continue
      }
      #expect(world.now - .zero < .seconds(60))
    }
  }

  @Test("reports a device as unreachable if each passcode handshake is interrupted") func alwaysInterrupted() throws {
    var world = try World()
    try world.addDevice()
    world.loses = { $0 >= 2 }
    let id = world.controller.commission(request(world), at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.connectByPasscode, .unreachable))
    #expect(world.now - .zero < .seconds(90))
  }

  @Test("names the refusal of a device that is busy until the timeout") func namesBusyAtTimeout() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].handshakeReplies = Array(
      repeating: StatusReport(.busy, .busy, data: [0xE8, 0x03]), count: 100)
    var request = request(world)
    request.timeout = .seconds(8)
    let id = world.controller.commission(request, at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.connectByPasscode, .busy))
    #expect(world.now - .zero < .seconds(10))
  }

  @Test func failsWhenDeviceStaysBusy() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].busyCommands = ["CSRRequest": 100]
    let id = world.controller.commission(request(world), at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.requestSigning, .status(Status(.busy))))
    #expect(world.devices[0].log.last == "ArmFailSafe")
  }

  /// A device or controller with only one address family.
  @Test(arguments: [true, false]) func skipsUnreachableAddressFamily(_ hasIPv6: Bool) throws {
    var world = try World()
    try world.addDevice()
    let v4 = IPAddress.v4(0xC0A8_0105)
    let v6 = IPAddress.v6(high: 0xFD00 << 48, low: 5, scope: 0)
    world.devices[0].address = SocketAddress(hasIPv6 ? v6 : v4, port: 5540)
    world.published[0].addresses = hasIPv6 ? [v4, v6] : [v6, v4]
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0xF00))), at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.now - .zero < .seconds(4))
    // The same for an operational session: now the address of the other family is reachable.
    let other = SocketAddress(hasIPv6 ? .v4(0xC0A8_0106) : .v6(high: 0xFD00 << 48, low: 6, scope: 0), port: 5540)
    world.devices[0].address = other
    world.devices[0].reboot()
    world.published = [
      MatterService(
        kind: .operational(compressedFabricID: world.controller.fabric.compressedFabricID, nodeID: 1),
        hostName: "000000000001", port: 5540, addresses: [v4, v6, other.ip])
    ]
    // A read is repeated on a new session; a command without acknowledgment is not.
    let path = [AttributePath(OnOff.onOff.path(on: 1))]
    let read = world.controller.read(1, path, at: world.now)
    _ = try #require(try world.result(of: read)?.get())
    #expect(world.controller.node(1)?.address == other)
  }

  /// A device whose clock starts in the year 2000 at each power-on, and one whose clock runs far ahead.
  @Test(arguments: [2 as Int64, 1 << 31]) func issuesCertificatesValidForAnyClock(_ time: Int64) throws {
    var world = try World { $0.notBefore = ControllerConfiguration.earliestNotBefore }
    try world.addDevice()
    try world.commissionAll()
    let fabric = try #require(world.devices[0].core.fabric(1))
    try CertificateChain.verify(
      noc: MatterCertificate(tlv: fabric.operationalCertificate), icac: nil,
      root: MatterCertificate(tlv: fabric.rootCertificate), at: UInt32(time))
  }
}
