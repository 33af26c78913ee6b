internal import HomeAutomation
internal import HomeModel
internal import HomeStore

// Background deliveries. See <doc:TheHomeModel>, “Observer queries”.
extension Home {
  /// The background deliveries, in the order in which they were enabled.
  public var backgroundDeliveries: [BackgroundDelivery] {
    get async throws(HomeError) {
      try await backend.ask(.deliveries) { if case .deliveries(let deliveries) = $0 { deliveries } else { nil } }
    }
  }

  /// Calls a command or a webhook, from now on and in every process that follows the home, when there are new changes.
  /// - Parameter anchor: the position after which changes are delivered; nil: the end of the log.
  /// - Throws: ``HomeError`` `badArguments` for an invalid target or period, or an anchor of another home.
  @discardableResult
  public func enableBackgroundDelivery(
    for filter: SampleFilter, frequency: BackgroundDelivery.Frequency = .immediate,
    to target: BackgroundDelivery.Target,
    after anchor: Anchor? = nil
  ) async throws(HomeError) -> BackgroundDelivery {
    try await backend.ask(.addDelivery(filter: filter, frequency: frequency, target: target, after: anchor)) {
      if case .delivery(let delivery) = $0 { delivery } else { nil }
    }
  }

  /// Clears the failures of a delivery: if it is suspended or in its back-off, it is made at once.
  /// - Returns: whether there was a failure.
  /// - Throws: ``HomeError`` `notFound`.
  @discardableResult
  public func resumeBackgroundDelivery(_ id: Int64) async throws(HomeError) -> Bool {
    try await backend.ask(.resumeDelivery(id: id)) {
      if case .deliveryResumed(let hadFailed) = $0 { hadFailed } else { nil }
    }
  }

  /// Removes a delivery.
  /// - Throws: ``HomeError`` `notFound`.
  public func disableBackgroundDelivery(_ id: Int64) async throws(HomeError) {
    try await backend.perform(.removeDelivery(id: id))
  }
}
