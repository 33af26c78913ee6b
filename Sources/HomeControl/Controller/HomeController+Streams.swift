public import HomeModel
package import MatterController
public import MatterProtocol
internal import NIOCore

/// A value, event or state that a subscription to a device reports. Matter Core § 8.5.
public enum SubscriptionEvent: Sendable, Codable {
  /// The subscription was established.
  case established(maxInterval: Duration)
  /// An attribute's complete value, as one TLV element with an anonymous tag.
  case attribute(ConcreteAttributePath, value: [UInt8])
  /// An event; the first report includes earlier ones.
  case event(EventData)
  /// The error status of a path.
  case status(AttributePath, Status)
  /// All attributes and events of one report were delivered.
  case reportEnd
  /// The subscription was lost; the next attempt follows after `retryingIn`.
  case lost(HomeError, retryingIn: Duration)
}

/// A service of a device that appeared or disappeared during a discovery. Matter Core § 4.3.
public enum DiscoveryEvent: Sendable, Codable {
  /// A service was announced, or its announcement changed.
  case found(MatterService)
  /// A service was withdrawn, or its announcement expired.
  case lost(MatterService)
}

extension HomeController {
  /// Subscribes to a node until the task is canceled. Retries after losses.
  /// - Throws: the error of the first attempt.
  package func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest, onEvent: @escaping @Sendable (SubscriptionEvent) -> Void
  ) async throws(HomeError) {
    try checkFabric(node)
    setAddress(of: node)
    let id = dispatcher.value.begin(
      node,
      onEvent: { event in
        switch event {
        case .subscriptionEstablished(_, let interval): onEvent(.established(maxInterval: interval))
        case .report(_, let report):
          for data in report.attributes { onEvent(.attribute(data.path, value: data.value)) }
          for status in report.statuses { onEvent(.status(status.path, status.status)) }
          for case .data(let data) in report.events { onEvent(.event(data)) }
          onEvent(.reportEnd)
        case .subscriptionLost(_, let error, let delay): onEvent(.lost(HomeError(error), retryingIn: delay))
        default: break
        }
      }
    ) { engine, now in engine.subscribe(node, request, at: now) }
    do throws(HomeError) { try await end(of: id) } catch {
      guard nodes.contains(where: { $0.nodeID == node }) else { throw HomeError(.notFound, "no longer in the home") }
      throw error
    }
  }

  /// Discovers services for the given time; nil: until the task is canceled.
  package func discover(
    _ query: DiscoveryQuery, for time: Duration?, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
  ) async throws(HomeError) {
    let id = dispatcher.value.begin(onEvent: { event in
      switch event {
      case .serviceFound(_, let service): onEvent(.found(service))
      case .serviceLost(_, let service): onEvent(.lost(service))
      default: break
      }
    }) { engine, now in engine.discover(query, timeout: time, at: now) }
    try await end(of: id)
  }

  /// Waits for the end of an operation that lasts until the task is canceled.
  private func end(of id: OperationID) async throws(HomeError) {
    switch await outcome(of: id) {
    case .success, .failure(.canceled): break
    case .failure(let error): throw HomeError(error)
    }
  }
}
