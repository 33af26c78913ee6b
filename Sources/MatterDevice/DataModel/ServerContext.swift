internal import MatterCrypto
public import MatterModel
public import MatterProtocol
internal import MatterTLV

/// The view of a ``ClusterServer`` handler on the node, from one cluster of one endpoint.
///
///     context[OnOff.onOff].toggle()                    // this endpoint, whatever the attribute's cluster
///     context[LevelControl.currentLevel, on: 2]        // another endpoint
///     context.schedule(.tick, at: context.now + .milliseconds(100))
///
/// The context owns the node's state while the handler runs. Changes are committed and reported after the message that
/// caused them was handled.
public struct ServerContext: Sendable {
  var node: NodeState
  /// The index of the handler's own cluster.
  var current = 0
  /// The subject that the handler acts for.
  public internal(set) var subject = Subject.device
  /// Whether the current write replaces a whole list rather than appending to it.
  var isReplacingList = false
  /// Encodes new values of attributes. Most are equal to the old ones, so its memory is used again.
  var encoder = TLVWriter()
  /// The nesting depth of handlers that call handlers.
  private var depth = 0
  private static let maximumDepth = 16

  init(_ node: NodeState) { self.node = node }

  /// The time at which the current message was received, or the timer fired.
  public var now: Instant { node.now }
  /// The time at which the device started.
  var startedAt: Instant { node.startedAt }
  /// The endpoint of the handler's own cluster.
  public var endpoint: EndpointID { node.clusters[current].path.endpoint }
  /// The handler's own cluster.
  public var cluster: ClusterID { node.clusters[current].path.cluster }
  /// The FeatureMap of the handler's own cluster.
  public var features: UInt32 { node.clusters[current].server.features }
  /// All endpoints of the node, sorted.
  public var endpoints: [EndpointID] { node.endpoints.map(\.id) }

  /// Returns whether the handler's own cluster has the feature.
  public func has(_ feature: Feature) -> Bool { features & feature.mask != 0 }

  /// Returns bytes from the node's random source: cryptographically secure on a real host, reproducible in a
  /// simulation.
  public mutating func randomBytes(_ count: Int) -> [UInt8] { node.random.bytes(count) }
  /// Returns a uniformly distributed number from the node's random source.
  public mutating func random<T: FixedWidthInteger>(in range: ClosedRange<T>) -> T {
    T.random(in: range, using: &node.random)
  }

  // MARK: Other clusters

  /// Returns the index of a cluster, by default on this endpoint.
  func index<C: Cluster>(of _: C.Type, on endpoint: EndpointID?) -> Int? {
    // Most accesses are to the handler's own cluster.
    if endpoint == nil, node.clusters[current].path.cluster == C.id { return current }
    // Build the path first: `node.index(… self.endpoint …)` would copy the whole node before it evaluates the endpoint.
    let path = ClusterPath(endpoint ?? self.endpoint, C.id)
    return node.index(path)
  }

  /// Returns whether the cluster is served, by default on this endpoint.
  public func serves<C: Cluster>(_: C.Type, on endpoint: EndpointID? = nil) -> Bool {
    index(of: C.self, on: endpoint) != nil
  }

  /// Returns whether the attribute is served.
  /// - Parameter endpoint: nil for the handler's own.
  public func serves<C: Cluster, Value>(_ attribute: Attribute<C, Value>, on endpoint: EndpointID? = nil) -> Bool {
    guard let index = index(of: C.self, on: endpoint) else { return false }
    return node.clusters[index].server.attributes[attribute.id] != nil
  }

  /// Returns the clusters that an endpoint serves, sorted.
  public func clusters(on endpoint: EndpointID) -> [ClusterID] {
    node.clusters.filter { $0.path.endpoint == endpoint }.map(\.path.cluster)
  }

