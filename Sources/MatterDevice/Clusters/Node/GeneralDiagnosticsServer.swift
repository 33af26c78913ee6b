internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

enum GeneralDiagnosticsHooks {
  /// Writes the time of operation down that was not written down yet.
  static let bookOperation = ServerHook<GeneralDiagnostics, NoFields>("bookOperation")
}

extension RootNode {
  /// Until when the time of operation is written down.
  private struct Booked: Sendable {
    var until: Instant
  }

  /// A trigger that does nothing but show that the key was the right one, of the makers of test devices.
  private static let harmlessTrigger: UInt64 = 0xFFFF_FFFF_FFF1_0000
  private static let longestPayload: UInt16 = 2048
  /// How often the hours of operation are written down: as much of them a power cut may lose.
  private static let bookkeeping = Duration.seconds(600)

  /// Matter Core § 11.12.
  static func generalDiagnostics(_ configuration: DeviceConfiguration) -> ClusterServer {
    let enableKey = configuration.enableKey
    return ClusterServer(GeneralDiagnostics.self, features: [GeneralDiagnostics.dataModelTest])
      .initial(GeneralDiagnostics.networkInterfaces, configuration.networkInterfaces)
      .onRead(GeneralDiagnostics.bootReason) { $0.node.bootReason }
      .initial(GeneralDiagnostics.testEventTriggersEnabled, enableKey != nil)
      .serving(GeneralDiagnostics.totalOperationalHours)
      .onRead(GeneralDiagnostics.upTime) { UInt64(clamping: ($0.now - $0.startedAt).components.seconds) }
      .onStart { context in
        context[GeneralDiagnostics.rebootCount] &+= 1
        context.emit(GeneralDiagnostics.bootReasonEvent, .init(bootReason: context.node.bootReason))
        context.schedule("operation", at: context.now + bookkeeping)
      }
      .onTimer("operation") { context in
        bookOperation(&context)
        context.schedule("operation", at: context.now + bookkeeping)
      }
      .hook(GeneralDiagnosticsHooks.bookOperation) { context, _ in bookOperation(&context) }
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

  private static func bookOperation(_ context: inout ServerContext) {
    let begin = context[scratch: Booked.self]?.until ?? context.startedAt
    let new = (context.now - begin).components.seconds
    guard new > 0 else { return }
    context[scratch: Booked.self] = Booked(until: begin + .seconds(new))
    let seconds = storedSeconds(context) &+ UInt64(new)
    context[stored: "seconds"] = seconds.tlv
    context[GeneralDiagnostics.totalOperationalHours] = UInt32(clamping: seconds / 3600)
  }

  private static func storedSeconds(_ context: ServerContext) -> UInt64 {
    context[stored: "seconds"].flatMap { try? UInt64(tlv: $0) } ?? 0
  }
}
