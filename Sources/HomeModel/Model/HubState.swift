/// The process that follows the devices of a home.
public enum HubState: String, Hashable, Sendable, CaseIterable {
  /// None, as far as this process knows: it does not keep the home up to date.
  case notAvailable
  /// Another process; this one reads its updates from the log.
  case connected
  /// The home is followed here, without a hub in another process.
  case thisProcess
}
