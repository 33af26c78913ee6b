/// Values that change at fixed times of the day: a value type without a clock.
///
/// Times are in minutes, since midnight or since 2000-01-01 in local time.
public struct DailyCourse<Value: Hashable & Sendable>: Hashable, Sendable {
  /// A value from a time of the day on.
  public struct Entry: Hashable, Sendable {
    /// Minutes since midnight.
    public var minute: UInt16
    public var value: Value

    public init(_ value: Value, from minute: UInt16 = 0) { (self.value, self.minute) = (value, minute) }
  }

  /// A time without a change of the value.
  struct Span: Hashable, Sendable {
    var value: Value
    var start: Int64
    /// The start of the next span; nil if the value never changes.
    var end: Int64?
  }

  /// The entries of a day from Monday to Friday, sorted. The first one begins at midnight.
  public let weekday: [Entry]
  /// The entries of Saturday and Sunday.
  public let weekend: [Entry]

  /// Creates a course.
  /// - Parameters:
  ///   - weekday: The entries of each day. The first one applies from midnight on, whatever its time is.
  ///   - weekend: The entries of Saturday and Sunday; nil for those of the other days.
  public init(_ weekday: [Entry], weekend: [Entry]? = nil) {
    self.weekday = Self.sorted(weekday)
    self.weekend = weekend.map(Self.sorted) ?? self.weekday
  }

  private static func sorted(_ entries: [Entry]) -> [Entry] {
    var entries = entries.sorted { $0.minute < $1.minute }
    if !entries.isEmpty { entries[0].minute = 0 }
    return entries
  }

  /// Whether the entries of the weekend differ from those of the other days.
  var hasWeekend: Bool { weekend != weekday }

  /// Returns the entries of a day.
  /// - Parameter day: days since 2000-01-01, a Saturday.
  func entries(on day: Int64) -> [Entry] { (day % 7 + 7) % 7 < 2 ? weekend : weekday }

  /// Returns the span at a time and those after it, in their order.
  /// - Parameter horizon: how far later spans may begin, in minutes.
  func spans(at minute: Int64, within horizon: Int64) -> [Span] {
    let today = minute / 1440
    // Eight days include the last change before the time and the next one after it, if there are any.
    var spans: [Span] = []
    for day in today - 8...today + 8 + horizon / 1440 {
      for entry in entries(on: day) where entry.value != spans.last?.value {
        let start = day * 1440 + Int64(entry.minute)
        if !spans.isEmpty { spans[spans.count - 1].end = start }
        spans.append(Span(value: entry.value, start: start))
      }
    }
    // A value that never changes applies since the begin of the time scale, whenever the course is asked.
    if spans.count == 1 { spans[0].start = 0 }
    return spans.filter { $0.end.map { $0 > minute } ?? true && $0.start <= minute + horizon }
  }
}
