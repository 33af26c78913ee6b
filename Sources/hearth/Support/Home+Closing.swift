import Home

extension Home {
  /// Does something with the home, and closes it in order however that ends.
  func beforeClosing<R>(_ body: (Home) async throws -> R) async throws -> R {
    do {
      let result = try await body(self)
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }
}
