internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The Time Synchronization server. After a start the node uses the host's time if the host knows it; otherwise the
/// time is unknown until an administrator sets it. Matter Core § 11.17.
enum TimeSynchronizationServer {
  private typealias Zone = TimeSynchronization.TimeZoneStruct
  private typealias Saving = TimeSynchronization.DSTOffsetStruct
  private static let zoneLimit = 2, savingLimit = 4, longestName = 64

  /// The time of the node changed without a command, because the host's clock was set or became unknown.
  static let clockWasSet = ServerHook<TimeSynchronization, Void>("clockWasSet")

  /// The zone and daylight saving state of the last events.
  private struct Reported: Sendable {
    var zone: TimeSynchronization.TimeZoneStruct?
    var isSaving = false
  }

  static func make() -> ClusterServer {
    .shared(TimeSynchronization.self, features: [TimeSynchronization.timeZoneFeature], complete)
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    server
      .serving(TimeSynchronization.timeSource)
      .onRead(TimeSynchronization.utcTime) { context in
        Nullable(context.node.utc.map { $0.microseconds(at: context.now) })
      }
      .onRead(TimeSynchronization.localTime) { Nullable(localTime(&$0)) }
      .initial(TimeSynchronization.timeZone, [.init(offset: 0, validAt: 0)])
      .initial(TimeSynchronization.timeZoneListMaxSize, UInt8(zoneLimit))
      .initial(TimeSynchronization.dstOffsetListMaxSize, UInt8(savingLimit))
      .onStart { context in
        noteSource(&context)
        context[scratch: Reported.self] = Reported(zone: context[TimeSynchronization.timeZone].first)
        catchUp(&context)
      }
      .onTimer(.localTimeChange) { catchUp(&$0) }
      .hook(clockWasSet) { context, _ in
        noteSource(&context)
        announceTime(&context)
        catchUp(&context)
      }
      .on(TimeSynchronization.setUTCTime) { context, request throws(StatusError) in
        // A time source with a finer granularity than the offered time is kept.
        guard
          context.node.utc == nil || context[TimeSynchronization.timeSource] == .admin
            || request.granularity.rawValue >= context[TimeSynchronization.granularity].rawValue
        else {
          throw StatusError(
            .failure, clusterCode: TimeSynchronization.StatusCodeEnum.timeNotAccepted.rawValue)
        }
        guard request.granularity.isKnown else { throw StatusError(.constraintError) }
        guard let clock = UTCClock(microseconds: request.utcTime, at: context.now) else {
          throw StatusError(.failure, clusterCode: TimeSynchronization.StatusCodeEnum.timeNotAccepted.rawValue)
        }
        context.node.utc = clock
        context.node.isTimeSet = true
        context[TimeSynchronization.granularity] = request.granularity
        context[TimeSynchronization.timeSource] = .admin
        announceTime(&context)
        catchUp(&context)
      }
      .answer(TimeSynchronization.setTimeZone) { context, request throws(StatusError) in
        try check(request.timeZone)
        context[TimeSynchronization.timeZone] = request.timeZone
        // The node has no time zone database, so the offsets of the previous zone do not apply.
        context[TimeSynchronization.dstOffset] = []
        context.emit(TimeSynchronization.dstTableEmpty, NoFields())
        catchUp(&context)
        return .init(dstOffsetRequired: true)
      }
      .on(TimeSynchronization.setDSTOffset) { context, request throws(StatusError) in
        try check(request.dstOffset)
        let previous = context[TimeSynchronization.dstOffset]
        context[TimeSynchronization.dstOffset] = request.dstOffset
        if request.dstOffset.isEmpty, !previous.isEmpty { context.emit(TimeSynchronization.dstTableEmpty, NoFields()) }
        catchUp(&context)
      }
  }

  // MARK: Checks

  private static func check(_ zones: [TimeSynchronization.TimeZoneStruct]) throws(StatusError) {
    guard zones.count <= zoneLimit else { throw StatusError(.resourceExhausted) }
    guard !zones.isEmpty else { throw StatusError(.constraintError) }
    for (index, zone) in zones.enumerated() {
      guard -43_200...50_400 ~= zone.offset, (zone.name?.utf8.count ?? 0) <= longestName,
        (zone.validAt == 0) == (index == 0)
      else { throw StatusError(.constraintError) }
    }
  }

