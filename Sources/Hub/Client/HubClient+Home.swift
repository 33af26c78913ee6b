package import HomeAutomation
package import HomeControl
package import HomeModel
internal import HomeStore
internal import MatterController
internal import MatterModel
package import MatterProtocol
internal import NIOCore

// The backend of a home over the connection to a hub.
extension HubClient: HomeBackend {
  /// Hubs on the network follow the devices by themselves.
  package func follow() async throws(HomeError) {
    guard options.usesOwner else { return }
    _ = try await send(.follow)
    isFollowing = true
  }

  package func execute(_ query: ObserverQuery) async {
    // A busy owner may not answer in time; the query is executed if it is not known to fail.
    let mayFail = options.usesOwner && !isFollowing
    startingQueries.insert(ObjectIdentifier(query))
    var isFollowed = true
    if mayFail, case .status(let status)? = try? await send(.status).reply { isFollowed = status.isFollowing }
    // The query may have been stopped meanwhile.
    guard startingQueries.remove(ObjectIdentifier(query)) != nil else { return }
    if isFollowed, !isClosed { queries.execute(query) } else { query.fail(.notFollowed, on: machine) }
  }

  package func stop(_ query: ObserverQuery) {
    startingQueries.remove(ObjectIdentifier(query))
    queries.stop(query)
  }

  package func perform(
    _ request: HomeRequest, origin: String?, progress: @escaping HomeProgress.Handler
  ) async throws(HomeError) -> HomeReply {
    switch request {
    case .subscribe(let node, let request):
      // The hub has one subscription to each device; another owner begins to follow the devices.
      try await follow()
      do {
        for try await event in HubSubscription.events(of: node, request, self) { progress(.subscription(news: event)) }
        return .done
      } catch { throw HomeError(error) }
    case .anchor:
      let reply = try await send(request).reply
      if case .anchor(let anchor) = reply { logs.insert(anchor.log) }
      return reply
    case .samples(let anchor, let filter, let limit):
      return .samples(result: try await knownSamples(after: anchor, filter, limit))
    default: return try await send(request, origin: origin, progress: progress).reply
    }
  }

  /// Does nothing: the hub receives the report itself.
  package func store(_ report: NodeReport) {}
  package func stopWaiting(for devices: Set<String>) {}

  // MARK: Devices

  package func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let request = HomeRequest.invokeDevice(
      device: device, source: source, command: command, isTimed: isTimed, timeout: timeout)
    return try await self.request(request) { $0.response }
  }

  package func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    try await perform(
      .writeDevice(device: device, source: source, writes: writes, isTimed: isTimed, timeout: timeout))
  }

  // MARK: The log

  private func knownSamples(
    after anchor: Anchor?, _ filter: SampleFilter, _ limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    do throws(HomeError) {
      return try await read(after: anchor, filter, limit)
    } catch {
      // The anchor comes from another route, whose log is not the current one; the samples after it are unknown here.
      guard error.code == .badArguments, let anchor, logs.contains(anchor.log) else { throw error }
      let now = try await self.anchor()
      guard let beyond = now.beyondTheEnd(notOf: anchor) else { throw error }
      return try await read(after: beyond, filter, limit)
    }
  }

  private func read(
    after anchor: Anchor?, _ filter: SampleFilter, _ limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    let (reply, locality) = try await send(.samples(after: anchor, filter: filter, limit: limit))
    guard case .samples(let result) = reply else { throw .unexpectedReply }
    switch result {
    case .samples(_, let next, _): logs.insert(next.log)
    case .reset(let home): logs.insert(home.anchor.log)
    }
    return result.seen(by: locality)
  }
}
