public import Home
package import MatterController
package import MatterModel
public import MatterProtocol
internal import NIOCore

// The backend of a home over the connection to a hub.
extension HubClient: HomeBackend {
  /// It does so since it was opened.
  package func follow() {}

  package func perform(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result] {
    guard case .edited(let results) = try await ask(.edit(edits), origin: origin) else { throw Self.surprise() }
    return results
  }

  package func read(
    _ node: NodeID, _ paths: [AttributePath], isFabricFiltered: Bool, timeout: Duration?
  ) async throws(HomeError) -> ReassembledReport {
    let reply = try await ask(.read(node, paths, isFabricFiltered: isFabricFiltered, timeout: timeout))
    guard case .report(let attributes, let statuses) = reply else { throw Self.surprise() }
    return ReassembledReport(attributes, statuses)
  }

  package func write(
    _ node: NodeID, _ writes: [AttributeWrite], isTimed: Bool
  ) async throws(HomeError) -> [AttributeStatus] {
    guard case .written(let statuses) = try await ask(.write(node, writes, isTimed: isTimed)) else {
      throw Self.surprise()
    }
    return statuses
  }

  package func invoke(
    _ node: NodeID, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    guard case .invoked(let answer) = try await ask(.invoke(node, command, isTimed: isTimed)) else {
      throw Self.surprise()
    }
    return answer
  }

  package func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionEvent, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionEvent.self)
    let feed = HubSubscription(node, request, of: self, continuation)
    feed.begin()
    let bound = NIOLoopBound(feed, eventLoop: eventLoop)
    continuation.onTermination = { [eventLoop] _ in eventLoop.execute { bound.value.end() } }
    return stream
  }

  /// The hub hears it itself.
  package func store(_ report: NodeReport) {}
  package func stopWaiting(for devices: Set<String>) {}

  // MARK: Devices

  public func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let reply = try await ask(.invokeDevice(device, by: way, command, isTimed: isTimed, timeout: timeout))
    guard case .invoked(let answer) = reply else { throw Self.surprise() }
    return answer
  }

  public func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let reply = try await ask(.writeDevice(device, by: way, writes, isTimed: isTimed, timeout: timeout))
    guard case .done = reply else { throw Self.surprise() }
  }

  public func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
    try await setName(name, of: device, origin: nil)
  }

  package nonisolated func reports(of device: String) -> DeviceReports { observedReports(of: device) }

  // MARK: The log

  package func anchor() async throws(HomeError) -> Anchor {
    guard case .anchor(let anchor) = try await ask(.anchor) else { throw Self.surprise() }
    logs.note(anchor)
    return anchor
  }

  package func samples(
    after anchor: Anchor?, _ filter: SampleFilter, limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    do throws(HomeError) {
      return try await ask(after: anchor, filter, limit)
    } catch {
      // The anchor comes from another route, whose log is not the current one; the samples after it are unknown here.
      guard error.code == .badArguments, let anchor, logs.contains(anchor) else { throw error }
      let now = try await self.anchor()
      guard let beyond = now.beyondTheEnd(notOf: anchor) else { throw error }
      return try await ask(after: beyond, filter, limit)
    }
  }

  private func ask(
    after anchor: Anchor?, _ filter: SampleFilter, _ limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    let (reply, locality) = try await send(.samples(after: anchor, filter, limit: limit))
    guard case .samples(let result) = reply else { throw Self.surprise() }
    switch result {
    case .samples(_, let next, _): logs.note(next)
    case .reset(let home): logs.note(home.anchor)
    }
    return result.seen(by: locality)
  }

  package func execute(_ query: ObserverQuery) throws(HomeError) {
    guard query.execute() else {
      throw HomeError(.badArguments, "an observer query is executed once; make another one")
    }
    let doorbell = HubSignal(query, options.delivery, on: eventLoop, options.machine) { [weak self] in
      guard let self else { return }
      assumeIsolated { $0.bell(query, nil) }
    }
    bell(query, doorbell)
    doorbell.ring()
  }

  package func stop(_ query: ObserverQuery) { bell(query, nil) }
}
