public import MatterController
public import MatterModel
public import MatterProtocol
internal import NIOCore

/// An event of a subscription.
public enum SubscriptionEvent: Sendable {
  /// The subscription was established.
  case established(maxInterval: Duration)
  /// An attribute's complete value, as one TLV element with an anonymous tag.
  case attribute(ConcreteAttributePath, value: [UInt8])
  /// An event, from before the first report or after it.
  case event(EventData)
  /// The error status of a path.
  case status(AttributePath, Status)
  /// All attributes and events of one report were delivered.
  case reportEnd
  /// The subscription was lost; the next attempt follows after `retryingIn`.
  case lost(HomeError, retryingIn: Duration)
}

/// An event of a discovery.
public enum DiscoveryEvent: Sendable {
  /// A service was announced, or its announcement changed.
  case found(MatterService)
  /// A service was withdrawn, or its announcement expired.
  case lost(MatterService)
}

extension HomeController {
  /// Subscribes to a node. The stream ends with an error if the first attempt fails, and retries after later losses.
  /// Ending the iteration cancels the subscription.
  public func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionEvent, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionEvent.self)
    do throws(HomeError) { try checkFabric(node) } catch {
      continuation.finish(throwing: error)
      return stream
    }
    point(node)
    let id = edge.value.begin(
      node,
      onEvent: { event in
        switch event {
        case .subscriptionEstablished(_, let interval): continuation.yield(.established(maxInterval: interval))
        case .report(_, let report):
          for data in report.attributes { continuation.yield(.attribute(data.path, value: data.value)) }
          for status in report.statuses { continuation.yield(.status(status.path, status.status)) }
          for case .data(let data) in report.events { continuation.yield(.event(data)) }
          continuation.yield(.reportEnd)
        case .subscriptionLost(_, let error, let delay): continuation.yield(.lost(HomeError(error), retryingIn: delay))
        default: break
        }
      }
    ) { engine, now in engine.subscribe(node, request, at: now) }
    end(id, continuation)
    return stream
  }

  /// Discovers services for the given time; nil: until the iteration ends.
  public func discover(
    _ query: DiscoveryQuery, for time: Duration?
  ) -> AsyncThrowingStream<DiscoveryEvent, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: DiscoveryEvent.self)
    let id = edge.value.begin(onEvent: { event in
      switch event {
      case .serviceFound(_, let service): continuation.yield(.found(service))
      case .serviceLost(_, let service): continuation.yield(.lost(service))
      default: break
      }
    }) { engine, now in engine.discover(query, timeout: time, at: now) }
    end(id, continuation)
    return stream
  }

  private func end<Event>(_ id: OperationID, _ continuation: AsyncThrowingStream<Event, any Error>.Continuation) {
    edge.value.wait(for: id) { outcome in
      switch outcome {
      case .success, .failure(.cancelled): continuation.finish()
      case .failure(let error): continuation.finish(throwing: HomeError(error))
      }
    }
    continuation.onTermination = { [eventLoop, edge] _ in eventLoop.execute { edge.value.cancel(id) } }
  }
}
