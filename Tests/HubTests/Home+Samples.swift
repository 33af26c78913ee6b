import HearthHome

extension Home {
  /// Returns the samples of all types after an anchor.
  func samples(after anchor: Anchor?) async throws(HomeError) -> AnchoredResult {
    try await results(of: AnchoredQuery(.all, after: anchor))
  }
}
