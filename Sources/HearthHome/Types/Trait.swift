internal import MatterClusters

/// A snapshot of a cluster of an endpoint: a value, never a live reference. See <doc:TheHomeModel>, “Objects”.
///
/// Attributes are read as `trait.onOff` or `trait.attributes.onOff`; commands are methods: `try await trait.toggle()`.
/// All attributes and commands that the cluster declares are available by name.
///
/// A manufacturer declares a cluster and obtains its trait: `enum ExampleOrganization { typealias SpinnerTrait =
/// Trait<Spinner> }`.
@dynamicMemberLookup public struct Trait<C: Cluster>: Sendable, Identifiable, Equatable {
  /// The untyped trait.
  package private(set) var untyped: AnyTrait

  /// Wraps an untyped trait; nil for another cluster.
  public init?(_ trait: AnyTrait) {
    guard Self.isServed(by: trait.id.cluster) else { return nil }
    untyped = trait
  }

  /// Whether a cluster is represented by this trait. Bridged Device Basic Information has the ids and types of Basic
  /// Information (Matter Core § 9.13), and is represented by its trait.
  public static func isServed(by cluster: ClusterID) -> Bool {
    cluster == C.id || (C.id == BasicInformation.id && cluster == BridgedDeviceBasicInformation.id)
  }

  public var id: TraitID { untyped.id }
  public var endpoint: EndpointID { untyped.id.endpoint }
  public var metadata: TraitMetadata { untyped.metadata }
  /// Whether the attributes may be outdated because the device is not online.
  public var isStale: Bool { untyped.isStale }
  public var attributes: TraitAttributes<C> { TraitAttributes(trait: untyped) }

  /// An attribute by its name; see ``TraitAttributes``.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    attributes[dynamicMember: key]
  }

  /// A nullable attribute by its name; see ``TraitAttributes``.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    attributes[dynamicMember: key]
  }

  // MARK: Supported elements

  /// Whether the device reports the attribute as supported; false if unknown.
  public func supports<Value>(_ attribute: Attribute<C, Value>) -> Bool { untyped.supports(attribute.id) }
  /// Whether the device reports the command as accepted; false if unknown.
  public func supports<Request, Response>(_ command: Command<C, Request, Response>) -> Bool {
    untyped.supports(command.id)
  }
  /// Whether the device reports the feature as supported; false if unknown.
  public func supports(_ feature: Feature) -> Bool { untyped.supports(feature) }

  // MARK: Commands

  /// Returns the same trait with a timeout for which commands and writes wait for an unreachable device: `try await
  /// trait.waiting(.seconds(5)).on()`.
  public func waiting(_ timeout: Duration) -> Self { modified(self) { $0.untyped.timeout = timeout } }

  /// A callable command by its name.
  public subscript<Request, Response>(
    dynamicMember key: KeyPath<C.Type, Command<C, Request, Response>>
  ) -> TraitCommand<C, Request, Response> { TraitCommand(trait: self, command: C.self[keyPath: key]) }

  /// Invokes a command by its declaration, in a timed interaction if required.
  /// - Throws: ``HomeError`` `unreachable` at once if the device is unreachable, unless ``waiting(_:)`` was used;
  ///   `refused` or `accessDenied` for an error in the status or the response command, which
  ///   ``HomeError/response(to:)`` returns.
  @discardableResult
  public func invoke<Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request
  ) async throws(HomeError) -> Response {
    let isTimed = command.details.quality.contains(.timed)
    return try command.response(try await untyped.invoke(command.id, fields: fields.tlv, isTimed: isTimed))
  }
}

/// A callable command of a trait.
public struct TraitCommand<C: Cluster, Request: ModelStruct, Response: ModelStruct>: Sendable {
  package let trait: Trait<C>
  package let command: Command<C, Request, Response>

  /// Invokes the command; see ``Trait/invoke(_:_:)``.
  @discardableResult
  public func callAsFunction(_ fields: Request) async throws(HomeError) -> Response {
    try await trait.invoke(command, fields)
  }

  /// Whether the device reports the command as accepted; false if unknown.
  public var isSupported: Bool { trait.supports(command) }
}

extension TraitCommand where Request == NoFields {
  /// Invokes a command without fields; see ``Trait/invoke(_:_:)``.
  @discardableResult
  public func callAsFunction() async throws(HomeError) -> Response { try await trait.invoke(command, NoFields()) }
}
