import Foundation
import HearthHome

/// Reads the samples of the attributes, in the form of the samples for HealthKit, without its prefix; see the article
/// “The home model”, “Code for the models”.
actor SampleReader {
  private let store: Home
  private var anchor: Anchor?
  private(set) var samples: [HomeSample] = []
  private var identifiers: Set<UUID> = []
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
    let query = AnchoredQuery(type: .attribute, predicate: nil, anchor: anchor, limit: ObjectQueryNoLimit)
    let result = try await store.results(of: query)
    for sample in result.added where sample.sampleType == query.sampleType && sample.startDate == sample.endDate {
      if identifiers.insert(sample.uuid).inserted { samples.append(sample) }
    }
    anchor = result.next
  }

  func enableBackgroundDelivery() async throws {
    try await store.enableBackgroundDelivery(for: .attribute, frequency: .immediate, target: .command(["true"]))
    try await store.enableBackgroundDelivery(for: .topology, frequency: .daily, target: .command(["true"]))
  }

  func disableBackgroundDelivery() async throws {
    try await store.disableBackgroundDelivery(for: .attribute)
    try await store.disableAllBackgroundDelivery()
  }
}
