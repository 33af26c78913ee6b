internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

enum GeneralDiagnosticsHooks {
  /// Stores the operating time that has not been stored yet.
  static let recordOperatingTime = ServerHook<GeneralDiagnostics, NoFields>("recordOperatingTime")
}

extension RootNode {
  /// The time up to which the operating time is stored.
  private struct Recorded: Sendable {
    var until: Instant
  }

  /// A trigger without effect, from the range of a test vendor. It only shows that the enable key is correct.
  private static let harmlessTrigger: UInt64 = 0xFFFF_FFFF_FFF1_0000
  private static let longestPayload: UInt16 = 2048
  /// The interval between stores of the operating time, and the most that a loss of power can lose.
  private static let recordingInterval = Duration.seconds(600)

  /// Matter Core § 11.12.
  static func generalDiagnostics(_ configuration: DeviceConfiguration) -> ClusterServer {
    commonDiagnostics
      .initial(GeneralDiagnostics.networkInterfaces, configuration.networkInterfaces)
      .initial(GeneralDiagnostics.testEventTriggersEnabled, configuration.enableKey != nil)
  }

  private static let commonDiagnostics = ClusterServer(
    GeneralDiagnostics.self, features: [GeneralDiagnostics.dataModelTest]
  )
  .onRead(GeneralDiagnostics.bootReason) { $0.node.bootReason }
  .serving(GeneralDiagnostics.totalOperationalHours)
  .onRead(GeneralDiagnostics.upTime) { UInt64(clamping: ($0.now - $0.startedAt).components.seconds) }
  .onStart { context in
    context[GeneralDiagnostics.rebootCount] &+= 1
    context.emit(GeneralDiagnostics.bootReasonEvent, .init(bootReason: context.node.bootReason))
    context.schedule(.operationHours, at: context.now + recordingInterval)
  }
  .onTimer(.operationHours) { context in
    recordOperatingTime(&context)
    context.schedule(.operationHours, at: context.now + recordingInterval)
  }
  .hook(GeneralDiagnosticsHooks.recordOperatingTime) { context, _ in recordOperatingTime(&context) }
  .on(GeneralDiagnostics.testEventTrigger) { context, request throws(StatusError) in
    try check(request.enableKey.bytes, context.node.configuration.enableKey)
    if request.eventTrigger != harmlessTrigger { try context.cause(request.eventTrigger) }
  }
  .answer(GeneralDiagnostics.timeSnapshot) { context, _ in
    let milliseconds = UInt64(clamping: (context.now - context.startedAt).milliseconds)
    let posix = context.node.utc.map { $0.microseconds(at: context.now) / 1000 + UTCClock.matterEpoch * 1000 }
    return .init(systemTimeMs: milliseconds, posixTimeMs: Nullable(posix))
  }
  .answer(GeneralDiagnostics.payloadTestRequest) { context, request throws(StatusError) in
    try check(request.enableKey.bytes, context.node.configuration.enableKey)
    guard request.count <= longestPayload else { throw StatusError(.constraintError) }
    // A payload that does not fit into a message is refused when the response is encoded.
    return .init(payload: OctetString([UInt8](repeating: request.value, count: Int(request.count))))
  }

  private static func check(_ given: [UInt8], _ key: [UInt8]?) throws(StatusError) {
    // An all-zero key is never valid, even if it is configured.
    guard let key, given.count == 16, given == key, given.contains(where: { $0 != 0 }) else {
      throw StatusError(.constraintError)
    }
  }

  private static func recordOperatingTime(_ context: inout ServerContext) {
    let begin = context[scratch: Recorded.self]?.until ?? context.startedAt
    let new = (context.now - begin).components.seconds
    guard new > 0 else { return }
    context[scratch: Recorded.self] = Recorded(until: begin + .seconds(new))
    let seconds = storedSeconds(context) &+ UInt64(new)
    context[stored: "seconds"] = seconds.tlv
    context[GeneralDiagnostics.totalOperationalHours] = UInt32(clamping: seconds / 3600)
  }

  private static func storedSeconds(_ context: ServerContext) -> UInt64 {
    context[stored: "seconds"].flatMap { try? UInt64(tlv: $0) } ?? 0
  }
}
