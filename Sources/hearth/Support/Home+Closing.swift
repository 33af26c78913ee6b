import HearthHome

extension Home {
  /// Runs the body and closes the home afterward, also if the body throws.
  func beforeClosing<R>(_ body: (Home) async throws -> R) async throws -> R {
    let result = await Result { try await body(self) }
    await close()
    return try result.get()
  }
}
