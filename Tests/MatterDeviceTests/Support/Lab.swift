import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// A device and administrators, directly connected on one virtual clock. No datagram is lost unless a test drops it.
struct Lab {
  static let deviceAddress = SocketAddress(.loopback6, port: 5540)
  static let passcode: UInt32 = 20_202_021
  static let enableKey = [UInt8](1...16)
  static let salt = [UInt8](repeating: 0x53, count: 16)

  var now = Instant.zero
  var device: DeviceEngine
  var store: StoredState = [:]
  var published: [MatterService] = []
  /// The multicast addresses that the device has joined.
  var joined: [IPAddress] = []
  var events: [DeviceEvent] = []
  var administrators: [Administrator] = []
  /// The keys of durable changes.
  var durable: Set<String> = []
  /// The number of store effects.
  var commits = 0
  /// The sizes of the datagrams that the device sent.
  var sizes: [Int] = []
  private var crashes: UInt64 = 0
  let configuration: DeviceConfiguration
  let endpoints: [EndpointDefinition]

  init(
    endpoints: [EndpointDefinition] = [Lab.light], isCommissionable: Bool = true,
    _ change: (inout DeviceConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = try Self.makeConfiguration()
    configuration.isCommissionable = isCommissionable
    configuration.enableKey = Self.enableKey
    configuration.fixedLabels = [.init(label: "room", value: "Hall")]
    change(&configuration)
    self.configuration = configuration
    self.endpoints = endpoints
    device = DeviceEngine(
      configuration, endpoints: endpoints, random: SeededRandomSource(seed: 1),
      signatures: DeterministicSignatures(), at: .zero)
    settle()
  }

  /// The configuration of a lamp.
  static func makeConfiguration() throws -> DeviceConfiguration {
    var random = SeededRandomSource(seed: 77)
    let attestation = try TestAttestation(
      vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: 0x0100, random: &random,
      signatures: DeterministicSignatures())
    return DeviceConfiguration(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Lamp", productID: 0x8000, serialNumber: "1",
      uniqueID: "unique", discriminator: 3840,
      passcode: PASEParameters(
        verifier: try SPAKE2PlusVerifier(passcode: Self.passcode, salt: Self.salt, iterations: 1000), salt: Self.salt,
        iterations: 1000),
      attestation: .credentials(AttestationCredentials(attestation)),
      port: 5540, hostName: "B6A1F0C3D2E4")
  }

  /// An on/off light with only the cluster that the tests need.
  static let light = EndpointDefinition(
    1, deviceTypes: [DeviceTypes.onOffLight],
    servers: [
      ClusterServer(OnOff.self, features: [OnOff.lighting])
        .on(OnOff.off) { context, _ in context[OnOff.onOff] = false }
        .on(OnOff.on) { context, _ in context[OnOff.onOff] = true }
        .on(OnOff.toggle) { context, _ in context[OnOff.onOff].toggle() }
    ])

  /// Restarts the device from its store without an orderly shutdown.
  mutating func crash() {
    // Different random numbers for each run: repeated ones would be treated as a replay.
    defer { crashes += 1 }
    device = DeviceEngine(
      configuration, endpoints: endpoints, stored: store, random: SeededRandomSource(seed: 2 + crashes),
      signatures: DeterministicSignatures(), at: now)
    published = []
    joined = []
    settle()
  }

  /// Restarts the device while the first administrator moves to another address.
  mutating func crash(movingAdministratorTo address: SocketAddress) {
    administrators[0].address = address
    crash()
  }

  @discardableResult
  mutating func addAdministrator(
    vendor: VendorID = 0xFFF1, validity: CertificateValidity = CertificateValidity(notBefore: .seconds(1))
  ) throws -> Int {
    administrators.append(try Administrator(number: administrators.count, vendor: vendor, validity: validity))
    return administrators.count - 1
  }

  // MARK: Time

  /// Delivers messages in both directions until none are left.
  mutating func settle() {
    while true {
      var isQuiet = true
      while let effect = device.nextEffect() {
        isQuiet = false
        switch effect {
        case .send(let bytes, let address):
          sizes.append(bytes.count)
          if let index = administrators.firstIndex(where: { $0.address == address }) {
            administrators[index].core.receive(bytes, from: Self.deviceAddress, at: now)
          }
        case .store(let changes):
          commits += 1
          for change in changes { store[change.key] = change.value }
          durable.formUnion(changes.filter(\.isDurable).map(\.key))
        case .publish(let service):
          published.removeAll { $0.kind == service.kind }
          published.append(service)
        case .withdraw(let service): published.removeAll { $0.kind == service.kind }
        case .emit(let event): events.append(event)
        case .join(let address): joined.append(address)
        case .leave(let address): joined.removeAll { $0 == address }
        case .browse, .stopBrowsing: break
        }
      }
      for index in administrators.indices {
        while let output = administrators[index].core.nextOutput() {
          isQuiet = false
          if let bytes = administrators[index].react(to: output, at: now) {
            device.handle(.datagram(bytes, from: administrators[index].address), at: now)
          }
        }
      }
      if isQuiet { return }
    }
  }

  mutating func advance(by duration: Duration) {
    let end = now + duration
    while true {
      var next = end
      for deadline in administrators.map(\.core.nextDeadline) + [device.nextDeadline] {
        if let deadline, deadline < next { next = max(deadline, now) }
      }
      now = next
      device.advance(to: now)
      for index in administrators.indices { administrators[index].core.advance(to: now) }
      settle()
      if now >= end { return }
    }
  }

  // MARK: Sessions

  /// Opens a PASE session. Returns nil if the device refuses it.
  mutating func openPASE(_ administrator: Int = 0, passcode: UInt32 = Lab.passcode) -> SessionID? {
    administrators[administrator].established = nil
    _ = administrators[administrator].core.establishPASE(
      passcode: passcode, to: Self.deviceAddress, parameters: .own, at: now)
    settle()
    return administrators[administrator].established
  }

  mutating func openCASE(_ administrator: Int = 0, node: NodeID? = nil) -> SessionID? {
    administrators[administrator].established = nil
    let peer = node ?? administrators[administrator].deviceNode
    _ = administrators[administrator].core.establishCASE(
      fabric: 1, peer: peer, to: Self.deviceAddress, parameters: .own, at: now)
    settle()
    return administrators[administrator].established
  }

  // MARK: Interactions

  /// Sends a message and returns all responses on the exchange.
  @discardableResult
  mutating func sendRequest<Message: InteractionMessage>(
    _ message: Message, on session: SessionID, _ administrator: Int = 0, then: AfterSending = .keepOpen
  ) throws -> [Administrator.Answer] {
    let opened = administrators[administrator].core.openExchange(on: session, at: now)
    return try sendRequest(message, on: try #require(opened), administrator, then: then)
  }

  mutating func sendRequest<Message: InteractionMessage>(
    _ message: Message, on exchange: ExchangeID, _ administrator: Int = 0, then: AfterSending = .keepOpen
  ) throws -> [Administrator.Answer] {
    administrators[administrator].answers = []
    administrators[administrator].core.send(
      Message.opcode.rawValue, payload: message.encoded, on: exchange, then: then, at: now)
    settle()
    return administrators[administrator].answers
  }

  mutating func invoke<C, Request, Response>(
    _ command: Command<C, Request, Response>, _ request: Request, endpoint: EndpointID = 0, on session: SessionID,
    _ administrator: Int = 0, isTimed: Bool = false
  ) throws -> CommandResult {
    let invoke = InvokeRequest([CommandData(command.path(on: endpoint), fields: request.tlv)], isTimed: isTimed)
    var answers: [Administrator.Answer]
    if isTimed {
      answers = try sendRequest(TimedRequest(timeoutMilliseconds: 1000), on: session, administrator)
      let exchange = try #require(answers.first?.exchange)
      answers = try sendRequest(invoke, on: exchange, administrator)
    } else {
      answers = try sendRequest(invoke, on: session, administrator)
    }
    let answer = try #require(answers.first)
    let response = try InvokeResponse(decoding: answer.bytes)
    return try #require(response.responses.first)
  }

  /// Invokes a command and returns the fields of its response command.
  mutating func call<C, Request, Response>(
    _ command: Command<C, Request, Response>, _ request: Request, endpoint: EndpointID = 0, on session: SessionID,
    _ administrator: Int = 0
  ) throws -> Response {
    let result = try invoke(command, request, endpoint: endpoint, on: session, administrator)
    guard case .command(let data) = result, let fields = data.fields else {
      Issue.record("\(command.name) was answered with \(result)")
      throw StatusError(.failure)
    }
    return try Response(tlv: fields)
  }

  /// Invokes a command without a response command and returns its status.
  mutating func status<C, Request, Response>(
    _ command: Command<C, Request, Response>, _ request: Request, endpoint: EndpointID = 0, on session: SessionID,
    _ administrator: Int = 0, isTimed: Bool = false
  ) throws -> Status {
    let result = try invoke(
      command, request, endpoint: endpoint, on: session, administrator, isTimed: isTimed)
    guard case .status(let status) = result else {
      Issue.record("\(command.name) was answered with \(result)")
      throw StatusError(.failure)
    }
    return status.status
  }

  /// Reads, in one or more messages.
  mutating func read(
    _ request: ReadRequest, on session: SessionID, _ administrator: Int = 0
  ) throws -> [ReportData] {
    var answers = try sendRequest(request, on: session, administrator)
    var reports: [ReportData] = []
    while let answer = answers.first {
      let report = try ReportData(decoding: answer.bytes)
      reports.append(report)
      guard report.moreChunkedMessages else { break }
      answers = try sendRequest(StatusResponse(.success), on: answer.exchange, administrator)
    }
    return reports
  }

  mutating func read<C, Value>(
    _ attribute: Attribute<C, Value>, endpoint: EndpointID = 0, on session: SessionID, _ administrator: Int = 0
  ) throws -> Value {
    let reports = try read(
      ReadRequest(attributePaths: [AttributePath(attribute.path(on: endpoint))]), on: session, administrator)
    guard case .data(let data)? = reports.first?.attributeReports.first else {
      Issue.record("\(attribute.name) was answered with \(reports)")
      throw StatusError(.failure)
    }
    return try Value(tlv: data.value)
  }

  mutating func write(
    _ writes: [AttributeWrite], on session: SessionID, _ administrator: Int = 0
  ) throws -> [Status] {
    let answers = try sendRequest(WriteRequest(writes), on: session, administrator)
    return try WriteResponse(decoding: try #require(answers.first).bytes).statuses.map(\.status)
  }

  // MARK: Commissioning

  /// Performs all steps up to AddNOC over a PASE session.
  mutating func addNOC(on session: SessionID, _ administrator: Int = 0) throws -> OperationalCredentials.NOCResponse {
    let arm = try call(
      GeneralCommissioning.armFailSafe, .init(expiryLengthSeconds: 60, breadcrumb: 1), on: session, administrator)
    #expect(arm.errorCode == .ok)
    let csr = try call(
      OperationalCredentials.csrRequest, .init(csrNonce: OctetString([UInt8](repeating: 7, count: 32))), on: session,
      administrator)
    let elements = try NOCSRElements(tlv: csr.nocsrElements.bytes)
    let request = try CertificateSigningRequest(verifying: elements.certificateSigningRequest)
    let authority = administrators[administrator].authority
    let root = try status(
      OperationalCredentials.addTrustedRootCertificate, .init(rootCACertificate: OctetString(authority.root.tlv)),
      on: session, administrator)
    #expect(root == .success)
    let noc = try administrators[administrator].issue(request.publicKey)
    return try call(
      OperationalCredentials.addNOC,
      .init(
        nocValue: OctetString(noc), ipkValue: OctetString(administrators[administrator].epochKey),
        caseAdminSubject: administrators[administrator].node, adminVendorId: administrators[administrator].vendor),
      on: session, administrator)
  }

  /// Commissions the device.
  /// - Returns: The operational session.
  mutating func commission(_ administrator: Int = 0, passcode: UInt32 = Lab.passcode) throws -> SessionID {
    let opened = openPASE(administrator, passcode: passcode)
    let pase = try #require(opened, "no PASE session")
    let response = try addNOC(on: pase, administrator)
    try #require(response.statusCode == .ok)
    let operational = openCASE(administrator)
    let session = try #require(operational, "no operational session")
    let complete = try call(GeneralCommissioning.commissioningComplete, NoFields(), on: session, administrator)
    try #require(complete.errorCode == .ok)
    return session
  }
}
