public import MatterModel
import Synchronization

/// The behavior of a cluster on an endpoint: the served elements, the initial values, and the command handlers.
///
///     ClusterServer(OnOff.self, features: [OnOff.lighting])
///       .initial(OnOff.startUpOnOff, .value(.off))
///       .on(OnOff.toggle) { context, _ in context[OnOff.onOff].toggle() }
///
/// Attributes and events that are mandatory with the features are served automatically, commands if they have a
/// handler. Provisional elements must be named. The value is immutable once built, shared by all devices that use it,
/// and has no state: state lives in the node and is reached through the ``ServerContext`` that every handler is given.
public struct ClusterServer: Sendable {
  /// The declaration of the cluster.
  public var cluster: any Cluster.Type { storage.cluster }
  /// The id of the cluster.
  public var id: ClusterID { storage.id }
  /// The FeatureMap.
  public var features: UInt32 { storage.features }

  /// The declaration, the elements and the handlers. Copies of a server share one object, because each device has dozens
  /// of copies.
  private var storage: Storage
  /// Initial values that differ from those of the declarations. They are kept apart, so that devices with different
  /// values share the elements and handlers. A list of few, which takes less memory than a dictionary.
  private var initials: [(attribute: AttributeID, value: [UInt8])] = []

  private final class Storage: Sendable {
    let cluster: any Cluster.Type
    let id: ClusterID
    let features: UInt32
    let elements: ServerElements
    /// Made when first needed.
    let globals = Mutex<GlobalAttributes.Served?>(nil)

    init(_ cluster: any Cluster.Type, features: UInt32, _ elements: ServerElements) {
      (self.cluster, id, self.features, self.elements) = (cluster, cluster.id, features, elements)
    }
  }

  /// Creates a server with the elements that are mandatory with the features.
  public init<C: Cluster>(_ cluster: C.Type, features: [Feature] = []) {
    let mask = features.reduce(0) { $0 | $1.mask }
    let facts = ConformanceFacts(features: mask)
    var elements = ServerElements()
    for element in cluster.elements {
      switch element.info {
      case .attribute(let info) where info.conformance.requires(facts): elements.serve(info)
      case .event(let info) where info.conformance.requires(facts): elements.events[info.id] = info
      default: break
      }
    }
    storage = Storage(cluster, features: mask, elements)
  }

  /// Returns the server of these features, which `build` completes when it is first needed; later devices share it.
  static func shared<C: Cluster>(
    _ cluster: C.Type, features: [Feature] = [], _ build: (ClusterServer) -> ClusterServer
  ) -> ClusterServer {
    let key = SharedKey(cluster: cluster.id, features: features.reduce(0) { $0 | $1.mask })
    if let server = built.withLock({ $0[key] }) { return server }
    let server = build(ClusterServer(cluster, features: features))
    built.withLock { $0[key] = server }
    return server
  }

  private struct SharedKey: Hashable, Sendable {
    let cluster: ClusterID
    let features: UInt32
  }
  private static let built = Mutex<[SharedKey: ClusterServer]>([:])

  // MARK: Served elements

  /// Also serves optional attributes and events.
  public func serving(_ elements: any ClusterElement...) -> Self {
    changed { server in
      for element in elements {
        switch element.info {
        case .attribute(let info): server.serve(info)
        case .event(let info): server.events[info.id] = info
        case .command: break
        }
      }
    }
  }

