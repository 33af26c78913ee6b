extension Sequence where Element: Sendable {
  /// Runs the body for all elements at the same time.
  /// - Returns: the results, in the order of the elements.
  package func concurrentMap<Value: Sendable>(
    _ body: @escaping @Sendable (Element) async -> Value
  ) async -> [Value] {
    await withTaskGroup(of: (Int, Value).self) { group in
      for (index, element) in enumerated() {
        group.addTask {
          // Not awaited inside the tuple: Swift 6.3.1 at -O can lose the index.
          let value = await body(element)
          return (index, value)
        }
      }
      var all: [(Int, Value)] = []
      for await one in group { all.append(one) }
      return all.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
