package import HomeModel

// The network interfaces of the home.
extension HomeDatabase {
  private static let interfacesKey = "interfaces"

  /// Returns the names of the stored interfaces; empty if none were set.
  package func interfaces() throws(HomeError) -> [String] {
    (try setting(Self.interfacesKey) ?? "").split(separator: " ").map(String.init)
  }

  /// Stores the names of the interfaces, effective for processes that start later.
  package func setInterfaces(_ names: [String]) throws(HomeError) {
    try set(names.isEmpty ? nil : names.joined(separator: " "), for: Self.interfacesKey)
  }
}