  /// Serves the attribute, and sets its value for a device without a stored one.
  public func initial<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) -> Self {
    serving(attribute.details, initial: value.tlv)
  }

  /// Persists the attribute's value, though the standard does not require it.
  public func storing<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Self {
    changed { server in
      server.modify(attribute.details) { $0.isStored = true }
    }
  }

  /// Serves the attribute with an encoded initial value (one element, anonymous tag). Values of another type and
  /// attributes that the cluster does not declare are ignored, see ``accepts(initial:for:)``.
  public func initial(encoded value: [UInt8], for attribute: AttributeID) -> Self {
    guard accepts(initial: value, for: attribute), let info = cluster.attributes.first(where: { $0.id == attribute })
    else { return self }
    return serving(info, initial: value)
  }

  private func serving(_ info: AttributeInfo, initial value: [UInt8]) -> Self {
    var server = serves(info.id) ? self : changed { $0.serve(info) }
    server.initials = []
    server.initials.reserveCapacity(initials.count + 1)
    server.initials += initials.lazy.filter { $0.attribute != info.id }
    server.initials.append((info.id, Self.values.withLock { $0.shared(value) }))
    return server
  }

  /// Initial values that devices share, since most of them are the same on each.
  private static let values = Mutex(SharedValues())

  private struct SharedValues {
    /// The values of the first devices. Later ones are usually specific to a device, such as serial numbers.
    private var values: Set<[UInt8]> = []
    private static let limit = 1024

    /// Returns an equal value that is in use already, or this one.
    mutating func shared(_ value: [UInt8]) -> [UInt8] {
      guard values.count < Self.limit else { return values.firstIndex(of: value).map { values[$0] } ?? value.trimmed }
      return values.insert(value.trimmed).memberAfterInsert
    }
  }

  /// Returns the encoded initial value; nil if the attribute is not served.
  package func initial(of attribute: AttributeID) -> [UInt8]? {
    attributes[attribute].map { initial(of: attribute, $0) }
  }

  func initial(of attribute: AttributeID, _ served: ServedAttribute) -> [UInt8] {
    initials.first { $0.attribute == attribute }?.value ?? served.declaredInitial
  }

  /// Returns whether the attribute is served.
  package func serves(_ attribute: AttributeID) -> Bool { attributes[attribute] != nil }

  /// Returns whether the attribute is served and not computed at each read, so that its changes are known.
  package func notesChanges(of attribute: AttributeID) -> Bool { attributes[attribute].map { $0.read == nil } ?? false }

  /// Returns what determines the value at the start of the device.
  package func source(of attribute: AttributeID) -> AttributeSource { attributes[attribute]?.source ?? .definition }

  /// Returns whether an ``onAct(_:_:)`` handler performs the physical changes of the attribute.
  package func performsChanges(of attribute: AttributeID) -> Bool { attributes[attribute]?.act != nil }

  /// Returns whether the cluster declares the attribute and the bytes are one value of its type.
  public func accepts(initial value: [UInt8], for attribute: AttributeID) -> Bool {
    cluster.attributes.first { $0.id == attribute }?.isWellFormed(value) ?? false
  }

  /// Checks an initial value against the attribute's type, its constraint and the attributes that limit it.
  /// - Throws: `unsupportedAttribute`, `invalidDataType` or `constraintError`.
  public func check(initial value: [UInt8], for attribute: AttributeID) throws(StatusError) {
    guard let served = attributes[attribute] else { throw StatusError(.unsupportedAttribute) }
    try served.check(value, initial(of:))
  }

  /// Returns the range of initial values; nil if the attribute is not a number.
  public func range(of attribute: AttributeID) -> ClosedRange<Int64>? {
    attributes[attribute]?.range(initial(of:))
  }

  /// The parts of the physical device that the server follows, with their states, sorted by name.
  public var followedParts: [(name: String, states: [String])] {
    parts.sorted { $0.key < $1.key }.map { (name: $0.key, states: $0.value.values) }
  }

  /// Returns the allowed values of an enumeration; nil if all of its values are.
  public func values(of attribute: AttributeID) -> Set<UInt64>? { attributes[attribute]?.values(initial(of:)) }

  /// Returns the step of initial values below 100 percent; nil if the attribute has none.
  package func step(of attribute: AttributeID) -> UInt8? {
    attributes[attribute]?.limits.step.flatMap(initial(of:)).flatMap { try? UInt8(tlv: $0) }
  }

  // MARK: Building

  /// Limits an enumeration to some of its values, for changes from any source.
  /// - Parameter refusal: The status for the other values of the enumeration.
  func limiting<C: Cluster, Value: WireCode>(
    _ attribute: Attribute<C, Value>, to values: [Value], refusal: StatusCode = .constraintError
  ) -> Self {
    changed { $0.limit(attribute.id) { ($0.values, $0.refusal) = (Set(values.map { UInt64($0.rawValue) }), refusal) } }
  }

  /// The same for a number.
  func limiting<C: Cluster>(_ attribute: Attribute<C, UInt8>, to values: [UInt8]) -> Self {
    changed { $0.limit(attribute.id) { $0.values = Set(values.map { UInt64($0) }) } }
  }

  /// The same for an enumeration that may be null.
  func limiting<C: Cluster, Value: WireCode>(_ attribute: Attribute<C, Nullable<Value>>, to values: [Value]) -> Self {
    changed { $0.limit(attribute.id) { $0.values = Set(values.map { UInt64($0.rawValue) }) } }
  }

  /// Limits an enumeration by the value of another one of the cluster, for changes from any source.
  func limiting<C: Cluster, Value: WireCode, Other: WireCode>(
    _ attribute: Attribute<C, Value>, by other: Attribute<C, Other>, _ values: @escaping @Sendable (Other) -> [Value]
  ) -> Self {
    changed {
      $0.limit(attribute.id) {
        $0.valuesBy = (
          other.id, { code in Set(values(Other(rawValue: .init(clamping: code))).map { UInt64($0.rawValue) }) }
        )
      }
    }
  }

  /// Limits a number that may be null, for changes from any source.
  func limiting<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, to range: ClosedRange<Int64>) -> Self {
    changed { $0.limit(attribute.id) { $0.range = range } }
  }

  /// Limits a bitmap to the bits of another attribute of the cluster, for changes from any source.
  func limiting<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, toBitsOf supported: Attribute<C, Value>
  ) -> Self { changed { $0.limit(attribute.id) { $0.bits = supported.id } } }

  /// Limits a percentage below 100 to the multiples of another attribute of the cluster, from its lowest value on, for
  /// changes from any source.
  func limiting<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, toMultiplesOf step: Attribute<C, Value>
  ) -> Self { changed { $0.modify(attribute.details) { $0.limits.step = step.id } } }

  /// Limits a number by other attributes of the cluster, for changes from any source.
  func limiting<C: Cluster, Value: ModelValue, Limit: ModelValue>(
    _ attribute: Attribute<C, Value>, from lowest: Attribute<C, Limit>? = nil, to highest: Attribute<C, Limit>? = nil,
    isHighestExcluded: Bool = false
  ) -> Self {
    changed {
      $0.limit(attribute.id) {
        $0 = AttributeLimits(lowest: lowest?.id, highest: highest?.id, isHighestExcluded: isHighestExcluded)
      }
    }
  }

  func changed(_ change: (inout ServerElements) -> Void) -> Self {
    var (copy, elements) = (self, storage.elements)
    change(&elements)
    copy.storage = Storage(cluster, features: features, elements)
    return copy
  }

  var attributes: [AttributeID: ServedAttribute] { storage.elements.attributes }
  /// Sorted, without the global attributes.
  var attributeIDs: [AttributeID] { storage.elements.attributeIDs }
  var globals: GlobalAttributes.Served {
    storage.globals.withLock { known in
      let served = known ?? GlobalAttributes.Served(self)
      known = served
      return served
    }
  }
  var commands: [CommandID: ServedCommand] { storage.elements.commands }
  var events: [EventID: EventInfo] { storage.elements.events }
  var testEvents: [UInt32: ServedTestEvent] { storage.elements.testEvents }
  var starts: [ContextHandler] { storage.elements.starts }
  var startedHandlers: [ContextHandler] { storage.elements.startedHandlers }
  var powerLosses: [ContextHandler] { storage.elements.powerLosses }
  var stops: [ContextHandler] { storage.elements.stops }
  var timers: [TimerID: ContextHandler] { storage.elements.timers }
  var clockChanges: [ContextHandler] { storage.elements.clockChanges }
  var fabricRemovals: [@Sendable (inout ServerContext, FabricIndex) -> Void] { storage.elements.fabricRemovals }
  /// Returns the handler of a hook; nil if the server has none.
  func hook<C: Cluster, Argument>(_ hook: ServerHook<C, Argument>) -> ServedHook<Argument>? {
    storage.elements.hooks.first { $0.name == hook.name } as? ServedHook<Argument>
  }
  var parts: [String: ServedPart] { storage.elements.parts }
  var files: (@Sendable (inout ServerContext, [UInt8]) -> [UInt8]?)? { storage.elements.files }

  /// The differences between the served elements and the conformance of the cluster.
  public var violations: [ClusterViolation] {
    cluster.violations(
      of: ServedElements(
        features: features, attributes: Set(attributes.keys), commands: Set(commands.keys), events: Set(events.keys),
        values: attributes.reduce(into: [:]) { $0[$1.key] = initial(of: $1.key) }))
  }
}

