public import MatterModel
public import MatterProtocol

/// A test event of a cluster, which a certification test causes with an event trigger, or a user with
/// `hearth sim trigger`. Matter Core § 11.12.7.1.
public struct TestEvent: Hashable, Sendable {
  /// The endpoint that has the event.
  public var endpoint: EndpointID
  /// The cluster that has the event.
  public var cluster: ClusterID
  /// The lower 32 bits of the trigger.
  public var code: UInt32
  /// The name, unique in the cluster: `smokeWarning`.
  public var name: String

  /// The event trigger: 16 bits of the cluster, 16 bits of the endpoint, and the code.
  public var trigger: UInt64 { triggerOfFirst | UInt64(endpoint.rawValue) << 32 }

  /// The event trigger without an endpoint, for the first endpoint that has the event.
  package var triggerOfFirst: UInt64 { UInt64(cluster.rawValue & 0xFFFF) << 48 | UInt64(code) }
}

struct ServedTestEvent: Sendable {
  let name: String
  let run: @Sendable (inout ServerContext) throws(StatusError) -> Void
}

extension ClusterServer {
  /// Handles a test event. The body throws to refuse it in the present state.
  /// - Parameters:
  ///   - code: The lower 32 bits of the event trigger; the others name the cluster and the endpoint.
  ///   - name: The name for `hearth sim trigger`, in camel case.
  public func onTest(
    _ code: UInt32, _ name: String, _ body: @escaping @Sendable (inout ServerContext) throws(StatusError) -> Void
  ) -> Self {
    changed { $0.testEvents[code] = ServedTestEvent(name: name, run: body) }
  }
}

extension ServerContext {
  /// Causes a test event. A trigger without an endpoint is for the first endpoint that has the event.
  /// - Throws: `invalidCommand` for an unknown trigger, `failure` for a bridged device without power, or the error of
  ///   the event.
  mutating func cause(_ trigger: UInt64) throws(StatusError) {
    let cluster = ClusterID(UInt32(trigger >> 48))
    let endpoint = EndpointID(UInt16(truncatingIfNeeded: trigger >> 32))
    let code = UInt32(truncatingIfNeeded: trigger)
    for index in node.clusters.indices {
      let (path, server) = (node.clusters[index].path, node.clusters[index].server)
      guard path.cluster == cluster, endpoint == .root || path.endpoint == endpoint, let event = server.testEvents[code]
      else { continue }
      guard !node.isUnreachable(path) else { throw StatusError(.failure) }
      return try enter(index, as: .device) { (context) throws(StatusError) in try event.run(&context) }
    }
    throw StatusError(.invalidCommand)
  }
}

extension DeviceEngine {
  /// The test events of all clusters, sorted.
  public var testEvents: [TestEvent] {
    context.node.clusters.flatMap { cluster in
      cluster.server.testEvents.sorted { $0.key < $1.key }.map { code, event in
        TestEvent(endpoint: cluster.path.endpoint, cluster: cluster.path.cluster, code: code, name: event.name)
      }
    }
  }

  /// Causes a test event, without the enable key that administrators need.
  /// - Throws: `invalidCommand` for an unknown trigger, or the error of the event.
  public mutating func cause(_ trigger: UInt64, at now: Instant) throws(StatusError) {
    advance(to: now)
    defer { settle() }
    try context.cause(trigger)
  }
}