  /// Runs a command of any server as if the current subject had sent it, without checking privileges.
  /// - Returns: The response fields; nil for a status alone.
  @discardableResult
  public mutating func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, on endpoint: EndpointID? = nil
  ) throws(StatusError) -> Response? {
    let endpoint = endpoint ?? self.endpoint
    guard let index = node.index(ClusterPath(endpoint, C.id)) else { throw StatusError(.unsupportedCluster) }
    guard let served = node.clusters[index].server.commands[command.id] else { throw StatusError(.unsupportedCommand) }
    let fields = request.tlv
    let answer = try enter(index) { (context) throws(StatusError) in try served.run(&context, 0, fields.span.bytes) }
    guard let answer else { return nil }
    do { return try Response(tlv: answer) } catch { throw StatusError(.failure) }
  }

  /// Calls a hook of another server.
  /// - Returns: false if the server does not exist or has no such hook.
  @discardableResult
  public mutating func call<C: Cluster, Argument: Sendable>(
    _ hook: ServerHook<C, Argument>, _ argument: Argument, on endpoint: EndpointID? = nil
  ) -> Bool {
    guard let index = index(of: C.self, on: endpoint), let served = node.clusters[index].server.hook(hook) else {
      return false
    }
    enterQuietly(index) { served.run(&$0, argument) }
    return true
  }

  /// Runs `body` with another cluster as the current one.
  mutating func enter<Result>(
    _ index: Int, as subject: Subject? = nil, _ body: (inout ServerContext) throws(StatusError) -> Result
  ) throws(StatusError) -> Result {
    guard depth < Self.maximumDepth else { throw StatusError(.failure) }
    let (outer, outerSubject) = (current, self.subject)
    current = index
    if let subject { self.subject = subject }
    depth += 1
    defer {
      (current, self.subject) = (outer, outerSubject)
      depth -= 1
    }
    return try body(&self)
  }

  /// The same for a body that can't fail. Beyond the maximum nesting depth the body does not run.
  mutating func enterQuietly(_ index: Int, as subject: Subject? = nil, _ body: (inout ServerContext) -> Void) {
    try? enter(index, as: subject) { (context) throws(StatusError) in body(&context) }
  }

  // MARK: Timers

  /// Schedules the server's ``ClusterServer/onTimer(_:_:)`` handler of this timer, replacing an earlier deadline.
  public mutating func schedule(_ timer: TimerID, at deadline: Instant) {
    cancel(timer)
    node.timers.append(ServerTimer(cluster: current, id: timer, deadline: deadline))
  }

  /// Cancels the timer that ``schedule(_:at:)`` set, if any.
  public mutating func cancel(_ timer: TimerID) {
    node.timers.removeAll { $0.cluster == current && $0.id == timer }
  }

  /// Returns whether the timer is set.
  func isScheduled(_ timer: TimerID) -> Bool {
    node.timers.contains { $0.cluster == current && $0.id == timer }
  }

  /// Ends the behavior of an attribute until the next start of its server.
  mutating func endBehavior(of path: ConcreteAttributePath) {
    guard let index = node.index(ClusterPath(path.endpoint, path.cluster)) else { return }
    node.timers.removeAll { $0.cluster == index && $0.id == .behavior(path.attribute) }
  }

  // MARK: Private state of the server

  /// Private state of the server until the device restarts: one value per type.
  public subscript<State: Sendable>(scratch _: State.Type) -> State? {
    get {
      // The cast of a missing value would take longer.
      guard let state = node.clusters[current].scratch[ObjectIdentifier(State.self)] else { return nil }
      return state as? State
    }
    set { node.clusters[current].scratch[ObjectIdentifier(State.self)] = newValue }
  }

  /// The same with a default: `context[scratch: Transition.self, default: Transition()].step += 1`.
  public subscript<State: Sendable>(scratch _: State.Type, default initial: @autoclosure () -> State) -> State {
    get { self[scratch: State.self] ?? initial() }
    set { self[scratch: State.self] = newValue }
  }

  /// A private entry of the server in the store; setting nil removes it.
  public subscript(stored key: String) -> [UInt8]? {
    get { node.clusters[current].stored[key] }
    set {
      guard node.clusters[current].stored[key] != newValue else { return }
      node.clusters[current].stored[key] = newValue
      let path = node.clusters[current].path
      node.changes.append(
        StoreChange(StoreKey.server(path, key), newValue, isDurable: NodeState.isDurable(path.cluster)))
    }
  }

  /// Returns the keys of ``subscript(stored:)`` that have the prefix, sorted.
  public func storedKeys(prefix: String = "") -> [String] {
    node.clusters[current].stored.keys.filter { $0.hasPrefix(prefix) }.sorted()
  }

  // MARK: The node

  /// The group memberships. The setter stores them and reports GroupTable of Group Key Management.
  var groupTable: GroupTable {
    get { node.groupTable }
    set {
      guard newValue != node.groupTable else { return }
      node.groupTable = newValue
      node.changes.append(StoreChange(StoreKey.groups, newValue.tlv, isDurable: true))
      node.markChanged(ConcreteAttributePath(.root, 0x003F, 0x0001))
    }
  }

  /// Emits an event to the driver of the device.
  public mutating func report(_ event: DeviceEvent) { node.emitted.append(event) }
}
