import MatterProtocol

/// A time in the fields of the energy clusters: in UTC if it is known, otherwise since the start.
struct Moment: Hashable, Sendable {
  var timestamp: UInt32?
  var systime: UInt64?

  init(_ context: ServerContext, at instant: Instant? = nil) {
    let instant = instant ?? context.now
    timestamp = context.epochSeconds(at: instant)
    if timestamp == nil { systime = UInt64(clamping: (instant - context.startedAt).milliseconds) }
  }
}
