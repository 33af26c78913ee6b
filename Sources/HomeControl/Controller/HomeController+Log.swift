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
    guard let center else {
      return query.fail(HomeError(.badArguments, "an observer query needs a home that is followed"), on: machine)
    }
    await center.execute(query)
  }

  package func stop(_ query: ObserverQuery) async { await center?.stop(query) }
}
