import HearthHome

/// Reads the samples of the attributes, in the form of the samples for HealthKit, without its prefix; see the article
/// “The home model”, “Code for the models”.
actor SampleReader {
  private let store: Home
  private var anchor: Anchor?
  private(set) var samples: [HomeSample] = []
  private(set) var errors: [HomeError] = []

  init(_ store: Home, after anchor: Anchor?) { (self.store, self.anchor) = (store, anchor) }

  func observe() async -> ObserverQuery {
    let query = ObserverQuery(sampleType: .attribute, predicate: nil) { query, completionHandler, errorOrNil in
      Task {
        if let error = errorOrNil { await self.note(error) } else { try await self.read() }
        completionHandler()
      }
    }
    await store.execute(query)
    return query
  }

  private func note(_ error: HomeError) { errors.append(error) }

  private func read() async throws {
    let query = AnchoredQuery(type: .attribute, predicate: nil, anchor: anchor, limit: 0)
    let result = try await store.results(of: query)
    samples += result.added
    anchor = result.next
  }

  func enableBackgroundDelivery() async throws {
    try await store.enableBackgroundDelivery(for: .attribute, frequency: .immediate, target: .command(["true"]))
  }

  func disableBackgroundDelivery() async throws { try await store.disableBackgroundDelivery(for: .attribute) }
}