  private static func check(_ savings: [TimeSynchronization.DSTOffsetStruct]) throws(StatusError) {
    guard savings.count <= savingLimit else { throw StatusError(.resourceExhausted) }
    var end: UInt64? = 0
    for saving in savings {
      guard let previous = end, saving.validStarting >= previous else { throw StatusError(.constraintError) }
      if let until = saving.validUntil.wrapped {
        guard until > saving.validStarting else { throw StatusError(.constraintError) }
      }
      end = saving.validUntil.wrapped
    }
  }

  // MARK: Time

  private static func localTime(_ context: inout ServerContext) -> UInt64? {
    let now = context.now
    guard let utc = context.node.utc?.microseconds(at: now) else { return nil }
    let savings = context[TimeSynchronization.dstOffset]
    guard let last = savings.last, last.validUntil.wrapped ?? .max > utc else { return nil }
    let zones = context[TimeSynchronization.timeZone]
    let zone = zones.last { $0.validAt <= utc }?.offset ?? 0
    let saving = savings.first { isValid($0, utc) }?.offset ?? 0
    return UInt64(clamping: Int64(clamping: utc).saturatingAdd((Int64(zone) + Int64(saving)) * 1_000_000))
  }

  private static func isValid(_ saving: TimeSynchronization.DSTOffsetStruct, _ utc: UInt64) -> Bool {
    saving.validStarting <= utc && utc < saving.validUntil.wrapped ?? .max
  }

  /// Notifies the servers whose attributes contain UTC times.
  private static func announceTime(_ context: inout ServerContext) {
    for endpoint in context.endpoints { context.call(ValveServer.clockWasSet, (), on: endpoint) }
  }

  /// Updates Granularity and TimeSource after the node gained or lost its time.
  private static func noteSource(_ context: inout ServerContext) {
    if context.node.utc == nil {
      context[TimeSynchronization.granularity] = .noTimeGranularity
      context[TimeSynchronization.timeSource] = .none
    } else if context[TimeSynchronization.granularity] == .noTimeGranularity {
      // The accuracy of the host's clock is unknown, so any administrator may set a better time.
      context[TimeSynchronization.granularity] = .minutesGranularity
      context[TimeSynchronization.timeSource] = .unknown
    }
  }

  /// Removes expired entries, emits events for changes, and schedules the next change.
  private static func catchUp(_ context: inout ServerContext) {
    var zones = context[TimeSynchronization.timeZone]
    var savings = context[TimeSynchronization.dstOffset]
    var isSaving = false
    if let clock = context.node.utc {
      let utc = clock.microseconds(at: context.now)
      if zones.count > 1, zones[1].validAt <= utc {
        zones.removeFirst()
        zones[0].validAt = 0
        context[TimeSynchronization.timeZone] = zones
      }
      let rest = savings.filter { $0.validUntil.wrapped ?? .max > utc }
      if rest.count != savings.count {
        savings = rest
        context[TimeSynchronization.dstOffset] = savings
        if savings.isEmpty { context.emit(TimeSynchronization.dstTableEmpty, NoFields()) }
      }
      isSaving = savings.contains { isValid($0, utc) && $0.offset != 0 }
      let changes =
        zones.dropFirst().map(\.validAt)
        + savings.flatMap { [$0.validStarting] + ($0.validUntil.wrapped.map { [$0] } ?? []) }
      if let next = changes.filter({ $0 > utc }).min(), let instant = clock.instant(of: next) {
        context.schedule(.localTimeChange, at: instant)
      } else {
        context.cancel(.localTimeChange)
      }
    }
    var reported = context[scratch: Reported.self, default: Reported()]
    if let zone = zones.first, zone.offset != reported.zone?.offset || zone.name != reported.zone?.name {
      reported.zone = zone
      context.emit(TimeSynchronization.timeZoneStatus, .init(offset: zone.offset, name: zone.name))
    }
    if isSaving != reported.isSaving {
      reported.isSaving = isSaving
      context.emit(TimeSynchronization.dstStatus, .init(dstOffsetActive: isSaving))
    }
    context[scratch: Reported.self] = reported
  }
}
