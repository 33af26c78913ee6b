// Which network interfaces the home is on.
extension HomeDatabase {
  private static let interfacesKey = "interfaces"

  /// The interfaces, by name; empty: none were set.
  public func interfaces() throws(HomeError) -> [String] {
    (try setting(Self.interfacesKey) ?? "").split(separator: " ").map(String.init)
  }

  /// Counts from the next process on.
  public func setInterfaces(_ names: [String]) throws(HomeError) {
    try set(names.isEmpty ? nil : names.joined(separator: " "), for: Self.interfacesKey)
  }
}
