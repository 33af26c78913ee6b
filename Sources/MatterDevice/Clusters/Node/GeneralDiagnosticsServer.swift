internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  /// Matter Core § 11.12.
  static func generalDiagnostics(_ configuration: DeviceConfiguration) -> ClusterServer {
    let epoch = configuration.epoch
    let bootReason = configuration.bootReason
    return ClusterServer(GeneralDiagnostics.self)
      .initial(GeneralDiagnostics.networkInterfaces, configuration.networkInterfaces)
      .initial(GeneralDiagnostics.bootReason, bootReason)
      .initial(GeneralDiagnostics.testEventTriggersEnabled, false)
      .onRead(GeneralDiagnostics.upTime) { UInt64(clamping: ($0.now - $0.startedAt).components.seconds) }
      .onStart { context in
        context[GeneralDiagnostics.rebootCount] &+= 1
        context.emit(GeneralDiagnostics.bootReasonEvent, .init(bootReason: bootReason))
      }
      .on(GeneralDiagnostics.testEventTrigger) { _, request throws(StatusError) in
        // There are no triggers, so that no key can be the right one.
        throw StatusError(.constraintError)
      }
      .answer(GeneralDiagnostics.timeSnapshot) { context, _ in
        let milliseconds = UInt64(clamping: (context.now - context.startedAt).milliseconds)
        let posix = epoch.map { $0 &+ UInt64(clamping: context.now.nanoseconds / 1_000_000) }
        return .init(systemTimeMs: milliseconds, posixTimeMs: Nullable(posix))
      }
  }
}
