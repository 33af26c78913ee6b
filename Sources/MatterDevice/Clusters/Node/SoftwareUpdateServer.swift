internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The software update that a restart is to complete.
private struct PendingUpdate: ModelStruct {
  var node = NodeID.unspecified
  var endpoint: EndpointID = 0
  var fabric = FabricIndex.none
  var version: UInt32 = 0
  var token: OctetString = []
  /// Whether a fault lets the new software fail to start.
  var isRolledBack = false

  static let fields: [Field<Self>] = [
    .init(0, "Node", \.node), .init(1, "Endpoint", \.endpoint), .init(2, "Fabric", \.fabric),
    .init(3, "Version", \.version), .init(4, "Token", \.token), .init(5, "IsRolledBack", \.isRolledBack),
  ]
}

/// The OTA Software Update Requestor of the root node: asks a provider for new software, downloads it and starts it.
/// Matter Core § 11.20.7.
///
/// The payload of an image is not used: after the restart the device reports the version of the image, and behaves as
/// before.
enum SoftwareUpdateServer {
  private typealias Requestor = OtaSoftwareUpdateRequestor
  private typealias Provider = OtaSoftwareUpdateProvider

  /// The least time between two queries or two requests to apply, unless a provider is announced. § 11.20.3.4.
  private static let shortestDelay = Duration.seconds(120)
  /// The longest delay that a provider may request.
  private static let longestDelay = Duration.seconds(86_400)
  /// The time after which a step without a result fails.
  private static let stepTimeout = Duration.seconds(300)
  /// The interval between the queries of a default provider, and the time of the first one after the start.
  private static let queryInterval = Duration.seconds(86_400), firstQuery = Duration.seconds(30)
  private static let maximumApplyAttempts = 3
  private static let pendingKey = "pending"

  /// The update in progress.
  private struct Update: Sendable {
    var provider: Requestor.ProviderLocation
    var version: UInt32 = 0
    var versionString = ""
    var token: [UInt8] = []
    var received = (bytes: 0, percent: UInt8?.none)
    var applyAttempts = 0
  }

  static let server = ClusterServer(Requestor.self)
    .initial(Requestor.updateState, .idle)
    .reportingQuietly()
    .onWrite(Requestor.defaultOTAProviders) { context, list throws(StatusError) in
      let own = list.filter { $0.fabricIndex == context.subject.fabric }
      guard own.count <= 1, own.allSatisfy({ isValid($0.providerNodeID, $0.endpoint) }) else {
        throw StatusError(.constraintError)
      }
    }
    .onChange(Requestor.defaultOTAProviders) { scheduleDefaultQuery(&$0, after: queryInterval) }
    .on(Requestor.announceOTAProvider) { context, request throws(StatusError) in try announce(&context, request) }
    .onStart { context in
      completePending(&context)
      scheduleDefaultQuery(&context, after: firstQuery)
    }
    .onTimer(.defaultQuery) { context in
      scheduleDefaultQuery(&context, after: queryInterval)
      guard context[Requestor.updateState] == .idle, let provider = context[Requestor.defaultOTAProviders].first else {
        return
      }
      context[scratch: Update.self] = Update(provider: provider)
      query(&context)
    }
    .onTimer(.updateStep) { context in
      switch context[Requestor.updateState] {
      case .idle, .delayedOnQuery: query(&context)
      case .delayedOnApply: apply(&context)
      case .applying: restart(&context)
      default: move(&context, to: .idle, .timeOut)
      }
    }
    .onTimer(.updateTimeout) { context in
      reportDownloadError(&context)
      move(&context, to: .idle, .timeOut)
    }
    .onFabricRemoved { context, fabric in
      if context[scratch: Update.self]?.provider.fabricIndex == fabric { move(&context, to: .idle, .failure) }
    }

  private static func isValid(_ node: NodeID, _ endpoint: EndpointID) -> Bool {
    node.isOperational && endpoint.rawValue != 0xFFFF
  }

  // MARK: Providers

  private static func scheduleDefaultQuery(_ context: inout ServerContext, after time: Duration) {
    context.cancel(.defaultQuery)
    if !context[Requestor.defaultOTAProviders].isEmpty { context.schedule(.defaultQuery, at: context.now + time) }
  }

  private static func announce(
    _ context: inout ServerContext, _ request: Requestor.AnnounceOTAProviderRequest
  ) throws(StatusError) {
    guard context.subject.fabric != .none else { throw StatusError(.unsupportedAccess) }
    guard isValid(request.providerNodeID, request.endpoint), request.metadataForNode?.bytes.count ?? 0 <= 512 else {
      throw StatusError(.constraintError)
    }
    let delay: Duration
    switch request.announcementReason {
    case .simpleAnnouncement: delay = .seconds(context.random(in: Int64(60)...600))
    case .updateAvailable: delay = .seconds(context.random(in: Int64(1)...5))
    case .urgentUpdateAvailable: delay = .zero
    default: throw StatusError(.constraintError)
    }
    // An update in progress continues.
    guard [.idle, .delayedOnQuery].contains(context[Requestor.updateState]) else { return }
    context[scratch: Update.self] = Update(
      provider: .init(
        providerNodeID: request.providerNodeID, endpoint: request.endpoint, fabricIndex: context.subject.fabric))
    context.schedule(.updateStep, at: context.now + delay)
  }

