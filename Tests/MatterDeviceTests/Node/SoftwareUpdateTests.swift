import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

private typealias Requestor = OtaSoftwareUpdateRequestor
private typealias Provider = OtaSoftwareUpdateProvider

/// The software update of a device whose provider is the administrator's node.
@Suite("Software update") struct SoftwareUpdateTests {
  private static let token = OctetString([UInt8](1...8))
  private static let payload = [UInt8](repeating: 7, count: 3000)

  private static func image(_ change: (inout SoftwareImageHeader) -> Void = { _ in }) -> SoftwareImage {
    var header = SoftwareImageHeader()
    (header.vendorID, header.productID, header.softwareVersion) = (0xFFF1, 0x8000, 2)
    header.softwareVersionString = "2.0"
    change(&header)
    return SoftwareImage(header, payload: payload)
  }

  private func commissioned() throws -> (Lab, SessionID) {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    return (lab, session)
  }

  private func announcement(
    _ reason: Requestor.AnnouncementReason = .urgentUpdateAvailable, _ node: NodeID = 0x1_0001
  ) -> Requestor.AnnounceOTAProviderRequest {
    .init(providerNodeID: node, vendorID: 0xFFF1, announcementReason: reason, endpoint: 1)
  }

  private static let offer = Provider.QueryImageResponse(
    status: .updateAvailable, imageURI: "bdx://0000000000010001/lamp.ota", softwareVersion: 2,
    softwareVersionString: "2.0", updateToken: token)

  private func state(_ lab: inout Lab) -> Requestor.UpdateState? { lab.device.value(Requestor.updateState, on: 0) }

  /// Returns a device whose query was answered.
  private func queried(_ response: Provider.QueryImageResponse) throws -> (Lab, SessionID) {
    var (lab, session) = try commissioned()
    #expect(try lab.status(Requestor.announceOTAProvider, announcement(), on: session) == .success)
    lab.advance(by: .milliseconds(1))
    #expect(state(&lab) == .querying)
    let request = try lab.takeCommand(Provider.queryImage)
    #expect(request.vendorID == 0xFFF1 && request.productID == 0x8000 && request.softwareVersion == 1)
    #expect(request.protocolsSupported == [.bdxSynchronous])
    try lab.answer(Provider.queryImage, response)
    return (lab, session)
  }

  // MARK: Announcements

  @Test func checksAnnouncement() throws {
    var (lab, session) = try commissioned()
    for wrong in [
      announcement(.init(rawValue: 3)), announcement(.urgentUpdateAvailable, 0),
      announcement(.updateAvailable, 0xFFFF_FFFF_FFFF_0001),
    ] {
      #expect(try lab.status(Requestor.announceOTAProvider, wrong, on: session) == Status(.constraintError))
    }
    lab.advance(by: .seconds(700))
    #expect(state(&lab) == .idle)
  }

  @Test func delaysQuery() throws {
    var (lab, session) = try commissioned()
    #expect(try lab.status(Requestor.announceOTAProvider, announcement(.updateAvailable), on: session) == .success)
    lab.advance(by: .milliseconds(900))
    #expect(state(&lab) == .idle)
    lab.advance(by: .seconds(5))
    #expect(state(&lab) == .querying)
  }

  @Test func acceptsOneDefaultProviderPerFabric() throws {
    var (lab, session) = try commissioned()
    let path = Requestor.defaultOTAProviders.path(on: 0)
    func write(_ nodes: NodeID...) throws -> [Status] {
      let list = nodes.map { Requestor.ProviderLocation(providerNodeID: $0, endpoint: 1) }
      return try lab.write([AttributeWrite(path, value: list.tlv)], on: session)
    }
    #expect(try write(0x1_0001, 0x1_0002) == [Status(.constraintError)])
    #expect(try write(0) == [Status(.constraintError)])
    #expect(try write(0x1_0001) == [.success])
    // Queried every day, and soon after a restart.
    lab.advance(by: .seconds(86_000))
    #expect(state(&lab) == .idle)
    lab.advance(by: .seconds(401))
    #expect(state(&lab) == .querying)
    lab.crash()
    lab.advance(by: .seconds(31))
    #expect(state(&lab) == .querying)
    #expect(lab.device.value(Requestor.defaultOTAProviders, on: 0)?.count == 1)
  }

  // MARK: Query

