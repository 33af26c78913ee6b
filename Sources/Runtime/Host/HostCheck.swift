/// The result of one check of the host.
public struct HostCheck: Hashable, Sendable {
  /// The severity of the result.
  public enum Level: String, Sendable {
    case ok
    /// Works with a limitation.
    case note
    /// Does not work.
    case problem
  }

  /// The subject of the check, such as `multicast`.
  public var subject: String
  public var level: Level
  /// The result, for display.
  public var finding: String
  /// The recommended action, or nil if none is needed.
  public var advice: String?

  public init(_ subject: String, _ level: Level, _ finding: String, advice: String? = nil) {
    (self.subject, self.level, self.finding, self.advice) = (subject, level, finding, advice)
  }
}