  // MARK: Query

  private static func query(_ context: inout ServerContext) {
    guard let provider = context[scratch: Update.self]?.provider else { return }
    move(&context, to: .querying, .success)
    context.schedule(.updateTimeout, at: context.now + stepTimeout)
    context.send(
      Provider.queryImage,
      .init(
        vendorID: context[BasicInformation.vendorID], productID: context[BasicInformation.productID],
        softwareVersion: context[BasicInformation.softwareVersion], protocolsSupported: [.bdxSynchronous],
        hardwareVersion: context[BasicInformation.hardwareVersion], location: context[BasicInformation.location],
        requestorCanConsent: false),
      to: provider.providerNodeID, provider.endpoint, fabric: provider.fabricIndex
    ) { queried(&$0, $1) }
  }

  private static func queried(
    _ context: inout ServerContext, _ result: Result<Provider.QueryImageResponse, ClientError>
  ) {
    guard context[Requestor.updateState] == .querying else { return }
    guard case .success(let response) = result else {
      return move(&context, to: .idle, result == .failure(.unreachable) ? .timeOut : .failure)
    }
    switch response.status {
    case .updateAvailable: download(&context, response)
    case .busy:
      move(&context, to: .delayedOnQuery, .delayByProvider)
      context.schedule(.updateStep, at: context.now + delay(response.delayedActionTime ?? 0))
    case .notAvailable: move(&context, to: .idle, .success)
    default: move(&context, to: .idle, .failure)
    }
  }

  /// Returns the delay that a provider requests, within the limits of this device.
  private static func delay(_ seconds: UInt32) -> Duration {
    min(max(.seconds(Int64(seconds)), shortestDelay), longestDelay)
  }

  // MARK: Download

  private static func download(_ context: inout ServerContext, _ response: Provider.QueryImageResponse) {
    guard var update = context[scratch: Update.self] else { return }
    guard let version = response.softwareVersion, version > context[BasicInformation.softwareVersion] else {
      return move(&context, to: .idle, .success)
    }
    guard let text = response.imageURI, let uri = BulkDataURI(text), let token = response.updateToken?.bytes,
      8...32 ~= token.count
    else { return move(&context, to: .idle, .failure) }
    (update.version, update.token) = (version, token)
    update.versionString = response.softwareVersionString ?? "\(version)"
    context[scratch: Update.self] = update
    move(&context, to: .downloading, .success)
    context.download(Array(uri.file.utf8), from: uri.node, fabric: update.provider.fabricIndex) { proceed(&$0, $1) }
  }

  private static func proceed(_ context: inout ServerContext, _ step: DownloadStep) {
    guard context[Requestor.updateState] == .downloading, var update = context[scratch: Update.self] else { return }
    switch step {
    case .progress(let count, let length):
      update.received.bytes = count
      if let length, length > 0 { update.received.percent = UInt8(clamping: min(count, length) * 100 / length) }
      context[scratch: Update.self] = update
      context.set(Requestor.updateStateProgress, Nullable(update.received.percent), reportedEvery: .seconds(5))
      context.schedule(.updateTimeout, at: context.now + stepTimeout)
    case .failed(let count):
      update.received.bytes = count
      context[scratch: Update.self] = update
      reportDownloadError(&context)
      move(&context, to: .idle, .failure)
    case .finished(let bytes):
      update.received = (bytes.count, 100)
      context[scratch: Update.self] = update
      do throws(SoftwareImageError) {
        try check(bytes, of: update, &context)
      } catch {
        context.report(.note("software update: version \(update.version) refused: \(error)"))
        reportDownloadError(&context)
        return move(&context, to: .idle, .failure)
      }
      move(&context, to: .applying, .success)
      apply(&context)
    }
  }

  /// Checks that an image is complete, and the one for this device that the provider announced.
  private static func check(
    _ bytes: [UInt8], of update: Update, _ context: inout ServerContext
  ) throws(SoftwareImageError) {
    var image = try SoftwareImage(decoding: bytes)
    if context.node.hooks.update == .digest { image.payload.append(0) }
    try image.verify()
    let header = image.header
    guard header.vendorID == context[BasicInformation.vendorID].rawValue else { throw .invalidField("VendorID") }
    guard header.productID == context[BasicInformation.productID] else { throw .invalidField("ProductID") }
    guard header.softwareVersion == update.version,
      header.isApplicable(to: context[BasicInformation.softwareVersion])
    else { throw .invalidField("SoftwareVersion") }
  }

  private static func reportDownloadError(_ context: inout ServerContext) {
    guard context[Requestor.updateState] == .downloading, let update = context[scratch: Update.self] else { return }
    context.emit(
      Requestor.downloadError,
      .init(
        softwareVersion: update.version, bytesDownloaded: UInt64(update.received.bytes),
        progressPercent: Nullable(update.received.percent), platformCode: .null))
  }

