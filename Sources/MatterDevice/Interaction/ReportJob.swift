internal import MatterModel
internal import MatterProtocol

/// A report that is being sent, in one or more messages. Matter Core § 8.4, § 8.5.
struct ReportJob: Sendable {
  /// nil for the response to a read.
  var subscription: UInt32?
  let subject: Subject
  let isFabricFiltered: Bool
  var items: [ReportItem]
  var events: [EventRecord] = []
  var eventStatuses: [(EventPath, Status)] = []
  /// Whether this is the first report of a subscription, which a SubscribeResponse follows.
  var primes = false

  private var nextItem = 0
  private var nextEvent = 0
  private var nextEventStatus = 0
  /// The rest of a list that is sent in chunks.
  private var list: (chunks: ListChunks, dataVersion: UInt32)?

  init(subscription: UInt32? = nil, subject: Subject, isFabricFiltered: Bool, items: [ReportItem] = []) {
    self.subscription = subscription
    self.subject = subject
    self.isFabricFiltered = isFabricFiltered
    self.items = items
  }

  /// Whether all items were sent.
  var isDone: Bool {
    nextItem >= items.count && nextEventStatus >= eventStatuses.count && nextEvent >= events.count
  }

  /// Continues with other positions of clusters, and without removed ones.
  /// - Parameter position: Returns the new position; nil if the cluster was removed.
  mutating func moveClusters(_ position: (Int) -> Int?) {
    var rest: [ReportItem] = []
    for (index, item) in items.enumerated().dropFirst(nextItem) {
      guard case .attribute(let cluster, let attribute) = item else {
        rest.append(item)
        continue
      }
      if let moved = position(cluster) {
        rest.append(.attribute(cluster: moved, attribute))
      } else if index == nextItem {
        list = nil
      }
    }
    (items, nextItem) = (rest, 0)
  }

  /// Encodes the next message.
  /// - Returns: The message, and whether another one follows.
  mutating func next(_ context: inout ServerContext) -> (message: [UInt8], more: Bool) {
    var writer = ReportDataWriter(subscriptionID: subscription, maximumPayload: InteractionLimits.maximumPayload)
    while nextItem < items.count {
      guard append(items[nextItem], &writer, &context) else { return (writer.finish(more: true), true) }
      nextItem += 1
    }
    while nextEventStatus < eventStatuses.count {
      let (path, status) = eventStatuses[nextEventStatus]
      guard writer.append(status, for: path) || writer.isEmpty else { return (writer.finish(more: true), true) }
      nextEventStatus += 1
    }
    while nextEvent < events.count {
      let event = events[nextEvent]
      let data = EventData(
        event.path, number: event.number, priority: event.priority, timestamp: event.timestamp,
        payload: event.payload)
      guard writer.append(data) || writer.isEmpty else { return (writer.finish(more: true), true) }
      nextEvent += 1
    }
    // Reports of subscriptions are confirmed; the last message of a read is not.
    return (writer.finish(suppressResponse: subscription == nil), false)
  }

  /// - Returns: false if the message is full and the item has to be continued in the next.
  private mutating func append(
    _ item: ReportItem, _ writer: inout ReportDataWriter, _ context: inout ServerContext
  ) -> Bool {
    switch item {
    case .status(let path, let status): return writer.append(status, for: path) || writer.isEmpty
    case .attribute(let cluster, let attribute):
      let clusterPath = context.node.clusters[cluster].path
      let path = ConcreteAttributePath(clusterPath.endpoint, clusterPath.cluster, attribute)
      if let (pending, version) = list {
        var chunks = pending
        let isComplete = writer.append(path, dataVersion: version, list: &chunks)
        list = isComplete || writer.isEmpty ? nil : (chunks, version)
        return list == nil
      }
      var value: [UInt8] = []
      context.enterQuietly(cluster, as: subject) {
        value = $0.visibleValue(cluster, attribute, isFabricFiltered: isFabricFiltered)
      }
      let version = context.node.clusters[cluster].dataVersion
      if writer.append(path, dataVersion: version, value: value) { return true }
      // A list that is too large for the rest of this message is split. Any other value moves to the next message.
      guard value.first == 0x16, var chunks = try? ListChunks(value) else {
        if writer.isEmpty {
          return writer.append(Status(.resourceExhausted), for: AttributePath(path)) || true
        }
        return false
      }
      if writer.append(path, dataVersion: version, list: &chunks) { return true }
      if writer.isEmpty { return true }
      list = (chunks, version)
      return false
    }
  }
}
