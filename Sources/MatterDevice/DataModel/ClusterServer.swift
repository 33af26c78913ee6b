public import MatterModel

/// How one cluster behaves on an endpoint: what it serves, its first values, and what its commands do.
///
///     ClusterServer(OnOff.self, features: [OnOff.lighting])
///       .initial(OnOff.startUpOnOff, .value(.off))
///       .on(OnOff.toggle) { context, _ in context[OnOff.onOff].toggle() }
///
/// What is mandatory with the features is served without being named, commands if they have a handler; provisional elements
/// have to be named. The value is immutable once built, shared by all devices that use it, and has no state: state lives in the node and is reached
/// through the ``ServerContext`` that every handler is given.
public struct ClusterServer: Sendable {
  /// As it is declared.
  public let cluster: any Cluster.Type
  /// The cluster's.
  public let id: ClusterID
  /// The FeatureMap.
  public let features: UInt32

  var attributes: [AttributeID: ServedAttribute] = [:]
  var commands: [CommandID: ServedCommand] = [:]
  var events: [EventID: EventInfo] = [:]
  var starts: [ContextHandler] = []
  var timers: [String: ContextHandler] = [:]
  var fabricRemovals: [@Sendable (inout ServerContext, FabricIndex) -> Void] = []
  var hooks: [String: @Sendable (inout ServerContext, any Sendable) -> Void] = [:]

  /// A server of `cluster` with what is mandatory for these features.
  public init<C: Cluster>(_ cluster: C.Type, features: [Feature] = []) {
    self.cluster = cluster
    id = cluster.id
    let mask = features.reduce(0) { $0 | $1.mask }
    self.features = mask
    for element in cluster.elements {
      switch element.info {
      case .attribute(let info) where info.quality.contains(.provisional): break
      case .attribute(let info) where info.conformance.requires(mask): attributes[info.id] = ServedAttribute(info)
      case .event(let info) where info.conformance.requires(mask): events[info.id] = info
      default: break
      }
    }
  }

  // MARK: What is served

  /// Serves optional attributes and events too.
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

  /// Serves the attribute, and sets what it starts with where nothing was stored.
  public func initial<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) -> Self {
    changed { server in
      server.serve(attribute.details)
      server.attributes[attribute.id]?.initial = value.tlv
    }
  }

  /// Keeps the attribute's value over a restart though the standard does not ask for it.
  public func storing<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Self {
    changed { server in
      server.serve(attribute.details)
      server.attributes[attribute.id]?.isStored = true
    }
  }

  /// Serves the attribute with an encoded first value (one element, anonymous tag). What is no value of the
  /// attribute's type, and attributes that the cluster does not have, are passed over: see ``accepts(initial:for:)``.
  public func initial(encoded value: [UInt8], for attribute: AttributeID) -> Self {
    guard accepts(initial: value, for: attribute), let info = cluster.attributes.first(where: { $0.id == attribute })
    else { return self }
    return changed { server in
      server.serve(info)
      server.attributes[attribute]?.initial = value
    }
  }

  /// Whether the cluster declares the attribute and the bytes are one value of its type.
  public func accepts(initial value: [UInt8], for attribute: AttributeID) -> Bool {
    cluster.attributes.first { $0.id == attribute }?.isWellFormed(value) ?? false
  }

  /// Throws unless the attribute may start with a value: by its type, its constraint, and what the attributes that limit it start
  /// with. `unsupportedAttribute`, `invalidDataType` or `constraintError`.
  public func check(initial value: [UInt8], for attribute: AttributeID) throws(StatusError) {
    guard let served = attributes[attribute] else { throw StatusError(.unsupportedAttribute) }
    try served.check(value) { attributes[$0]?.initial }
  }

  /// The numbers that the attribute may start with; nil: it is not a number.
  public func range(of attribute: AttributeID) -> ClosedRange<Int64>? {
    attributes[attribute]?.range { attributes[$0]?.initial }
  }

  // MARK: Building

  /// Limits a number by other attributes of the cluster, whoever changes it.
  func limiting<C: Cluster, Value: ModelValue, Limit: ModelValue>(
    _ attribute: Attribute<C, Value>, from lowest: Attribute<C, Limit>? = nil, to highest: Attribute<C, Limit>? = nil,
    isHighestExcluded: Bool = false
  ) -> Self {
    changed {
      $0.attributes[attribute.id]?.limits = AttributeLimits(
        lowest: lowest?.id, highest: highest?.id, isHighestExcluded: isHighestExcluded)
    }
  }

  func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }

  mutating func serve(_ info: AttributeInfo) {
    if attributes[info.id] == nil { attributes[info.id] = ServedAttribute(info) }
  }

  /// The names of what the standard demands with these features and what is not served: commands without a handler.
  public var missingCommands: [String] {
    cluster.commands.filter {
      $0.conformance.requires(features) && !$0.quality.contains(.provisional) && commands[$0.id] == nil
    }.map(\.name)
  }
}

typealias ContextHandler = @Sendable (inout ServerContext) -> Void
/// Runs with where the fields lie in the message (nil: left out) and the message. Returns the answer's fields as one
/// anonymous structure, nil for a status alone.
typealias CommandHandler = @Sendable (inout ServerContext, Int?, RawSpan) throws(StatusError) -> [UInt8]?

struct ServedAttribute: Sendable {
  let info: AttributeInfo
  /// Encoded, anonymous.
  var initial: [UInt8]
  var limits = AttributeLimits()
  /// Computes the value; nil: it is stored.
  var read: (@Sendable (inout ServerContext) -> [UInt8])?
  /// Checks or changes what a client writes, before it is stored.
  var write: (@Sendable (inout ServerContext, [UInt8]) throws(StatusError) -> [UInt8])?
  var change: ContextHandler?
  /// Whether the value survives a restart: what the standard calls non-volatile, and what belongs to fabrics.
  var isStored: Bool

  init(_ info: AttributeInfo) {
    self.info = info
    isStored = info.quality.contains(.nonVolatile) || (info.quality.contains(.fabricScoped) && info.write != nil)
    initial = info.initial ?? info.schema.zero
  }

  var isList: Bool { if case .list = info.schema { true } else { false } }
}

struct ServedCommand: Sendable {
  let info: CommandInfo
  let run: CommandHandler
}