/// The served elements and the handlers of a server.
struct ServerElements: Sendable {
  private(set) var attributes: [AttributeID: ServedAttribute] = [:]
  /// The ids of `attributes`, sorted.
  private(set) var attributeIDs: [AttributeID] = []
  var commands: [CommandID: ServedCommand] = [:]
  var events: [EventID: EventInfo] = [:]
  var testEvents: [UInt32: ServedTestEvent] = [:]
  var starts: [ContextHandler] = []
  var startedHandlers: [ContextHandler] = []
  var powerLosses: [ContextHandler] = []
  var stops: [ContextHandler] = []
  var timers: [TimerID: ContextHandler] = [:]
  var clockChanges: [ContextHandler] = []
  var fabricRemovals: [@Sendable (inout ServerContext, FabricIndex) -> Void] = []
  /// A list of few, which is searched faster than a dictionary.
  var hooks: [any AnyServedHook] = []
  var parts: [String: ServedPart] = [:]
  /// Returns the file with a name, or nil if there is none.
  var files: (@Sendable (inout ServerContext, [UInt8]) -> [UInt8]?)?

  mutating func serve(_ info: AttributeInfo) {
    guard attributes[info.id] == nil else { return }
    attributes[info.id] = ServedAttribute(info)
    attributeIDs.insert(info.id, at: attributeIDs.firstIndex { $0 > info.id } ?? attributeIDs.endIndex)
  }

