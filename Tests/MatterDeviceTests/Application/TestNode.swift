import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol

@testable import MatterDevice

/// A node on virtual time without sessions: its servers, a clock, and the reports to subscribers.
///
/// Endpoint 1 is a dimmable light, endpoint 2 an on/off plug, those from 3 on are parts of endpoint 1. Fabrics 1 to 3
/// have keys for the groups 1 to 20.
final class TestNode {
  struct Report {
    let milliseconds: Int64
    let path: ConcreteAttributePath
    let value: [UInt8]
  }

  private(set) var context: ServerContext
  /// The store.
  private(set) var stored: StoredState
  /// The reports to a subscriber with a minimum interval of 0.
  private(set) var reports: [Report] = []
  private(set) var events: [DeviceEvent] = []

  static let plug: EndpointID = 2

  static func dimmableLight(
    onOff: ClusterServer = OnOffServer.make(), level: ClusterServer = LevelControlServer.make()
  ) -> [ClusterServer] {
    [IdentifyServer.make(.lightOutput), GroupsServer.make(), ScenesManagementServer.make(), onOff, level]
  }

  static let configuration: DeviceConfiguration = {
    do { return try Lab.makeConfiguration() } catch { preconditionFailure("\(error)") }
  }()

  init(
    _ light: [ClusterServer] = TestNode.dimmableLight(), parts: [[ClusterServer]] = [], stored: StoredState = [:]
  ) {
    let map = (1...3 as ClosedRange<UInt8>).flatMap { fabric in
      (1...20 as ClosedRange<UInt16>).map { group in
        GroupKeyManagement.GroupKeyMapStruct(
          groupId: GroupID(group), groupKeySetID: 1, fabricIndex: FabricIndex(fabric))
      }
    }
    let keys = ClusterServer(GroupKeyManagement.self).initial(GroupKeyManagement.groupKeyMap, map)
      .onRead(GroupKeyManagement.groupTable) { _ in [] }
    let plug = [GroupsServer.make(), ScenesManagementServer.make(), OnOffServer.make()]
    let parts = parts.enumerated().map { index, servers in
      EndpointDefinition(EndpointID(UInt16(index + 3)), deviceTypes: [], servers: servers)
    }
    self.stored = stored
    context = ServerContext(
      NodeState(
        Self.configuration,
        endpoints: [
          EndpointDefinition(0, deviceTypes: [DeviceTypes.rootNode], servers: [keys]),
          EndpointDefinition(1, deviceTypes: [DeviceTypes.dimmableLight], servers: light, parts: parts.map(\.id)),
          EndpointDefinition(Self.plug, deviceTypes: [DeviceTypes.onOffPlugInUnit], servers: plug),
        ] + parts, stored: stored, commissioning: CommissioningState(), random: SeededRandomSource(seed: 1),
        signatures: DeterministicSignatures(), at: .zero))
    for index in context.node.clusters.indices {
      for start in context.node.clusters[index].server.starts { context.enterQuietly(index, start) }
    }
    settle()
    reports = []
  }

  /// Restarts the light with the stored values.
  func restarted() -> TestNode { TestNode(Self.dimmableLight(), stored: stored) }

  // MARK: Client

