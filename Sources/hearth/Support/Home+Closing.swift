import HearthHome

extension Home {
  /// Runs the body and closes the home afterward, also if the body throws.
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