  // MARK: Apply

  private static func apply(_ context: inout ServerContext) {
    guard var update = context[scratch: Update.self] else { return }
    update.applyAttempts += 1
    context[scratch: Update.self] = update
    context.schedule(.updateTimeout, at: context.now + stepTimeout)
    let provider = update.provider
    context.send(
      Provider.applyUpdateRequest, .init(updateToken: OctetString(update.token), newVersion: update.version),
      to: provider.providerNodeID, provider.endpoint, fabric: provider.fabricIndex
    ) { answered(&$0, $1) }
  }

  private static func answered(
    _ context: inout ServerContext, _ result: Result<Provider.ApplyUpdateResponse, ClientError>
  ) {
    guard [.applying, .delayedOnApply].contains(context[Requestor.updateState]),
      let update = context[scratch: Update.self]
    else { return }
    guard case .success(let response) = result else {
      guard update.applyAttempts < maximumApplyAttempts else {
        return move(&context, to: .idle, result == .failure(.unreachable) ? .timeOut : .failure)
      }
      move(&context, to: .delayedOnApply, .timeOut)
      return context.schedule(.updateStep, at: context.now + shortestDelay)
    }
    switch response.action {
    case .proceed:
      move(&context, to: .applying, .success)
      context.cancel(.updateTimeout)
      let delay = min(Duration.seconds(Int64(response.delayedActionTime)), longestDelay)
      context.schedule(.updateStep, at: context.now + delay)
    case .awaitNextAction:
      move(&context, to: .delayedOnApply, .delayByProvider)
      context.schedule(.updateStep, at: context.now + delay(response.delayedActionTime))
    default: move(&context, to: .idle, .failure)
    }
  }

  /// Stores the new version, which the device has after the restart.
  private static func restart(_ context: inout ServerContext) {
    guard let update = context[scratch: Update.self] else { return }
    let isRolledBack = context.node.hooks.update == .rollback
    context[stored: pendingKey] =
      PendingUpdate(
        node: update.provider.providerNodeID, endpoint: update.provider.endpoint, fabric: update.provider.fabricIndex,
        version: update.version, token: OctetString(update.token), isRolledBack: isRolledBack
      ).tlv
    if !isRolledBack {
      let software = InstalledSoftware(version: update.version, text: update.versionString)
      context.node.changes.append(StoreChange(StoreKey.software, software.tlv, isDurable: true))
    }
    context.report(.restart)
  }

  /// Completes the update that was applied before the start.
  private static func completePending(_ context: inout ServerContext) {
    guard let pending = context[stored: pendingKey].flatMap({ try? PendingUpdate(tlv: $0) }) else { return }
    context[stored: pendingKey] = nil
    func report(_ previous: Requestor.UpdateState, _ next: Requestor.UpdateState, _ reason: Requestor.ChangeReason) {
      let version = next == .rollingBack ? pending.version : nil
      context.emit(
        Requestor.stateTransition,
        .init(previousState: previous, newState: next, reason: reason, targetSoftwareVersion: Nullable(version)))
    }
    guard !pending.isRolledBack else {
      report(.applying, .rollingBack, .failure)
      return report(.rollingBack, .idle, .success)
    }
    context.node.bootReason = .softwareUpdateCompleted
    context.emit(
      Requestor.versionApplied,
      .init(softwareVersion: pending.version, productID: context[BasicInformation.productID]))
    report(.applying, .idle, .success)
    context.send(
      Provider.notifyUpdateApplied, .init(updateToken: pending.token, softwareVersion: pending.version),
      to: pending.node, pending.endpoint, fabric: pending.fabric
    ) { _, _ in }
  }

  // MARK: State

  /// Changes the state, and reports it.
  private static func move(
    _ context: inout ServerContext, to state: Requestor.UpdateState, _ reason: Requestor.ChangeReason
  ) {
    let previous = context[Requestor.updateState]
    let version = context[scratch: Update.self]?.version
    if state == .idle {
      context[scratch: Update.self] = nil
      context.cancel(.updateStep)
    }
    context.cancel(.updateTimeout)
    if state == .downloading { context.schedule(.updateTimeout, at: context.now + stepTimeout) }
    guard previous != state else { return }
    context[Requestor.updateState] = state
    context.set(
      Requestor.updateStateProgress, state == .downloading ? .value(0) : .null, reportedEvery: .zero, isUrgent: true)
    let hasVersion = [.downloading, .applying].contains(state)
    context.emit(
      Requestor.stateTransition,
      .init(
        previousState: previous, newState: state, reason: reason,
        targetSoftwareVersion: Nullable(hasVersion ? version : nil)))
    context.report(.note("software update: \(state)"))
  }
}

/// The software that an update installed. It survives a factory reset.
struct InstalledSoftware: ModelStruct {
  var version: UInt32 = 0
  /// The version as text, at most 64 bytes.
  var text = ""

  static let fields: [Field<Self>] = [.init(0, "Version", \.version), .init(1, "Text", \.text)]
}
