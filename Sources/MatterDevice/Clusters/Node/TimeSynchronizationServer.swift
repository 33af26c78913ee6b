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
      .onTimer(.localTimeChange, announce)
      .hook(clockWasSet) { context, _ in
        noteSource(&context)
        announce(&context)
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
        announce(&context)
      }
      .answer(TimeSynchronization.setTimeZone) { context, request throws(StatusError) in
        try check(request.timeZone)
        context[TimeSynchronization.timeZone] = request.timeZone
        // The node has no time zone database, so the offsets of the previous zone do not apply.
        context[TimeSynchronization.dstOffset] = []
        context.emit(TimeSynchronization.dstTableEmpty, NoFields())
        announce(&context)
        return .init(dstOffsetRequired: true)
      }
      .on(TimeSynchronization.setDSTOffset) { context, request throws(StatusError) in
        try check(request.dstOffset)
        let previous = context[TimeSynchronization.dstOffset]
        context[TimeSynchronization.dstOffset] = request.dstOffset
        if request.dstOffset.isEmpty, !previous.isEmpty { context.emit(TimeSynchronization.dstTableEmpty, NoFields()) }
        announce(&context)
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
    return UInt64(clamping: Int64(clamping: utc).saturatingAdd(offset(at: utc, &context) * 1_000_000))
  }

  /// Returns the difference of local time and UTC in seconds. Without an entry for the time, daylight is not saved.
  /// - Parameter utc: microseconds since 2000.
  fileprivate static func offset(at utc: UInt64, _ context: inout ServerContext) -> Int64 {
    let zone = context[TimeSynchronization.timeZone, on: .root].last { $0.validAt <= utc }?.offset ?? 0
    let saving = context[TimeSynchronization.dstOffset, on: .root].first { isValid($0, utc) }?.offset ?? 0
    return Int64(zone) + Int64(saving)
  }

  private static func isValid(_ saving: TimeSynchronization.DSTOffsetStruct, _ utc: UInt64) -> Bool {
    saving.validStarting <= utc && utc < saving.validUntil.wrapped ?? .max
  }

  /// Catches up after a change of the time, and notifies the servers that depend on it.
  private static func announce(_ context: inout ServerContext) {
    catchUp(&context)
    context.announceClockChange()
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

extension ServerContext {
  /// The UTC time in seconds since 2000; nil while it is unknown.
  var epochSeconds: UInt32? { epochSeconds(at: now) }

  /// Returns the UTC time of an instant in seconds since 2000; nil while it is unknown.
  func epochSeconds(at instant: Instant) -> UInt32? {
    node.utc.map { UInt32(clamping: $0.microseconds(at: instant) / 1_000_000) }
  }

  /// The local time in seconds since 2000; nil while the time is unknown. Without an entry for the present time,
  /// daylight is not saved.
  var localSeconds: Int64? {
    mutating get {
      guard let utc = node.utc?.microseconds(at: now) else { return nil }
      return Int64(utc / 1_000_000) + TimeSynchronizationServer.offset(at: utc, &self)
    }
  }

  /// Runs the handlers of ``ClusterServer/onClockChange(_:)``.
  mutating func announceClockChange() {
    for index in node.clusters.indices {
      for body in node.clusters[index].server.clockChanges { enterQuietly(index, as: .device, body) }
    }
  }
}
