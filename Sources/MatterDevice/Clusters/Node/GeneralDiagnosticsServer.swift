internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  /// A trigger that does nothing but show that the key was the right one, of the makers of test devices.
  private static let harmlessTrigger: UInt64 = 0xFFFF_FFFF_FFF1_0000
  private static let longestPayload: UInt16 = 2048
  /// How often the hours of operation are written down.
  private static let bookkeeping = Duration.seconds(600)

  /// Matter Core § 11.12.
  static func generalDiagnostics(_ configuration: DeviceConfiguration) -> ClusterServer {
    let bootReason = configuration.bootReason
    let enableKey = configuration.enableKey
    return ClusterServer(GeneralDiagnostics.self, features: [GeneralDiagnostics.dataModelTest])
      .initial(GeneralDiagnostics.networkInterfaces, configuration.networkInterfaces)
      .initial(GeneralDiagnostics.bootReason, bootReason)
      .initial(GeneralDiagnostics.testEventTriggersEnabled, enableKey != nil)
      .serving(GeneralDiagnostics.totalOperationalHours)
      .onRead(GeneralDiagnostics.upTime) { UInt64(clamping: ($0.now - $0.startedAt).components.seconds) }
      .onStart { context in
        context[GeneralDiagnostics.rebootCount] &+= 1
        context.emit(GeneralDiagnostics.bootReasonEvent, .init(bootReason: bootReason))
        context.schedule("operation", at: context.now + bookkeeping)
      }
      .onTimer("operation") { context in
        let seconds = storedSeconds(context) + UInt64(clamping: bookkeeping.components.seconds)
        context[stored: "seconds"] = seconds.tlv
        context[GeneralDiagnostics.totalOperationalHours] = UInt32(clamping: seconds / 3600)
        context.schedule("operation", at: context.now + bookkeeping)
      }
      .on(GeneralDiagnostics.testEventTrigger) { _, request throws(StatusError) in
        try check(request.enableKey.bytes, enableKey)
        guard request.eventTrigger == harmlessTrigger else { throw StatusError(.invalidCommand) }
      }
      .answer(GeneralDiagnostics.timeSnapshot) { context, _ in
        let milliseconds = UInt64(clamping: (context.now - context.startedAt).milliseconds)
        let posix = context.node.utc.map { $0.microseconds(at: context.now) / 1000 + UTCClock.matterEpoch * 1000 }
        return .init(systemTimeMs: milliseconds, posixTimeMs: Nullable(posix))
      }
      .answer(GeneralDiagnostics.payloadTestRequest) { _, request throws(StatusError) in
        try check(request.enableKey.bytes, enableKey)
        guard request.count <= longestPayload else { throw StatusError(.constraintError) }
        // What does not fit into a message is refused where answers are put together.
        return .init(payload: OctetString([UInt8](repeating: request.value, count: Int(request.count))))
      }
  }

  private static func check(_ given: [UInt8], _ key: [UInt8]?) throws(StatusError) {
    // No key of zeros is right, whatever the device's own is.
    guard let key, given.count == 16, given == key, given.contains(where: { $0 != 0 }) else {
      throw StatusError(.constraintError)
    }
  }

  private static func storedSeconds(_ context: ServerContext) -> UInt64 {
    context[stored: "seconds"].flatMap { try? UInt64(tlv: $0) } ?? 0
  }
}
