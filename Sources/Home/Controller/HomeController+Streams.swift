public import MatterController
public import MatterModel
public import MatterProtocol
internal import NIOCore

/// What a subscription tells.
public enum SubscriptionNews: Sendable {
  /// The device keeps us informed from now on.
  case established(maxInterval: Duration)
  /// An attribute's whole value, one element with an anonymous tag.
  case attribute(ConcreteAttributePath, value: [UInt8])
  /// An event, of which the device may have been asked for with the first report, or that happened since.
  case event(EventData)
  /// A path that the device can't report.
  case status(AttributePath, Status)
  /// All of one report has been told.
  case reportEnd
  /// The device does not keep us informed any more; the next attempt begins after `retryingIn`.
  case lost(HomeError, retryingIn: Duration)
}

/// What discovery tells.
public enum DiscoveryNews: Sendable {
  /// A service announced itself, or announced something else than before.
  case found(MatterService)
  /// A service said goodbye, or was not heard of for as long as it had said.
  case lost(MatterService)
}

extension HomeController {
  /// Subscribes to a node. The stream ends with an error if the first attempt fails; it goes on through losses after that.
  /// Whoever stops listening ends the subscription.
  public func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionNews, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionNews.self)
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
        case .attributeReport(_, let path, let value, _): continuation.yield(.attribute(path, value: value))
        case .attributeStatus(_, let path, let status): continuation.yield(.status(path, status))
        case .eventReport(_, let data): continuation.yield(.event(data))
        case .reportEnd: continuation.yield(.reportEnd)
        case .subscriptionLost(_, let error, let delay): continuation.yield(.lost(HomeError(error), retryingIn: delay))
        default: break
        }
      }
    ) { engine, now in engine.subscribe(node, request, at: now) }
    end(id, continuation)
    return stream
  }

  /// Looks for services until the time is over, nil: until nobody listens any more.
  public func discover(
    _ query: DiscoveryQuery, for time: Duration?
  ) -> AsyncThrowingStream<DiscoveryNews, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: DiscoveryNews.self)
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

  private func end<News>(_ id: OperationID, _ continuation: AsyncThrowingStream<News, any Error>.Continuation) {
    edge.value.wait(for: id) { outcome in
      switch outcome {
      case .success, .failure(.cancelled): continuation.finish()
      case .failure(let error): continuation.finish(throwing: HomeError(error))
      }
    }
    continuation.onTermination = { [eventLoop, edge] _ in eventLoop.execute { edge.value.cancel(id) } }
  }
}
