import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import MatterTLV

/// A device with a real ``NodeCore`` that answers from a table, with fault injection.
struct FakeDevice {
  var address: SocketAddress
  var core: NodeCore
  var random: any RandomSource
  let attestation: TestAttestation
  let passcode: UInt32

  /// The attributes for reads and subscriptions.
  var attributes: [ConcreteAttributePath: [UInt8]] = [:]
  var versions: [ClusterPath: UInt32] = [:]
  /// Statuses of refused commands.
  var refusals: [String: Status] = [:]
  /// Commands without an answer.
  var silent: Set<String> = []
  /// Commands whose answers are delayed until ``answerHeld(at:)``.
  var holdBack: Set<String> = []
  private var held: [(ExchangeID, InvokeResponse)] = []
  /// Number of requests to answer with ``busyStatus``.
  var busyCount = 0
  /// Signs attestation responses with a wrong key.
  var signsWithOtherKey = false
  /// Entries per report message.
  var reportSize = 100
  /// Drops all datagrams.
  var isDead = false
  /// The interval in each SubscribeResponse, seconds.
  var maxInterval: UInt16 = 60
  /// The status of each write.
  var writeStatus = Status.success
  var writes: [AttributeWrite] = []
  var busyStatus = StatusCode.busy
  /// Number of times that a command is answered with BUSY.
  var busyCommands: [String: Int] = [:]
  /// Status reports that answer the first messages of the next handshakes.
  var handshakeReplies: [StatusReport] = []
  /// The answer to session resumption.
  var resumptionRefusal: StatusReport?
  /// Report messages that answer a read.
  var scriptedReports: [ReportData] = []
  /// Reboots at this command, without carrying it out.
  var rebootsAt: String?
  /// Reboots after carrying out this command, before the answer.
  var rebootsAfter: String?
  /// Number of handshakes with certificates and of resumptions.
  var handshakes = (full: 0, resumed: 0)
  private(set) var isCommissioned = false
  private var replies: [([UInt8], SocketAddress)] = []
  private let pase: PASEParameters

  /// The received requests in order: names of commands, "Read", "Write", "Subscribe".
  var log: [String] = []
  var onOff = false
  var subscriptions: [UInt32: SessionID] = [:]
  var lastSubscribe: SubscribeRequest?
  var statuses: [StatusCode] = []
  private(set) var rootCertificate: [UInt8] = []
  private var newKey: P256PrivateKey?
  private var pending: [ExchangeID: [ReportData]] = [:]
  private var primed: [ExchangeID: UInt32] = [:]
  private var nextSubscription: UInt32 = 100
  private var chunks: [ExchangeID: Int] = [:]

