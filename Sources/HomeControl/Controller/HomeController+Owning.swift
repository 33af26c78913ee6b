package import HomeModel
internal import HomeStore

extension HomeController {
  /// Opens the home with exclusive access, for changes of its fabric or groups, and closes it again. Must be called
  /// without the home's lock.
  /// - Throws: the error of the body; ``HomeError`` if the home can't be opened, or another process holds the lock for
  ///   too long.
  package static func owning<R: Sendable>(
    _ options: Options, _ body: (HomeController) async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    let lock = try await HomeLock.acquire(options.state)
    var options = options
    options.access = .exclusive
    let controller = try await HomeController.open(options)
    let result: Result<R, HomeError>
    do throws(HomeError) {
      result = .success(try await body(controller))
    } catch {
      result = .failure(error)
    }
    await controller.close()
    _ = consume lock
    return try result.get()
  }
}
