extension Result {
  /// Creates the result of an asynchronous call.
  package init(
    isolation: isolated (any Actor)? = #isolation, catching body: () async throws(Failure) -> Success
  ) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
