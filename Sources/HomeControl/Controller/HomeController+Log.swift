package import HomeAutomation
package import HomeModel
package import HomeStore
internal import NIOCore

extension HomeController {
  package func withDatabase<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) async throws(HomeError) -> R {
    do { return try await dispatcher.value.writer.perform(body).get() } catch { throw HomeError(error) }
  }

  package func execute(_ query: ObserverQuery) async {
    guard let center else { return query.fail(.notFollowed, on: machine) }
    await center.execute(query)
  }

  package func stop(_ query: ObserverQuery) async { await center?.stop(query) }
}

extension HomeError {
  /// The error of an observer query.
  package static let notFollowed = HomeError(
    .badArguments, "an observer query needs an open home that is followed")
}
