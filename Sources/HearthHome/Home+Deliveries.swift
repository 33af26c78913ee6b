// Background deliveries, with HealthKit's names. See the article “Receiving changes”, “Background delivery”.
extension Home {
  /// The background deliveries, in the order in which they were enabled.
  public var backgroundDeliveries: [BackgroundDelivery] {
    get async throws(HomeError) {
      try await backend.request(.deliveries) { if case .deliveries(let deliveries) = $0 { deliveries } else { nil } }
    }
  }

  /// Stores an observer that is called when there are new samples, also after a restart, by the process that follows the
  /// home.
  /// - Parameters:
  ///   - predicate: conditions on the samples, whose own type is ignored; nil: none.
  ///   - anchor: the position after which samples are delivered; nil: the end of the log.
  /// - Returns: the delivery with its id.
  /// - Throws: ``HomeError`` `badArguments` for an invalid target or period, or an anchor of another home.
  @discardableResult
  public func enableBackgroundDelivery(
    for type: SampleType, predicate: SampleFilter? = nil, frequency: BackgroundDelivery.Frequency,
    target: BackgroundDelivery.Target, after anchor: Anchor? = nil
  ) async throws(HomeError) -> BackgroundDelivery {
    let filter = modified(predicate ?? .all) { $0.type = type }
    return try await backend.request(.addDelivery(filter: filter, frequency: frequency, target: target, after: anchor))
    {
      if case .delivery(let delivery) = $0 { delivery } else { nil }
    }
  }

  /// Removes a background delivery.
  /// - Throws: ``HomeError`` `notFound`.
  public func disableBackgroundDelivery(_ id: BackgroundDelivery.ID) async throws(HomeError) {
    try await backend.perform(.removeDelivery(id: id))
  }

  /// Removes all background deliveries for a type of samples.
  public func disableBackgroundDelivery(for type: SampleType) async throws(HomeError) {
    for delivery in try await backgroundDeliveries where delivery.filter.type == type {
      try await disableBackgroundDelivery(delivery.id)
    }
  }

  /// Removes all background deliveries.
  public func disableAllBackgroundDelivery() async throws(HomeError) {
    for delivery in try await backgroundDeliveries { try await disableBackgroundDelivery(delivery.id) }
  }

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
