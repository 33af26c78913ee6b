package import HomeAutomation
package import HomeModel
package import HomeStore
internal import NIOCore

extension HomeController {
  package func anchor() async throws(HomeError) -> Anchor { try await withDatabase { try $0.anchor() } }

  package func samples(
    after anchor: Anchor?, _ filter: SampleFilter, limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    try await withDatabase { try $0.samples(after: anchor, filter, limit: limit) }
  }

  package func withDatabase<R: Sendable>(
    _ body: @escaping @Sendable (HomeDatabase) throws -> R
  ) async throws(HomeError) -> R {
    do { return try await edge.value.keeper.perform(body).get() } catch { throw HomeError(error) }
  }

  package func execute(_ query: ObserverQuery) async throws(HomeError) {
    guard let center else {
      throw HomeError(.badArguments, "an observer query needs a home that is followed")
    }
    try await center.execute(query)
  }

  package func stop(_ query: ObserverQuery) async { await center?.stop(query) }
}
