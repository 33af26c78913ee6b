internal import MatterClusters
public import MatterModel
internal import MatterProtocol

/// A type of trait, to ask a device or a device type for.
///
/// A maker declares a cluster and has its trait: `enum ExampleOrganization { typealias SpinnerTrait = Trait<Spinner> }`.
public protocol MatterTrait: Sendable, Identifiable, Equatable where ID == TraitID {
  /// Whether a cluster is seen as a trait of this type.
  static func isServed(by cluster: ClusterID) -> Bool
  /// Nil where the cluster is another.
  init?(_ trait: AnyTrait)
}

/// A cluster of an endpoint as it was at one moment: a value, never a live reference.
/// See <doc:TheHomeModel>, “Objects”.
///
/// Attributes are read as `trait.attributes.onOff`; commands are methods: `try await trait.toggle()`. Every attribute and
/// command that the cluster declares is there under its name.
@dynamicMemberLookup public struct Trait<C: Cluster>: MatterTrait {
  /// The same without the names of its cluster.
  public private(set) var untyped: AnyTrait

  public init?(_ trait: AnyTrait) {
    guard Self.isServed(by: trait.id.cluster) else { return nil }
    untyped = trait
  }

  /// What a bridge tells of a device behind it has the ids and types of Basic Information (Matter Core § 9.13), and stands
  /// for it.
  public static func isServed(by cluster: ClusterID) -> Bool {
    cluster == C.id || (C.id == BasicInformation.id && cluster == BridgedDeviceBasicInformation.id)
  }

  public var id: TraitID { untyped.id }
  public var endpoint: EndpointID { untyped.id.endpoint }
  public var metadata: TraitMetadata { untyped.metadata }
  /// Whether its attributes are what was known last, and not what is the case now: nothing reaches it, or nothing has yet.
  public var isStale: Bool { untyped.isStale }
  public var attributes: TraitAttributes<C> { TraitAttributes(trait: untyped) }

  // MARK: What it can do

  /// Whether the device says that it has the attribute; false while nobody knows.
  public func supports<Value>(_ attribute: Attribute<C, Value>) -> Bool { untyped.supports(attribute.id) }
  /// Whether the device says that it takes the command; false while nobody knows.
  public func supports<Request, Response>(_ command: Command<C, Request, Response>) -> Bool {
    untyped.supports(command.id)
  }
  /// Whether the device says that it has the feature; false while nobody knows.
  public func supports(_ feature: Feature) -> Bool { untyped.supports(feature) }

  // MARK: Commands

  /// The same trait, whose commands and writes wait so long for a device that can't be reached:
  /// `try await trait.waiting(.seconds(5)).on()`.
  public func waiting(_ timeout: Duration) -> Self {
    var copy = self
    copy.untyped = untyped.waiting(timeout)
    return copy
  }

  /// All commands by their names, those too that have a method with labels, with their fields as a whole:
  /// `trait.commands.moveToLevel(fields)`, `trait.commands.moveToLevel.isSupported`.
  public var commands: TraitCommands<C> { TraitCommands(trait: self) }

  /// A command by its name, to be called.
  public subscript<Request, Response>(
    dynamicMember key: KeyPath<C.Type, Command<C, Request, Response>>
  ) -> TraitCommand<C, Request, Response> { TraitCommand(trait: self, command: C.self[keyPath: key]) }

  /// Invokes a command by its declaration, in a timed interaction if it needs one.
  /// - Throws: ``HomeError`` `unreachable` at once where nothing reaches the device, unless ``waiting(_:)`` was asked for;
  ///   `refused` or `accessDenied` for what the device says, in its status or in the response command, which
  ///   ``HomeError/response(to:)`` has then.
  @discardableResult
  public func invoke<Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request
  ) async throws(HomeError) -> Response {
    let isTimed = command.details.quality.contains(.timed)
    let answer = try await untyped.invoke(command.id, fields: fields.tlv, isTimed: isTimed)
    guard let response = command.details.response else { return Response() }
    guard let answer else {
      throw HomeError(.refused, "the device answered \(C.name).\(command.name) with a status and nothing else")
    }
    if let failure = CommandOutcome.failure(answer, shape: response.schema) { throw failure.answered(answer) }
    do {
      return try Response(tlv: answer.fields ?? NoFields().tlv)
    } catch {
      throw HomeError(.refused, "the answer to \(C.name).\(command.name) can't be read: \(error)", cause: error)
    }
  }
}

/// The commands of a trait by the names of the standard; see ``Trait/commands``.
@dynamicMemberLookup public struct TraitCommands<C: Cluster>: Sendable {
  let trait: Trait<C>

  /// The command with this name in the cluster's declaration.
  public subscript<Request, Response>(
    dynamicMember key: KeyPath<C.Type, Command<C, Request, Response>>
  ) -> TraitCommand<C, Request, Response> { TraitCommand(trait: trait, command: C.self[keyPath: key]) }
}

/// A command of a trait, to be called like a method.
public struct TraitCommand<C: Cluster, Request: ModelStruct, Response: ModelStruct>: Sendable {
  let trait: Trait<C>
  let command: Command<C, Request, Response>

  /// Invokes the command; see ``Trait/invoke(_:_:)``.
  @discardableResult
  public func callAsFunction(_ fields: Request) async throws(HomeError) -> Response {
    try await trait.invoke(command, fields)
  }

  /// Whether the device says that it takes the command; false while nobody knows.
  public var isSupported: Bool { trait.supports(command) }
}

extension TraitCommand where Request == NoFields {
  /// Invokes a command that has no fields; see ``Trait/invoke(_:_:)``.
  @discardableResult
  public func callAsFunction() async throws(HomeError) -> Response { try await trait.invoke(command, NoFields()) }
}
