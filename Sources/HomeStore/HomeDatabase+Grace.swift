package import HomeModel

// The grace time that the user set: how long a device must be unreachable before its settled connectivity changes.
extension HomeDatabase {
  /// The maximum grace time.
  package static let longestGrace: Duration = .seconds(86_400)
  /// In milliseconds.
  private static let graceKey = "grace"

  /// Returns the stored grace time; nil if none was set.
  package func grace() throws(HomeError) -> Duration? {
    try setting(Self.graceKey).flatMap { Int64($0) }.map { min(.milliseconds(max(0, $0)), Self.longestGrace) }
  }

  /// Stores the grace time; nil removes it.
  /// - Throws: ``HomeError`` `badArguments` for a negative time, or one longer than a day.
  package func setGrace(_ grace: Duration?) throws(HomeError) {
    guard let grace else { return try set(nil, for: Self.graceKey) }
    guard grace >= .zero, grace <= Self.longestGrace else {
      throw HomeError(.badArguments, "a grace time must be from 0s to 24h")
    }
    let (seconds, attoseconds) = grace.components
    try set(String(seconds * 1000 + attoseconds / 1_000_000_000_000_000), for: Self.graceKey)
  }
}
