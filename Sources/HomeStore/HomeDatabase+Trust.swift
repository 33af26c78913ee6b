package import HomeModel

// Whether devices with public test certificates are accepted.
extension HomeDatabase {
  private static let trustKey = "trust"
  private static let productionOnly = "production"

  /// Whether devices with public test certificates are accepted. True by default.
  package func trustsTestDevices() throws(HomeError) -> Bool { try setting(Self.trustKey) != Self.productionOnly }

  /// Sets whether devices with public test certificates are accepted, effective for later pairings.
  package func setTrustsTestDevices(_ isTrusting: Bool) throws(HomeError) {
    try set(isTrusting ? nil : Self.productionOnly, for: Self.trustKey)
  }
}
