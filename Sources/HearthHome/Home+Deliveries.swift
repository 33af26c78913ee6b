internal import Foundation

// Background deliveries, with HealthKit's names. See the article “Receiving changes”, “Background delivery”.
extension Home {
  /// The background deliveries, in the order in which they were enabled.
  public var backgroundDeliveries: [BackgroundDelivery] {
    get async throws(HomeError) {
      try await backend.request(.deliveries) { if case .deliveries(let deliveries) = $0 { deliveries } else { nil } }
    }
  }

  /// Stores an observer that is called when there are new samples, also after a restart, by the process that follows the
  /// home. A delivery that a program with the name of this one has enabled with the same filter, frequency and target is
  /// kept, with its anchor, so that a program may enable its deliveries at each start.
  /// - Parameters:
  ///   - predicate: conditions on the samples, whose own type is ignored; nil: none.
  ///   - anchor: the position after which samples are delivered; nil: the end of the log.
  /// - Returns: the delivery with its id.
  /// - Throws: ``HomeError`` `badArguments` for an invalid target or period, or an anchor of another home; `accessDenied`
  ///   for a command if the home is owned by another user or used through a hub on the network.
  @discardableResult
  public func enableBackgroundDelivery(
    for type: SampleType, predicate: SampleFilter? = nil, frequency: BackgroundDelivery.Frequency,
    target: BackgroundDelivery.Target, after anchor: Anchor? = nil
  ) async throws(HomeError) -> BackgroundDelivery {
    let filter = modified(predicate ?? .all) { $0.type = type }
    let request = HomeRequest.addDelivery(
      filter: filter, frequency: frequency, target: target, after: anchor, program: Self.program)
    return try await backend.request(request) { if case .delivery(let delivery) = $0 { delivery } else { nil } }
  }

  /// Removes a background delivery.
  /// - Throws: ``HomeError`` `notFound`.
  public func disableBackgroundDelivery(_ id: BackgroundDelivery.ID) async throws(HomeError) {
    try await backend.perform(.removeDelivery(id: id))
  }

  /// Removes the background deliveries for a type of samples that a program with the name of this one has enabled.
  public func disableBackgroundDelivery(for type: SampleType) async throws(HomeError) {
    try await disableBackgroundDeliveries { $0.filter.type == type }
  }

  /// Removes all background deliveries that a program with the name of this one has enabled.
  public func disableAllBackgroundDelivery() async throws(HomeError) {
    try await disableBackgroundDeliveries { _ in true }
  }

  private func disableBackgroundDeliveries(
    where isIncluded: (BackgroundDelivery) -> Bool
  ) async throws(HomeError) {
    for delivery in try await backgroundDeliveries where delivery.program == Self.program && isIncluded(delivery) {
      try await disableBackgroundDelivery(delivery.id)
    }
  }

  /// The name of this program: for `hearth observe`, `hearth`.
  private static var program: String { ProcessInfo.processInfo.processName }

  /// Clears the failures of a background delivery. If it is suspended or in its back-off, it is delivered at once with all
  /// samples since its anchor.
  /// - Returns: false if there was no failure; then nothing changes.
  /// - Throws: ``HomeError`` `notFound`.
  @discardableResult
  public func resumeBackgroundDelivery(_ id: BackgroundDelivery.ID) async throws(HomeError) -> Bool {
    try await backend.request(.resumeDelivery(id: id)) {
      if case .deliveryResumed(let hadFailed) = $0 { hadFailed } else { nil }
    }
  }
}
