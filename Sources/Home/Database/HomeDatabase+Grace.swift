// How long a device must be away before its settled connectivity says so, as the user set it.
extension HomeDatabase {
  /// The longest that can be set.
  public static let longestGrace: Duration = .seconds(86_400)
  /// In milliseconds.
  private static let graceKey = "grace"

  /// Nil where nothing was set.
  public func grace() throws(HomeError) -> Duration? {
    try setting(Self.graceKey).flatMap { Int64($0) }.map { min(.milliseconds(max(0, $0)), Self.longestGrace) }
  }

  /// Nil: as if nothing had been set.
  /// - Throws: ``HomeError`` `badArguments` for one that is negative, or longer than a day.
  public func setGrace(_ grace: Duration?) throws(HomeError) {
    guard let grace else { return try set(nil, for: Self.graceKey) }
    guard grace >= .zero, grace <= Self.longestGrace else {
      throw HomeError(.badArguments, "a grace time must be from 0s to 24h")
    }
    let (seconds, attoseconds) = grace.components
    try set(String(seconds * 1000 + attoseconds / 1_000_000_000_000_000), for: Self.graceKey)
  }
}
