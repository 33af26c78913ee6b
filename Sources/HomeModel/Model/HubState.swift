/// The process that follows the devices of a home.
public enum HubState: String, Hashable, Sendable, CaseIterable {
  /// None, as far as this process knows: it does not keep the home up to date.
  case notAvailable
  /// Another process, which sends its updates to this one.
  case connected
  /// The home is followed here, without a hub in another process.
  case thisProcess
}