  /// Serves the attribute, and changes how.
  mutating func modify(_ info: AttributeInfo, _ change: (inout ServedAttribute) -> Void) {
    serve(info)
    change(&attributes[info.id, default: ServedAttribute(info)])
  }

  /// Changes the limits of a served attribute.
  mutating func limit(_ attribute: AttributeID, _ change: (inout AttributeLimits) -> Void) {
    if let index = attributes.index(forKey: attribute) { change(&attributes.values[index].limits) }
  }
}

typealias ContextHandler = @Sendable (inout ServerContext) -> Void
/// Takes the offset of the fields in the message (nil: left out) and the message. Returns the fields of the response as
/// one anonymous structure, nil for a status alone.
typealias CommandHandler = @Sendable (inout ServerContext, Int?, RawSpan) throws(StatusError) -> [UInt8]?

struct ServedAttribute: Sendable {
  let info: AttributeInfo
  /// The initial value of the declaration, or the zero value of the type: encoded, anonymous.
  let declaredInitial: [UInt8]
  var limits = AttributeLimits()
  /// Computes the value; nil for a stored attribute.
  var read: (@Sendable (inout ServerContext) -> [UInt8])?
  /// Checks or modifies a value that a client writes, before it is stored.
  var write: (@Sendable (inout ServerContext, [UInt8]) throws(StatusError) -> [UInt8])?
  var change: ContextHandler?
  /// Performs a change that the physical device makes; nil to set the value.
  var act: (@Sendable (inout ServerContext, [UInt8]) throws(StatusError) -> Void)?
  /// The values of an enumeration that the physical device can set; nil for all allowed ones.
  var actValues: Set<UInt64>?
  /// What determines the value at the start of the device.
  var source = AttributeSource.definition
  /// Whether the value survives a restart: non-volatile attributes, and writable fabric-scoped ones.
  var isStored: Bool

  init(_ info: AttributeInfo) {
    self.info = info
    isStored = info.quality.contains(.nonVolatile) || (info.quality.contains(.fabricScoped) && info.write != nil)
    declaredInitial = info.initial ?? info.schema.zero
  }

  /// Adds a handler that runs after the earlier ones.
  mutating func runAfterChange(_ body: @escaping ContextHandler) {
    guard let earlier = change else {
      change = body
      return
    }
    change = { context in
      earlier(&context)
      body(&context)
    }
  }

  var isList: Bool {
    switch info.schema {
    case .list, .nullable(.list): true
    default: false
    }
  }
}

/// What determines the value of an attribute at the start of the device.
package enum AttributeSource: Sendable {
  /// The definition, or the value that the device stored.
  case definition
  /// The start itself: a device that starts does not run.
  case start
  /// Other attributes, at all times.
  case attributes
}

/// A part of the physical device, such as a door.
struct ServedPart: Sendable {
  let values: [String]
  let expected: String?
  let act: @Sendable (inout ServerContext, String) throws(StatusError) -> Void
}

/// A class, so that a command is not copied when it runs.
final class ServedCommand: Sendable {
  let info: CommandInfo
  let run: CommandHandler

  init(info: CommandInfo, run: @escaping CommandHandler) { (self.info, self.run) = (info, run) }
}

/// The handler of a hook with any argument.
protocol AnyServedHook: AnyObject, Sendable {
  var name: String { get }
}

/// The handler of a hook.
final class ServedHook<Argument: Sendable>: AnyServedHook {
  let name: String
  let run: @Sendable (inout ServerContext, Argument) -> Void

  init(_ name: String, _ run: @escaping @Sendable (inout ServerContext, Argument) -> Void) {
    (self.name, self.run) = (name, run)
  }
}
