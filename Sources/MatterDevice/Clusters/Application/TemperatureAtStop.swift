import MatterModel
import MatterProtocol

/// A temperature that changes while the device is off, as it was when the device stopped.
struct TemperatureAtStop: Sendable {
  private static let key = "temperatureAtStop"

  /// In degrees Celsius.
  let celsius: Double
  /// The time constant towards the temperature of the surroundings.
  let timeConstant: Duration
  /// The time since the stop; zero if it is unknown.
  private(set) var elapsed = Duration.zero

  init(_ celsius: Double, timeConstant: Duration = .zero) {
    (self.celsius, self.timeConstant) = (celsius, timeConstant)
  }

  /// Removes the stored temperature and returns it: it does not apply to a start after a kill.
  init?(taking context: inout ServerContext) {
    guard let bytes = context[stored: Self.key] else { return nil }
    context[stored: Self.key] = nil
    guard let stored = try? [Int64](tlv: bytes), stored.count >= 2, (-300_000...3_000_000).contains(stored[0]) else {
      return nil
    }
    self.init(Double(stored[0]) / 1000, timeConstant: .milliseconds(stored[1]))
    if stored.count == 3, let now = Self.wallClock(context) {
      elapsed = .milliseconds(max(0, now.saturatingSubtract(stored[2])))
    }
  }

  func store(in context: inout ServerContext) {
    let values = [Int64((celsius * 1000).rounded()), timeConstant.milliseconds]
    context[stored: Self.key] = (values + (Self.wallClock(context).map { [$0] } ?? [])).tlv
  }

  /// The wall clock of the host in milliseconds, the only clock that continues while the device is off. Time that an
  /// administrator sets does not.
  private static func wallClock(_ context: ServerContext) -> Int64? {
    context.node.configuration.epoch.map {
      UTCClock.milliseconds($0).saturatingAdd(context.now.nanoseconds / 1_000_000)
    }
  }
}