  @discardableResult
  func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, on endpoint: EndpointID = 1, fabric: FabricIndex = 1
  ) throws(StatusError) -> Response? {
    context.subject = Subject(.case, fabric: fabric, node: 0x1_0001)
    defer { settle() }
    return try context.invoke(command, request, on: endpoint)
  }

  /// Invokes a command without fields.
  func invoke<C: Cluster>(
    _ command: Command<C, NoFields, NoFields>, on endpoint: EndpointID = 1, fabric: FabricIndex = 1
  ) throws(StatusError) {
    try invoke(command, NoFields(), on: endpoint, fabric: fabric)
  }

  func write<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID = 1, fabric: FabricIndex = 1
  ) throws(StatusError) {
    try write(attribute, encoded: value.tlv, on: endpoint, fabric: fabric)
  }

  /// Checks a value in the same way as `sim set`.
  func check(_ path: ConcreteAttributePath, _ value: [UInt8]) throws(StatusError) { try context.check(path, value) }

  func write<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, encoded value: [UInt8], on endpoint: EndpointID = 1, fabric: FabricIndex = 1
  ) throws(StatusError) {
    guard let index = context.node.index(ClusterPath(endpoint, C.id)),
      let served = context.node.clusters[index].server.attributes[attribute.id]
    else { throw StatusError(.unsupportedAttribute) }
    context.subject = Subject(.case, fabric: fabric, node: 0x1_0001)
    defer { settle() }
    try served.check(value) { context.encoded(index, $0) }
    try context.write(index, attribute.id, value)
  }

  subscript<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID = 1
  ) -> Value {
    context[attribute, on: endpoint]
  }

  func serves<C: Cluster, Value>(_ attribute: Attribute<C, Value>) -> Bool {
    context.serves(attribute, on: 1)
  }

  func accepts<C: Cluster, Request, Response>(_ command: Command<C, Request, Response>) -> Bool {
    guard let index = context.node.index(ClusterPath(1, C.id)) else { return false }
    return context.node.clusters[index].server.commands[command.id] != nil
  }

  // MARK: Time and physical actions

  /// Milliseconds since the start.
  var now: Int64 { (context.now - .zero).milliseconds }

  func wait(_ milliseconds: Int64) {
    let end = context.now + .milliseconds(milliseconds)
    while let next = context.node.timers.map(\.deadline).min(), next <= end {
      context.node.now = next
      runTimers()
    }
    context.node.now = end
  }

  /// Advances the time without timers, then runs each due timer once.
  func stall(_ milliseconds: Int64) {
    context.node.now += .milliseconds(milliseconds)
    runTimers()
  }

  private func runTimers() {
    let now = context.now
    let due = context.node.timers.filter { $0.deadline <= now }
    context.node.timers.removeAll { $0.deadline <= now }
    for timer in due {
      guard let body = context.node.clusters[timer.cluster].server.timers[timer.id] else { continue }
      context.enterQuietly(timer.cluster, as: .device, body)
    }
    settle()
  }

  /// Sets an attribute as the physical device does.
  func act<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) {
    context.subject = .device
    try? context.act(set: attribute.path(on: 1), encoded: value.tlv)
    settle()
  }

  /// Causes a test event, as TestEventTrigger does.
  func cause(_ trigger: UInt64) throws(StatusError) {
    defer { settle() }
    try context.cause(trigger)
  }

  /// Sets an attribute as the physical device does, and throws if it refuses.
  func press<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID = 1
  ) throws(StatusError) {
    context.subject = .device
    defer { settle() }
    try context.act(set: attribute.path(on: endpoint), encoded: value.tlv)
  }

  /// Moves a part of the physical device on endpoint 1.
  func move(_ part: String, _ state: String) throws(StatusError) {
    context.subject = .device
    defer { settle() }
    try context.act(part: part, state, on: 1)
  }

  /// Calls a hook of endpoint 1.
  func call<C: Cluster, Argument: Sendable>(_ hook: ServerHook<C, Argument>, _ argument: Argument) {
    context.subject = .device
    context.call(hook, argument, on: 1)
    settle()
  }

  /// Returns the payloads of the recorded events of a kind on endpoint 1.
  func payloads<C: Cluster, Payload: ModelStruct>(of event: Event<C, Payload>) throws -> [Payload] {
    try context.node.events.records.filter { $0.path == .init(1, C.id, event.id) }
      .map { try Payload(tlv: $0.payload) }
  }

  /// Measures the temperature of the thermostat of endpoint 1.
  func measure(_ temperature: Nullable<Int16>) { call(ThermostatServer.measured, temperature) }

  /// Moves the switch of endpoint 1 as a user would.
  func operate(_ moves: [SwitchMove]) { call(SwitchServer.move, moves) }

  /// Switches the power of the bridged device on endpoint 1.
  func power(_ isOn: Bool) {
    context.subject = .device
    context.call(BridgedDeviceServer.power, isOn, on: 1)
    settle()
  }

  /// Starts a server of endpoint 1 again, as after a loss of power of a bridged device.
  func start(_ cluster: ClusterID) {
    guard let index = context.node.index(ClusterPath(1, cluster)) else { return }
    for start in context.node.clusters[index].server.starts { context.enterQuietly(index, start) }
    settle()
  }

  /// Lets the nodes of the fabrics 1 to 3 administer the node.
  func allowAll() {
    context.node.acl.entries = (1...3 as ClosedRange<UInt8>).map {
      .init(privilege: .administer, authMode: .case, subjects: .null, targets: .null, fabricIndex: FabricIndex($0))
    }
  }

  /// Sets the UTC time in seconds since 2000.
  func setClock(_ seconds: UInt64) {
    context.node.utc = UTCClock(microseconds: seconds * 1_000_000, at: context.now)
    context.announceClockChange()
    settle()
  }

  func removeFabric(_ fabric: FabricIndex) {
    for index in context.node.clusters.indices {
      for removal in context.node.clusters[index].server.fabricRemovals {
        context.enterQuietly(index) { removal(&$0, fabric) }
      }
    }
    settle()
  }

  // MARK: Reports

  /// Returns the reported values of an attribute with their times, and discards all reports so far.
  func takeReports<C: Cluster, Value: ModelValue>(
    of attribute: Attribute<C, Value>, on endpoint: EndpointID = 1
  ) throws -> [(at: Int64, value: Value)] {
    defer { reports = [] }
    return try reports.filter { $0.path == attribute.path(on: endpoint) }.map {
      ($0.milliseconds, try Value(tlv: $0.value))
    }
  }

  private func settle() {
    for path in Set(context.node.dirty).sorted() {
      guard let value = context.encoded(path) else { continue }
      reports.append(Report(milliseconds: now, path: path, value: value))
    }
    context.node.dirty = []
    for change in context.node.changes { stored[change.key] = change.value }
    context.node.changes = []
    events += context.node.emitted
    context.node.emitted = []
  }
}
