package import HomeModel

// Whether devices with public test certificates are accepted.
extension HomeDatabase {
  private static let trustKey = "trust"
  private static let productionOnly = "production"

  /// Whether devices with public test certificates are accepted. True by default; false for a damaged setting.
  package func trustsTestDevices() throws(HomeError) -> Bool { try setting(Self.trustKey) == nil }

  /// Sets whether devices with public test certificates are accepted, effective for later pairings.
  package func setTrustsTestDevices(_ isTrusting: Bool) throws(HomeError) {
    try set(isTrusting ? nil : Self.productionOnly, for: Self.trustKey)
  }
}
