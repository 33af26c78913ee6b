internal import MatterModel
internal import MatterProtocol

/// A report on its way out, in as many messages as it takes. Matter Core § 8.4, § 8.5.
struct ReportJob: Sendable {
  /// Nil: it answers a read.
  var subscription: UInt32?
  let subject: Subject
  let isFabricFiltered: Bool
  var items: [ReportItem]
  var events: [EventRecord] = []
  var eventStatuses: [(EventPath, Status)] = []
  /// What the subscription answers with when the last message was confirmed; nil: not its first report.
  var primes = false

  private var nextItem = 0
  private var nextEvent = 0
  private var nextEventStatus = 0
  /// A list that goes out in pieces.
  private var list: (chunks: ListChunks, dataVersion: UInt32)?

  init(subscription: UInt32? = nil, subject: Subject, isFabricFiltered: Bool, items: [ReportItem] = []) {
    self.subscription = subscription
    self.subject = subject
    self.isFabricFiltered = isFabricFiltered
    self.items = items
  }

  /// Whether there is nothing left to say.
  var isDone: Bool {
    nextItem >= items.count && nextEventStatus >= eventStatuses.count && nextEvent >= events.count
  }

  /// The next message.
  /// - Returns: the message, and whether another one follows.
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
    // A subscriber confirms all reports; whoever reads needs nothing more.
    return (writer.finish(suppressResponse: subscription == nil), false)
  }

  /// - Returns: false if the message is full and the item has to go on in the next.
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
      // A list that is too large for the rest of this message is taken apart. Anything else goes into the next.
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
