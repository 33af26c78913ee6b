import MatterProtocol
import Testing

/// A deadline beyond the range of the clock must not wrap into the past, which would cause an endless loop.
@Test func saturatesDeadlinesAndSpans() {
  let now = Instant(nanoseconds: 1_000)
  #expect(now + .nanoseconds(Int64.max) == Instant(nanoseconds: .max))
  #expect(now + .seconds(Int64.max) == Instant(nanoseconds: .max))
  #expect(Instant(nanoseconds: .min) + .seconds(Int64.min) == Instant(nanoseconds: .min))
  #expect(Instant(nanoseconds: .max) - Instant(nanoseconds: .min) == .nanoseconds(Int64.max))
  #expect(Instant(nanoseconds: .min) - Instant(nanoseconds: .max) == .nanoseconds(Int64.min))
  #expect(now + .seconds(1) - now == .seconds(1))
}

@Test func saturatesNumbers() {
  #expect(UInt64.max.saturatingAdd(1) == .max && UInt64(1).saturatingSubtract(2) == 0)
  #expect(Int64.min.saturatingSubtract(1) == .min && Int64.max.saturatingSubtract(-1) == .max)
  #expect(Int64.min.saturatingAdd(-1) == .min && Int64.max.saturatingAdd(1) == .max)
  #expect(Int64.max.saturatingMultiply(2) == .max && Int64.min.saturatingMultiply(2) == .min)
  #expect(Int64.min.saturatingMultiply(-1) == .max && Int64(3).saturatingMultiply(-4) == -12)
}
