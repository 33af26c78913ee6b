/// One thing that nodes need of their host, and its state.
public struct HostCheck: Hashable, Sendable {
  /// How it is.
  public enum Level: String, Sendable {
    case ok
    /// Works, with a limit.
    case note
    /// Does not work.
    case problem
  }

  /// `multicast`.
  public var subject: String
  public var level: Level
  /// What was found.
  public var finding: String
  /// What to do about it; nil: nothing.
  public var advice: String?

  public init(_ subject: String, _ level: Level, _ finding: String, advice: String? = nil) {
    (self.subject, self.level, self.finding, self.advice) = (subject, level, finding, advice)
  }
}