  @Test func endsWithoutImage() throws {
    var (lab, session) = try queried(.init(status: .notAvailable))
    #expect(state(&lab) == .idle)
    #expect(
      try lab.transitions(on: session) == [
        .init(previousState: .idle, newState: .querying, reason: .success, targetSoftwareVersion: .null),
        .init(previousState: .querying, newState: .idle, reason: .success, targetSoftwareVersion: .null),
      ])
  }

  @Test func waitsForBusyProvider() throws {
    var (lab, _) = try queried(.init(status: .busy, delayedActionTime: 180))
    #expect(state(&lab) == .delayedOnQuery)
    lab.advance(by: .seconds(179))
    #expect(state(&lab) == .delayedOnQuery)
    lab.advance(by: .seconds(2))
    #expect(state(&lab) == .querying)
    _ = try lab.takeCommand(Provider.queryImage)
    // A shorter delay is extended to two minutes.
    try lab.answer(Provider.queryImage, .init(status: .busy, delayedActionTime: 1))
    lab.advance(by: .seconds(119))
    #expect(state(&lab) == .delayedOnQuery)
    lab.advance(by: .seconds(2))
    #expect(state(&lab) == .querying)
  }

  @Test(arguments: 0..<5) func ignoresUnusableOffer(_ number: Int) throws {
    var offer = Self.offer
    switch number {
    case 0: offer.softwareVersion = 1
    case 1: offer.softwareVersion = nil
    case 2: offer.imageURI = "bdx://0000000000010001/"
    case 3: offer.imageURI = nil
    default: offer.updateToken = [1]
    }
    var (lab, _) = try queried(offer)
    #expect(state(&lab) == .idle)
    #expect(lab.administrators[0].requests.isEmpty)
  }

  @Test func reportsMissingResponse() throws {
    var (lab, session) = try commissioned()
    #expect(try lab.status(Requestor.announceOTAProvider, announcement(), on: session) == .success)
    lab.advance(by: .seconds(400))
    #expect(state(&lab) == .idle)
    #expect(try lab.transitions(on: session).last?.reason == .timeOut)
  }

  // MARK: Download

  /// Sends an image to the device.
  private func send(_ image: SoftwareImage, to lab: inout Lab) throws {
    guard case .receiveInit(let proposal) = try lab.takeBulkData() else { throw BulkDataStatus.unexpectedMessage }
    #expect(proposal.file == Array("lamp.ota".utf8) && proposal.modes == .receiverDrive)
    var (sender, replies) = try BulkSender.accept(proposal, image.encoded)
    while !sender.isComplete {
      try lab.answer(replies)
      replies = try sender.receive(try lab.takeBulkData())
    }
    #expect(replies.isEmpty)
  }

  @Test func installsImage() throws {
    var (lab, _) = try queried(Self.offer)
    #expect(state(&lab) == .downloading)
    try send(Self.image(), to: &lab)
    #expect(state(&lab) == .applying)
    #expect(try lab.takeCommand(Provider.applyUpdateRequest) == .init(updateToken: Self.token, newVersion: 2))
    try lab.answer(Provider.applyUpdateRequest, .init(action: .awaitNextAction, delayedActionTime: 0))
    #expect(state(&lab) == .delayedOnApply)
    lab.advance(by: .seconds(121))
    #expect(try lab.takeCommand(Provider.applyUpdateRequest).newVersion == 2)
    try lab.answer(Provider.applyUpdateRequest, .init(action: .proceed, delayedActionTime: 10))
    #expect(state(&lab) == .applying)
    lab.advance(by: .seconds(9))
    #expect(!lab.events.contains(.restart))
    lab.advance(by: .seconds(2))
    #expect(lab.events.contains(.restart))
    #expect(lab.durable.contains(StoreKey.software))
    #expect(lab.device.value(BasicInformation.softwareVersion, on: 0) == 1)

    lab.crash()
    #expect(lab.device.value(BasicInformation.softwareVersion, on: 0) == 2)
    #expect(lab.device.value(BasicInformation.softwareVersionString, on: 0) == "2.0")
    #expect(lab.device.value(GeneralDiagnostics.bootReason, on: 0) == .softwareUpdateCompleted)
    #expect(state(&lab) == .idle)
    let opened = lab.openCASE()
    let renewed = try #require(opened)
    #expect(try lab.versionsApplied(on: renewed) == [2])
    let states = try lab.transitions(on: renewed).map(\.newState)
    #expect(states == [.querying, .downloading, .applying, .delayedOnApply, .applying, .idle])

    // The next restart changes nothing; a factory reset keeps the version.
    lab.crash()
    #expect(lab.device.value(GeneralDiagnostics.bootReason, on: 0) != .softwareUpdateCompleted)
    lab.device.factoryReset(at: lab.now)
    lab.settle()
    lab.crash()
    #expect(lab.device.value(BasicInformation.softwareVersion, on: 0) == 2)
  }

  @Test func notifiesProvider() throws {
    var (lab, _) = try queried(Self.offer)
    try send(Self.image(), to: &lab)
    _ = try lab.takeCommand(Provider.applyUpdateRequest)
    try lab.answer(Provider.applyUpdateRequest, .init(action: .proceed, delayedActionTime: 0))
    lab.advance(by: .milliseconds(1))
    lab.crash()
    let service = try lab.administratorService()
    lab.device.handle(.serviceFound(service), at: lab.now)
    lab.settle()
    #expect(try lab.takeCommand(Provider.notifyUpdateApplied) == .init(updateToken: Self.token, softwareVersion: 2))
  }

  @Test(arguments: [
    image { $0.vendorID = 0xFFF2 }, image { $0.productID = 1 }, image { $0.softwareVersion = 3 },
    image { $0.minimumApplicableVersion = 2 },
  ]) func refusesImage(_ image: SoftwareImage) throws {
    var (lab, session) = try queried(Self.offer)
    try send(image, to: &lab)
    #expect(state(&lab) == .idle)
    #expect(try lab.downloadErrors(on: session).map(\.progressPercent) == [.value(100)])
    #expect(lab.administrators[0].requests.isEmpty)
  }

  @Test func refusesWrongDigest() throws {
    var image = Self.image()
    image.payload[0] ^= 1
    var (lab, session) = try queried(Self.offer)
    try send(image, to: &lab)
    #expect(state(&lab) == .idle)
    #expect(
      try lab.downloadErrors(on: session) == [
        .init(
          softwareVersion: 2, bytesDownloaded: UInt64(image.encoded.count), progressPercent: .value(100),
          platformCode: .null)
      ])
  }

  @Test func reportsRefusedTransfer() throws {
    var (lab, session) = try queried(Self.offer)
    _ = try lab.takeBulkData()
    lab.refuse(.fileUnknown)
    #expect(state(&lab) == .idle)
    #expect(try lab.downloadErrors(on: session).map(\.bytesDownloaded) == [0])
    #expect(try lab.transitions(on: session).last?.reason == .failure)
  }

  @Test func interruptsDownloadByFault() throws {
    var (lab, session) = try queried(Self.offer)
    var hooks = DeviceHooks()
    hooks.update = .interrupted
    lab.device.install(hooks, NodeHooks(), at: lab.now)
    guard case .receiveInit(let proposal) = try lab.takeBulkData() else { throw BulkDataStatus.unexpectedMessage }
    var (sender, replies) = try BulkSender.accept(proposal, Self.image().encoded)
    while !replies.isEmpty {
      try lab.answer(replies)
      guard let message = try? lab.takeBulkData() else { break }
      replies = try sender.receive(message)
    }
    #expect(state(&lab) == .idle)
    let errors = try lab.downloadErrors(on: session)
    let error = try #require(errors.first)
    #expect((1000...2100).contains(error.bytesDownloaded))
  }

  @Test func discontinuesUpdate() throws {
    var (lab, _) = try queried(Self.offer)
    try send(Self.image(), to: &lab)
    _ = try lab.takeCommand(Provider.applyUpdateRequest)
    try lab.answer(Provider.applyUpdateRequest, .init(action: .discontinue, delayedActionTime: 0))
    #expect(state(&lab) == .idle)
    lab.advance(by: .seconds(600))
    #expect(!lab.events.contains(.restart))
  }

  @Test func rollsBackByFault() throws {
    var (lab, _) = try queried(Self.offer)
    var hooks = DeviceHooks()
    hooks.update = .rollback
    lab.device.install(hooks, NodeHooks(), at: lab.now)
    try send(Self.image(), to: &lab)
    _ = try lab.takeCommand(Provider.applyUpdateRequest)
    try lab.answer(Provider.applyUpdateRequest, .init(action: .proceed, delayedActionTime: 0))
    lab.advance(by: .milliseconds(1))
    #expect(lab.events.contains(.restart))
    lab.crash()
    #expect(lab.device.value(BasicInformation.softwareVersion, on: 0) == 1)
    let opened = lab.openCASE()
    let session = try #require(opened)
    #expect(try lab.versionsApplied(on: session) == [])
    #expect(try lab.transitions(on: session).suffix(2).map(\.newState) == [.rollingBack, .idle])
  }

  // MARK: Provider

  private static func provider() -> EndpointDefinition {
    EndpointDefinition(
      1, deviceTypes: [DeviceTypes.otaProvider],
      servers: [SoftwareProviderServer.make([ProvidedImage(image()), ProvidedImage(image { $0.softwareVersion = 3 })])])
  }

  private func query(_ version: UInt32, product: UInt16 = 0x8000) -> Provider.QueryImageRequest {
    .init(vendorID: 0xFFF1, productID: product, softwareVersion: version, protocolsSupported: [.bdxSynchronous])
  }

  @Test func providesImage() throws {
    var lab = try Lab(endpoints: [Self.provider()])
    try lab.addAdministrator()
    let session = try lab.commission()
    let offer = try lab.call(Provider.queryImage, query(1), endpoint: 1, on: session)
    #expect(offer.status == .updateAvailable && offer.softwareVersion == 3 && offer.updateToken?.bytes.count == 16)
    let uri = try #require(offer.imageURI.flatMap { BulkDataURI($0) })
    #expect(uri.node == lab.administrators[0].deviceNode)
    for request in [query(3), query(1, product: 1)] {
      #expect(try lab.call(Provider.queryImage, request, endpoint: 1, on: session).status == .notAvailable)
    }
    var other = query(1)
    other.protocolsSupported = [.https]
    #expect(
      try lab.call(Provider.queryImage, other, endpoint: 1, on: session).status == .downloadProtocolNotSupported)

    let (file, errors) = try lab.download(Array(uri.file.utf8), on: session)
    #expect(file == Self.image { $0.softwareVersion = 3 }.encoded && errors == nil)
    #expect(try lab.download(Array("other".utf8), on: session).status == .fileUnknown)
    let apply = Provider.ApplyUpdateRequest(updateToken: Self.token, newVersion: 3)
    #expect(try lab.call(Provider.applyUpdateRequest, apply, endpoint: 1, on: session).action == .proceed)
    let unknown = Provider.ApplyUpdateRequest(updateToken: Self.token, newVersion: 4)
    #expect(try lab.call(Provider.applyUpdateRequest, unknown, endpoint: 1, on: session).action == .discontinue)
  }

  @Test func failsByFault() throws {
    var lab = try Lab(endpoints: [Self.provider()])
    try lab.addAdministrator()
    let session = try lab.commission()
    func install(_ fault: UpdateFault) {
      var hooks = DeviceHooks()
      hooks.update = fault
      lab.device.install(hooks, NodeHooks(), at: lab.now)
    }
    let name = Array(ProvidedImage(Self.image()).name.utf8)
    let apply = Provider.ApplyUpdateRequest(updateToken: Self.token, newVersion: 3)
    install(.busy)
    #expect(try lab.call(Provider.queryImage, query(1), endpoint: 1, on: session).status == .busy)
    install(.unavailable)
    #expect(try lab.call(Provider.queryImage, query(1), endpoint: 1, on: session).status == .notAvailable)
    install(.refused)
    #expect(try lab.call(Provider.applyUpdateRequest, apply, endpoint: 1, on: session).action == .discontinue)
    install(.delayed)
    #expect(try lab.call(Provider.applyUpdateRequest, apply, endpoint: 1, on: session).action == .awaitNextAction)
    install(.interrupted)
    #expect(try lab.download(name, on: session).status == .transferFailed)
    install(.digest)
    let file = try lab.download(name, on: session).file
    #expect(file.count == Self.image().encoded.count && file != Self.image().encoded)
    #expect(throws: SoftwareImageError.digestMismatch) { try SoftwareImage(decoding: file).verify() }
  }
}

