internal import HomeModel

/// The options of a home that apply to all processes that have it open.
public struct HomeSettings: Hashable, Sendable, Codable {
  /// See ``Home/graceTime``.
  public var graceTime: Duration
  /// Whether devices with public test certificates may be paired.
  public var trustsTestDevices: Bool
  /// The names of the network interfaces, used by processes that open the home later; empty: loopback only.
  public var interfaces: [String]

  package init(graceTime: Duration = .zero, trustsTestDevices: Bool = true, interfaces: [String] = []) {
    (self.graceTime, self.trustsTestDevices, self.interfaces) = (graceTime, trustsTestDevices, interfaces)
  }

  /// The new settings; nil: unchanged.
  package struct Changes: Hashable, Sendable, Codable {
    package var graceTime: Duration?
    package var trustsTestDevices: Bool?
    package var interfaces: [String]?

    package init(graceTime: Duration? = nil, trustsTestDevices: Bool? = nil, interfaces: [String]? = nil) {
      (self.graceTime, self.trustsTestDevices, self.interfaces) = (graceTime, trustsTestDevices, interfaces)
    }
  }
}
