// Whether devices with public test certificates are accepted, as the user set it.
extension HomeDatabase {
  private static let trustKey = "trust"
  private static let productionOnly = "production"

  /// Whether devices are accepted whose attestation depends on public test keys. True where nothing was set.
  public func trustsTestDevices() throws(HomeError) -> Bool { try setting(Self.trustKey) != Self.productionOnly }

  /// Counts from the next pairing on.
  public func setTrustsTestDevices(_ isTrusting: Bool) throws(HomeError) {
    try set(isTrusting ? nil : Self.productionOnly, for: Self.trustKey)
  }
}
