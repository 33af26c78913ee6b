internal import MatterModel
internal import MatterProtocol

/// The reports of the attributes of a server that are sent at most once in an interval.
private struct QuietReports: Sendable {
  /// The times from which a change is reported at once.
  var due: [AttributeID: Instant] = [:]
  /// The attributes with a change that is not reported yet, with their intervals.
  var pending: [AttributeID: Duration] = [:]
}

extension ClusterServer {
  /// Sends the reports that ``ServerContext/set(_:_:reportedEvery:isUrgent:)`` deferred.
  func reportingQuietly() -> Self { onTimer(.deferredReport) { $0.sendDeferredReports() } }
}

extension ServerContext {
  /// Sets an attribute of the handler's own cluster with the Quieter Reporting quality, which is reported at most once in
  /// an interval. The last change of an interval is reported at its end. Needs ``ClusterServer/reportingQuietly()``.
  /// - Parameter isUrgent: whether the change is reported at once in any case.
  mutating func set<C: Cluster, Value: ModelValue & Equatable>(
    _ attribute: Attribute<C, Value>, _ value: Value, reportedEvery interval: Duration, isUrgent: Bool = false
  ) {
    guard serves(attribute), self[attribute] != value else { return }
    var reports = self[scratch: QuietReports.self, default: QuietReports()]
    if !isUrgent, let due = reports.due[attribute.id], due > now {
      reports.pending[attribute.id] = interval
    } else {
      reports.pending[attribute.id] = nil
      reports.due[attribute.id] = now + interval
    }
    let isDeferred = reports.pending[attribute.id] != nil
    keep(reports)
    set(attribute, value, reporting: isDeferred ? .quiet : .now)
  }

  fileprivate mutating func sendDeferredReports() {
    var reports = self[scratch: QuietReports.self, default: QuietReports()]
    let (endpoint, cluster, now) = (endpoint, cluster, now)
    for (attribute, interval) in reports.pending.sorted(by: { $0.key < $1.key }) {
      if let due = reports.due[attribute], due > now { continue }
      reports.pending[attribute] = nil
      reports.due[attribute] = now + interval
      node.markChanged(ConcreteAttributePath(endpoint, cluster, attribute))
    }
    keep(reports)
  }

  private mutating func keep(_ reports: QuietReports) {
    self[scratch: QuietReports.self] = reports
    cancel(.deferredReport)
    if let next = reports.pending.keys.compactMap({ reports.due[$0] }).min() { schedule(.deferredReport, at: next) }
  }
}
