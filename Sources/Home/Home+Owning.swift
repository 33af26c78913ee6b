public import HomeControl
public import HomeModel
internal import MatterModel

extension Home {
  /// Opens the home with exclusive access, for changes of its fabric or groups, and closes it again. Must be called
  /// without the home's lock.
  /// - Throws: the error of the body; ``HomeError`` if the home can't be opened, or another process holds the lock for
  ///   too long.
  public static func owning<R: Sendable>(
    _ options: HomeController.Options, _ body: (Home) async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    try await HomeController.owning(options) { controller throws(HomeError) in try await body(Home(controller)) }
  }
}