  init(_ address: SocketAddress, seed: UInt64, passcode: UInt32 = 20_202_021) throws {
    self.address = address
    self.passcode = passcode
    var random = SeededRandomSource(seed: seed)
    attestation = try TestAttestation(
      vendorID: 0xFFF1, productID: 0x8001, deviceTypeID: 0x0100, random: &random)
    core = NodeCore(random: random)
    self.random = SeededRandomSource(seed: seed + 1000)
    let salt = [UInt8](repeating: 7, count: 32)
    pase = PASEParameters(
      verifier: try SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: 1000), salt: salt, iterations: 1000)
    core.openPASE(pase)
    set(BasicInformation.vendorID, VendorID(0xFFF1), 0)
    set(BasicInformation.productID, 0x8001, 0)
    set(BasicInformation.vendorName, "Maker", 0)
    set(BasicInformation.productName, "Lamp", 0)
    set(GeneralCommissioning.locationCapability, .indoor, 0)
    set(
      GeneralCommissioning.basicCommissioningInfo,
      .init(failSafeExpiryLengthSeconds: 60, maxCumulativeFailsafeSeconds: 900), 0)
    set(Descriptor.deviceTypeList, [.init(deviceType: 0x0016, revision: 1)], 0)
    set(Descriptor.deviceTypeList, [.init(deviceType: 0x0100, revision: 1)], 1)
    set(Descriptor.partsList, [1], 0)
    set(OperationalCredentials.currentFabricIndex, 1, 0)
    set(OnOff.onOff, false, 1)
  }

  mutating func set<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ value: Value, _ endpoint: EndpointID
  ) {
    attributes[attribute.path(on: endpoint)] = value.tlv
    versions[ClusterPath(endpoint, C.id), default: 10] += 1
  }

  // MARK: Messages

  mutating func receive(_ datagram: [UInt8], from address: SocketAddress, at now: Instant) {
    if isDead { return }
    if let reply = intercept(datagram) {
      replies.append((reply, address))
    } else {
      core.receive(datagram, from: address, at: now)
    }
  }

  /// Counts handshakes and sends the injected status reports.
  private mutating func intercept(_ datagram: [UInt8]) -> [UInt8]? {
    guard let (header, start) = try? MessageHeader.decode(datagram), header.isUnsecured, let source = header.source,
      let (payload, body) = try? PayloadHeader.decode(datagram, at: start), payload.protocolID == .secureChannel,
      payload.opcode == SecureChannelOpcode.sigma1 || payload.opcode == SecureChannelOpcode.pbkdfParamRequest
    else { return nil }
    var report: StatusReport?
    if payload.opcode == SecureChannelOpcode.sigma1 {
      let sigma1 = try? TLVElement(decoding: Array(datagram[body...]))
      let isResumption = sigma1?[6] != nil
      if isResumption { handshakes.resumed += 1 } else { handshakes.full += 1 }
      if isResumption { report = resumptionRefusal }
    }
    if report == nil, !handshakeReplies.isEmpty { report = handshakeReplies.removeFirst() }
    guard let report else { return nil }
    var bytes: [UInt8] = []
    MessageHeader(sessionID: 0, counter: header.counter &+ 77, destination: .node(source)).encode(to: &bytes)
    PayloadHeader(
      isFromInitiator: false, needsAck: false, opcode: SecureChannelOpcode.statusReport, exchange: payload.exchange,
      protocolID: .secureChannel, acknowledged: header.counter
    ).encode(to: &bytes)
    return bytes + report.encoded
  }

  /// Drops all sessions, and the fabric unless commissioning was completed.
  mutating func reboot() {
    let fabrics = isCommissioned ? core.fabrics : []
    core = NodeCore(random: random, fabrics: fabrics)
    _ = random.next()
    if !isCommissioned { core.openPASE(pase) }
    subscriptions = [:]
  }

  /// Handles all outputs of the core and returns the datagrams to send.
  mutating func drain(at now: Instant) -> [([UInt8], SocketAddress)] {
    var sent = replies
    replies = []
    while let output = core.nextOutput() {
      switch output {
      case .send(let bytes, let to): sent.append((bytes, to))
      case .message(let message): handle(message, at: now)
      default: break
      }
    }
    return isDead ? [] : sent
  }

  private mutating func send(
    _ message: some InteractionMessage, _ exchange: ExchangeID, _ then: AfterSending = .close, at now: Instant
  ) {
    core.send(type(of: message).opcode.rawValue, payload: message.encoded, on: exchange, then: then, at: now)
  }

  private mutating func handle(_ message: InboundMessage, at now: Instant) {
    let payload = message.bytes[message.payload]
    let exchange = message.exchange
    switch InteractionOpcode(message.opcode) {
    case .statusResponse:
      if let status = try? StatusResponse(decoding: payload) { statuses.append(status.status) }
      continueReport(exchange, at: now)
    case .timedRequest:
      log.append("Timed")
      send(StatusResponse(.success), exchange, .expectResponse(within: .seconds(10)), at: now)
    case .readRequest:
      log.append("Read")
      if refuseBusy(exchange, at: now) || silent.contains("Read") { return }
      guard let request = try? ReadRequest(decoding: payload) else { return }
      pending[exchange] = scriptedReports.isEmpty ? reports(request, subscription: nil) : scriptedReports
      sendNextReport(exchange, at: now)
    case .subscribeRequest:
      log.append("Subscribe")
      if refuseBusy(exchange, at: now) || silent.contains("Subscribe") { return }
      guard let request = try? SubscribeRequest(decoding: payload) else { return }
      lastSubscribe = request
      nextSubscription += 1
      primed[exchange] = nextSubscription
      pending[exchange] = reports(request.read, subscription: nextSubscription)
      sendNextReport(exchange, at: now)
    case .writeRequest:
      log.append("Write")
      guard let request = try? WriteRequest(decoding: payload) else { return }
      if writeStatus == .success { writes += request.writes }
      send(
        WriteResponse(request.writes.map { AttributeStatus($0.path, status: writeStatus) }), exchange,
        request.moreChunkedMessages ? .keepOpen : .close, at: now)
    case .invokeRequest:
      guard let request = try? InvokeRequest(decoding: payload) else { return }
      invoke(request, exchange, at: now)
    default: break
    }
  }

  private mutating func refuseBusy(_ exchange: ExchangeID, at now: Instant) -> Bool {
    guard busyCount > 0 else { return false }
    busyCount -= 1
    send(StatusResponse(busyStatus), exchange, at: now)
    return true
  }

  // MARK: Reports

  private func reports(_ request: ReadRequest, subscription: UInt32?) -> [ReportData] {
    var entries: [AttributeReport] = []
    for (path, value) in attributes.sorted(by: { $0.key < $1.key })
    where request.attributePaths.contains(where: { $0.matches(path) }) {
      let cluster = ClusterPath(path.endpoint, path.cluster)
      let version = versions[cluster] ?? 0
      if request.dataVersionFilters.contains(.init(cluster, dataVersion: version)) { continue }
      entries.append(.data(.init(path, dataVersion: version, value: value)))
    }
    for path in request.attributePaths where !path.isWildcard {
      if let concrete = path.concrete, attributes[concrete] == nil {
        entries.append(.status(.init(path, status: .init(.unsupportedAttribute))))
      }
    }
    var result: [ReportData] = []
    while result.isEmpty || !entries.isEmpty {
      let part = Array(entries.prefix(reportSize))
      entries.removeFirst(part.count)
      result.append(
        ReportData(
          subscriptionID: subscription, attributeReports: part, moreChunkedMessages: !entries.isEmpty,
          suppressResponse: subscription == nil && entries.isEmpty))
    }
    return result
  }

  private mutating func sendNextReport(_ exchange: ExchangeID, at now: Instant) {
    guard var rest = pending[exchange], !rest.isEmpty else { return }
    let report = rest.removeFirst()
    pending[exchange] = rest
    let isLast = report.suppressResponse
    send(report, exchange, isLast ? .close : .expectResponse(within: .seconds(10)), at: now)
  }

  private mutating func continueReport(_ exchange: ExchangeID, at now: Instant) {
    if let rest = pending[exchange], !rest.isEmpty { return sendNextReport(exchange, at: now) }
    pending[exchange] = nil
    if let id = primed.removeValue(forKey: exchange) {
      subscriptions[id] = exchange.session
      send(SubscribeResponse(subscriptionID: id, maxInterval: maxInterval), exchange, at: now)
    } else {
      core.close(exchange, at: now)
    }
  }

  /// Reports an attribute to a subscriber, or sends an empty report if `path` is nil.
  mutating func report(_ path: ConcreteAttributePath?, subscription id: UInt32, at now: Instant) {
    guard let session = subscriptions[id] ?? subscriptions.values.first,
      let exchange = core.openExchange(on: session, at: now)
    else { return }
    let entries: [AttributeReport] =
      path.map {
        [
          .data(
            .init(
              $0, dataVersion: versions[ClusterPath($0.endpoint, $0.cluster)] ?? 0, value: attributes[$0] ?? [0x14]))
        ]
      } ?? []
    send(
      ReportData(subscriptionID: id, attributeReports: entries), exchange, .expectResponse(within: .seconds(10)),
      at: now)
  }

  // MARK: Commands

  private func name(_ path: CommandPath) -> String {
    guard let cluster = ClusterCatalogue.cluster(path.cluster) else { return "?" }
    return cluster.command(path.command)?.name ?? "?"
  }

  private mutating func invoke(_ request: InvokeRequest, _ exchange: ExchangeID, at now: Instant) {
    var results: [CommandResult] = []
    var closes = false
    for command in request.commands {
      let name = name(command.path)
      log.append(name)
      if silent.contains(name) { return }
      if rebootsAt == name {
        rebootsAt = nil
        return reboot()
      }
      if let count = busyCommands[name], count > 0 {
        busyCommands[name] = count - 1
        results.append(.status(.init(command.path, status: Status(.busy), ref: command.ref)))
        continue
      }
      if let status = refusals[name] {
        results.append(.status(.init(command.path, status: status, ref: command.ref)))
        continue
      }
      if name == "RemoveFabric" { closes = true }
      results.append(answer(command, name, exchange.session))
      if rebootsAfter == name {
        rebootsAfter = nil
        return reboot()
      }
    }
    // Responses may be in any order.
    let response = InvokeResponse(results.reversed())
    if request.commands.contains(where: { holdBack.contains(name($0.path)) }) {
      held.append((exchange, response))
    } else {
      send(response, exchange, at: now)
    }
    if closes { core.removeFabric(1, at: now) }
  }

  /// Sends the delayed answers on the exchanges of their requests.
  /// - Returns: the number of exchanges that were still open.
  mutating func answerHeld(at now: Instant) -> Int {
    let answers = held
    held = []
    var count = 0
    for (exchange, response) in answers {
      let isSent = core.send(
        InteractionOpcode.invokeResponse.rawValue, payload: response.encoded, on: exchange, then: .close, at: now)
      if isSent { count += 1 }
    }
    return count
  }

  private mutating func answer(_ command: CommandData, _ name: String, _ session: SessionID) -> CommandResult {
    func respond(_ id: CommandID, _ fields: some ModelStruct) -> CommandResult {
      var path = command.path
      path.command = id
      return .command(.init(path, fields: fields.tlv, ref: command.ref))
    }
    func fields<Fields: ModelStruct>(_: Fields.Type) -> Fields? { try? Fields(tlv: command.fields ?? []) }
    let challenge = core.session(session)?.attestationChallenge ?? []
    func sign(_ bytes: [UInt8]) -> OctetString {
      var other: any RandomSource = SeededRandomSource(seed: 99)
      func key(_ random: inout some RandomSource) -> P256PrivateKey { P256PrivateKey(random: &random) }
      let signer = signsWithOtherKey ? key(&other) : attestation.dacKey
      return OctetString(
        (try? AttestationSignature.sign(elements: bytes, challenge: challenge, key: signer)) ?? [])
    }
    switch name {
    case "ArmFailSafe": return respond(0x01, GeneralCommissioning.ArmFailSafeResponse())
    case "SetRegulatoryConfig": return respond(0x03, GeneralCommissioning.SetRegulatoryConfigResponse())
    case "CommissioningComplete":
      var response = GeneralCommissioning.CommissioningCompleteResponse()
      if isCommissioned { response.errorCode = .noFailSafe }
      isCommissioned = true
      return respond(0x05, response)
    case "CertificateChainRequest":
      let request = fields(OperationalCredentials.CertificateChainRequest.self)
      let der = request?.certificateType == .paiCertificate ? attestation.pai.der : attestation.dac.der
      return respond(0x03, OperationalCredentials.CertificateChainResponse(certificate: OctetString(der)))
    case "AttestationRequest":
      let nonce = fields(OperationalCredentials.AttestationRequest.self)?.attestationNonce.bytes ?? []
      let elements = AttestationElements(
        certificationDeclaration: attestation.certificationDeclaration, nonce: nonce
      ).tlv
      return respond(
        0x01,
        OperationalCredentials.AttestationResponse(
          attestationElements: OctetString(elements), attestationSignature: sign(elements)))
    case "CSRRequest":
      let nonce = fields(OperationalCredentials.CSRRequest.self)?.csrNonce.bytes ?? []
      func make(_ random: inout some RandomSource) -> P256PrivateKey { P256PrivateKey(random: &random) }
      let key = make(&random)
      newKey = key
      let request = try? CertificateSigningRequest(key: key)
      let elements = NOCSRElements(certificateSigningRequest: request?.der ?? [], nonce: nonce).tlv
      return respond(
        0x05,
        OperationalCredentials.CSRResponse(
          nocsrElements: OctetString(elements), attestationSignature: sign(elements)))
    case "AddTrustedRootCertificate":
      rootCertificate =
        fields(OperationalCredentials.AddTrustedRootCertificateRequest.self)?.rootCACertificate.bytes ?? []
      return .status(.init(command.path, status: .success, ref: command.ref))
    case "AddNOC":
      guard let request = fields(OperationalCredentials.AddNOCRequest.self), let key = newKey,
        let fabric = try? Fabric(
          index: 1, rootCertificate: rootCertificate, intermediateCertificate: request.icacValue?.bytes,
          operationalCertificate: request.nocValue.bytes, operationalKey: key, epochKey: request.ipkValue.bytes,
          adminVendorID: request.adminVendorId)
      else { return respond(0x08, OperationalCredentials.NOCResponse(statusCode: .invalidNOC)) }
      core.install(fabric)
      return respond(0x08, OperationalCredentials.NOCResponse(statusCode: .ok, fabricIndex: 1))
    case "RemoveFabric":
      return respond(0x08, OperationalCredentials.NOCResponse(statusCode: .ok, fabricIndex: 1))
    case "Toggle":
      onOff.toggle()
      return .status(.init(command.path, status: .success, ref: command.ref))
    default:
      return .status(.init(command.path, status: .success, ref: command.ref))
    }
  }
}
