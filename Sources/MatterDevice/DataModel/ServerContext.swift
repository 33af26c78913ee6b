internal import MatterCrypto
public import MatterModel
public import MatterProtocol

/// What a handler of a ``ClusterServer`` works with: the node, seen from one cluster of one endpoint.
///
///     context[OnOff.onOff].toggle()                    // this endpoint, whatever the attribute's cluster
///     context[LevelControl.currentLevel, on: 2]        // another endpoint
///     context.schedule("transition", at: context.now + .milliseconds(100))
///
/// The context owns the node's state while the handler runs. What a handler does is committed, and reported, when the
/// message that caused it was dealt with.
public struct ServerContext: Sendable {
  var node: NodeState
  /// The cluster that the handler belongs to.
  var current = 0
  /// On whose behalf the handler runs.
  public internal(set) var subject = Subject.device
  /// Whether what a client writes now takes the place of a whole list, rather than adding to it.
  var isReplacingList = false
  /// Handlers that call handlers end here.
  private var depth = 0
  private static let maximumDepth = 16

  init(_ node: NodeState) { self.node = node }

  /// When the message came that is dealt with, or the timer fired.
  public var now: Instant { node.now }
  /// When the device was started.
  public var startedAt: Instant { node.startedAt }
  /// The endpoint of the handler's own cluster.
  public var endpoint: EndpointID { node.clusters[current].path.endpoint }
  /// The handler's own cluster.
  public var cluster: ClusterID { node.clusters[current].path.cluster }
  /// The FeatureMap of the handler's own cluster.
  public var features: UInt32 { node.clusters[current].server.features }
  /// All endpoints of the node, in order.
  public var endpoints: [EndpointID] { node.endpoints.map(\.id) }

  /// Whether the handler's own cluster has a feature.
  public func has(_ feature: Feature) -> Bool { features & feature.mask != 0 }

  /// Bytes from the node's own source: secret on a real host, the same each time in a simulation.
  public mutating func randomBytes(_ count: Int) -> [UInt8] { node.random.bytes(count) }
  /// A number from the same source, each with the same probability.
  public mutating func random<T: FixedWidthInteger>(in range: ClosedRange<T>) -> T {
    T.random(in: range, using: &node.random)
  }

  // MARK: Other clusters

  /// Where a cluster is, on this endpoint unless said otherwise.
  func index<C: Cluster>(of _: C.Type, on endpoint: EndpointID?) -> Int? {
    // The path first: `node.index(… self.endpoint …)` would copy all of the node before it looks at the endpoint.
    let path = ClusterPath(endpoint ?? self.endpoint, C.id)
    return node.index(path)
  }

  /// Whether the cluster is served, on this endpoint unless said otherwise.
  public func serves<C: Cluster>(_: C.Type, on endpoint: EndpointID? = nil) -> Bool {
    index(of: C.self, on: endpoint) != nil
  }

  /// Whether an attribute is there.
  /// - Parameter endpoint: nil: the handler's own.
  public func serves<C: Cluster, Value>(_ attribute: Attribute<C, Value>, on endpoint: EndpointID? = nil) -> Bool {
    guard let index = index(of: C.self, on: endpoint) else { return false }
    return node.clusters[index].server.attributes[attribute.id] != nil
  }

  /// The FeatureMap of a cluster; 0 if it is not served.
  public func features<C: Cluster>(of _: C.Type, on endpoint: EndpointID? = nil) -> UInt32 {
    index(of: C.self, on: endpoint).map { node.clusters[$0].server.features } ?? 0
  }

  /// The clusters that an endpoint serves, in order.
  public func clusters(on endpoint: EndpointID) -> [ClusterID] {
    node.clusters.filter { $0.path.endpoint == endpoint }.map(\.path.cluster)
  }

  /// Runs a command of another server (or this one) as if the current subject had sent it, without looking at privileges.
  /// - Returns: the answer's fields, nil if it is a status alone.
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
  /// - Returns: false if that server is not there, or has no such hook.
  @discardableResult
  public mutating func call<C: Cluster, Argument: Sendable>(
    _ hook: ServerHook<C, Argument>, _ argument: Argument, on endpoint: EndpointID? = nil
  ) -> Bool {
    guard let index = index(of: C.self, on: endpoint),
      let body = node.clusters[index].server.hooks[hook.name]
    else { return false }
    enterQuietly(index) { body(&$0, argument) }
    return true
  }

  /// Lets `body` see the node from another cluster.
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

  /// The same for what cannot fail; too deep a nesting does nothing.
  mutating func enterQuietly(_ index: Int, as subject: Subject? = nil, _ body: (inout ServerContext) -> Void) {
    try? enter(index, as: subject) { (context) throws(StatusError) in body(&context) }
  }

  // MARK: Timers

  /// Runs the server's ``ClusterServer/onTimer(_:_:)`` of this name then, instead of whenever it was to run before.
  public mutating func schedule(_ name: String, at deadline: Instant) {
    cancel(name)
    node.timers.append(ServerTimer(cluster: current, name: name, deadline: deadline))
  }

  /// Takes back what ``schedule(_:at:)`` set under this name; nothing happens if there is none.
  public mutating func cancel(_ name: String) {
    node.timers.removeAll { $0.cluster == current && $0.name == name }
  }

  // MARK: State of the server's own

  /// What the server keeps until the device restarts: one value of each type.
  public subscript<State: Sendable>(scratch _: State.Type) -> State? {
    get { node.clusters[current].scratch[ObjectIdentifier(State.self)] as? State }
    set { node.clusters[current].scratch[ObjectIdentifier(State.self)] = newValue }
  }

  /// The same with a first value: `context[scratch: Transition.self, default: Transition()].step += 1`.
  public subscript<State: Sendable>(scratch _: State.Type, default initial: @autoclosure () -> State) -> State {
    get { self[scratch: State.self] ?? initial() }
    set { self[scratch: State.self] = newValue }
  }

  /// What the server keeps in the store, beside its attributes; nil removes the entry.
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

  /// The keys of ``subscript(stored:)`` that begin so, in order.
  public func storedKeys(prefix: String = "") -> [String] {
    node.clusters[current].stored.keys.filter { $0.hasPrefix(prefix) }.sorted()
  }

  // MARK: The node

  /// Which endpoints are in which groups. Setting it stores it, and reports Group Key Management's GroupTable.
  public var groupTable: GroupTable {
    get { node.groupTable }
    set {
      guard newValue != node.groupTable else { return }
      node.groupTable = newValue
      node.changes.append(StoreChange(StoreKey.groups, newValue.tlv, isDurable: true))
      node.markChanged(ConcreteAttributePath(.root, 0x003F, 0x0001))
    }
  }

  /// Tells whoever drives the device.
  public mutating func report(_ event: DeviceEvent) { node.emitted.append(event) }
}
