internal import HomeModel

/// The identity of the home that all routes of a client have to lead to.
struct HomeIdentity: Sendable {
  /// Nil until the first route has reported it.
  private(set) var expected: String?

  init(_ expected: String?) { self.expected = expected }

  /// Checks the identity that a route leads to, and expects it from now on.
  /// - Parameter route: where it was found, for the error.
  /// - Throws: `HomeError` `refused` if it is another home.
  mutating func check(_ found: String, at route: String) throws(HomeError) {
    guard found == expected ?? found else {
      throw HomeError(
        .refused,
        "\(route) leads to another home (\(found.prefix(8))…, expected \(expected?.prefix(8) ?? "")…); "
          + "remove this route, or join the other home with an invitation")
    }
    expected = found
  }
}