extension Lab {
  // MARK: The administrator as the provider

  /// Returns the oldest request of the device, which is on the exchange of the answers that follow.
  fileprivate mutating func takeRequest() throws -> Administrator.Answer {
    try #require(!administrators[0].requests.isEmpty, "the device sent nothing")
    return administrators[0].requests.removeFirst()
  }

  fileprivate mutating func takeCommand<C, Request, Response>(
    _ command: Command<C, Request, Response>
  ) throws -> Request {
    let request = try takeRequest()
    administrators[0].answered = request.exchange
    let invoke = try InvokeRequest(decoding: request.bytes)
    let data = try #require(invoke.commands.first)
    #expect(data.path == command.path(on: data.path.endpoint ?? 0))
    return try Request(tlv: try #require(data.fields))
  }

  fileprivate mutating func answer<C, Request, Response>(
    _ command: Command<C, Request, Response>, _ response: Response
  ) throws {
    let exchange = try #require(administrators[0].answered)
    let path = CommandPath(endpoint: 1, cluster: C.id, command: try #require(command.details.response?.id))
    let message = InvokeResponse([.command(CommandData(path, fields: response.tlv))])
    administrators[0].core.send(
      InvokeResponse.opcode.rawValue, payload: message.encoded, on: exchange, then: .close, at: now)
    settle()
  }

  fileprivate mutating func takeBulkData() throws -> BulkDataMessage {
    let request = try takeRequest()
    administrators[0].answered = request.exchange
    return try BulkDataMessage(request.opcode.rawValue, decoding: request.bytes)
  }

  fileprivate mutating func answer(_ messages: [BulkDataMessage]) throws {
    let exchange = try #require(administrators[0].answered)
    for message in messages {
      administrators[0].core.send(
        message.opcode, protocolID: .bulkData, payload: message.encoded, on: exchange, then: .keepOpen, at: now)
    }
    settle()
  }

  fileprivate mutating func refuse(_ status: BulkDataStatus) {
    guard let exchange = administrators[0].answered else { return }
    administrators[0].core.send(
      SecureChannelOpcode.statusReport, protocolID: .secureChannel, payload: StatusReport(status).encoded,
      on: exchange, then: .close, at: now)
    settle()
  }

  /// Downloads a file from the device, or returns the status that ended the transfer.
  fileprivate mutating func download(
    _ file: [UInt8], on session: SessionID
  ) throws -> (file: [UInt8], status: BulkDataStatus?) {
    let opened = administrators[0].core.openExchange(on: session, at: now)
    let exchange = try #require(opened)
    var (receiver, first) = BulkReceiver.request(file: file, maximumLength: 100_000)
    var messages = [first]
    while !messages.isEmpty {
      administrators[0].answers = []
      for message in messages {
        administrators[0].core.send(
          message.opcode, protocolID: .bulkData, payload: message.encoded, on: exchange, then: .keepOpen, at: now)
      }
      settle()
      guard !receiver.isComplete else { break }
      let answer = try #require(administrators[0].answers.first)
      if answer.opcode.rawValue == SecureChannelOpcode.statusReport {
        return (receiver.data, StatusReport(decoding: answer.bytes)?.bulkDataStatus)
      }
      messages = try receiver.receive(try BulkDataMessage(answer.opcode.rawValue, decoding: answer.bytes))
    }
    administrators[0].core.close(exchange, at: now)
    return (receiver.data, nil)
  }

  /// The operational service of the administrator's node.
  fileprivate func administratorService() throws -> MatterService {
    let fabric = try #require(device.fabrics.first)
    var service = MatterService(
      kind: .operational(
        compressedFabricID: fabric.compressedFabricID, nodeID: administrators[0].node.rawValue),
      hostName: "A", port: administrators[0].address.port)
    service.addresses = [.loopback6]
    return service
  }

  // MARK: Events

  private mutating func events<C: Cluster, Payload: ModelStruct>(
    _ event: Event<C, Payload>, on session: SessionID
  ) throws -> [Payload] {
    let path = EventPath(endpoint: 0, cluster: C.id, event: event.id)
    return try read(ReadRequest(eventPaths: [path]), on: session).flatMap(\.eventReports).compactMap {
      guard case .data(let data) = $0, let payload = data.payload else { return nil }
      return try Payload(tlv: payload)
    }
  }

  fileprivate mutating func transitions(on session: SessionID) throws -> [Requestor.StateTransitionEvent] {
    try events(Requestor.stateTransition, on: session)
  }

  fileprivate mutating func downloadErrors(on session: SessionID) throws -> [Requestor.DownloadErrorEvent] {
    try events(Requestor.downloadError, on: session)
  }

  fileprivate mutating func versionsApplied(on session: SessionID) throws -> [UInt32] {
    try events(Requestor.versionApplied, on: session).map(\.softwareVersion)
  }
}
