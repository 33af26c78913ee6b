public import MatterModel
internal import MatterProtocol

/// A named entry point of a server for the other servers of the node, where a command or an attribute is not suitable.
///
///     extension LevelControlServer { static let onOffChanged = ServerHook<LevelControl, Bool>("onOffChanged") }
public struct ServerHook<C: Cluster, Argument: Sendable>: Sendable {
  /// Unique within the cluster's server.
  public let name: String
  public init(_ name: String) { self.name = name }
}

extension ClusterServer {
  // MARK: Commands

  /// Handles a command that is answered with a status. The body throws to refuse it.
  public func on<C: Cluster, Request: ModelStruct>(
    _ command: Command<C, Request, NoFields>,
    _ body: @escaping @Sendable (inout ServerContext, Request) throws(StatusError) -> Void
  ) -> Self {
    let run: CommandHandler = { (context, fields, bytes) throws(StatusError) in
      try body(&context, try Self.decode(Request.self, at: fields, bytes))
      return nil
    }
    return changed { $0.commands[command.id] = ServedCommand(info: command.details, run: run) }
  }

  /// Handles a command that is answered with a response command. The body throws to answer with a status instead.
  public func answer<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>,
    _ body: @escaping @Sendable (inout ServerContext, Request) throws(StatusError) -> Response
  ) -> Self {
    let run: CommandHandler = { (context, fields, bytes) throws(StatusError) in
      try body(&context, try Self.decode(Request.self, at: fields, bytes)).tlv
    }
    return changed { $0.commands[command.id] = ServedCommand(info: command.details, run: run) }
  }

  private static func decode<Fields: ModelStruct>(
    _: Fields.Type, at offset: Int?, _ bytes: RawSpan
  ) throws(StatusError) -> Fields {
    do throws(TLVError) {
      guard let offset else { return try Fields(tlv: [0x15, 0x18]) }
      var reader = TLVReader(at: offset)
      guard try reader.next(bytes) else { throw .truncated }
      return try Fields(from: &reader, bytes)
    } catch {
      throw StatusError(commandFields: error)
    }
  }

  // MARK: Attributes

  /// Serves the attribute and computes its value at each read. Nothing is stored.
  public func onRead<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ body: @escaping @Sendable (inout ServerContext) -> Value
  ) -> Self {
    let read: @Sendable (inout ServerContext) -> [UInt8] = { body(&$0).tlv }
    return changed { $0.modify(attribute.details) { $0.read = read } }
  }

  /// Checks or modifies a value that a client writes, after its type and constraint were checked and before it is
  /// stored. The body throws to refuse it. A list is passed whole, with the entries of all fabrics, whichever part was
  /// written.
  public func onWrite<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>,
    _ body: @escaping @Sendable (inout ServerContext, inout Value) throws(StatusError) -> Void
  ) -> Self {
    let write: @Sendable (inout ServerContext, [UInt8]) throws(StatusError) -> [UInt8] = {
      (context, bytes) throws(StatusError) in
      var value: Value
      do throws(TLVError) { value = try Value(tlv: bytes) } catch { throw StatusError(attributeValue: error) }
      try body(&context, &value)
      return value.tlv
    }
    return changed { $0.modify(attribute.details) { $0.write = write } }
  }

  /// Runs after the value changed, whether a client, a server or the physical device changed it; after the handlers that
  /// were added before.
  public func onChange<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ body: @escaping @Sendable (inout ServerContext) -> Void
  ) -> Self {
    changed { $0.modify(attribute.details) { $0.runAfterChange(body) } }
  }

  /// The same for an attribute by its ID; no effect if it is not served.
  package func onChange(
    of attribute: AttributeID, _ body: @escaping @Sendable (inout ServerContext) -> Void
  ) -> Self {
    guard let info = attributes[attribute]?.info else { return self }
    return changed { $0.modify(info) { $0.runAfterChange(body) } }
  }

  /// Performs changes that the physical device makes, instead of setting the value at once. The body throws if the
  /// device can't do it now.
  public func onAct<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>,
    _ body: @escaping @Sendable (inout ServerContext, Value) throws(StatusError) -> Void
  ) -> Self {
    let act: @Sendable (inout ServerContext, [UInt8]) throws(StatusError) -> Void = {
      (context, bytes) throws(StatusError) in
      if let value = try? Value(tlv: bytes) { try body(&context, value) }
    }
    return changed { $0.modify(attribute.details) { $0.act = act } }
  }

  /// Names the values of an enumeration that the handler of `onAct` accepts.
  func acting<C: Cluster, Value: WireCode>(_ attribute: Attribute<C, Value>, among values: [Value]) -> Self {
    changed { $0.modify(attribute.details) { $0.actValues = Set(values.map { UInt64($0.rawValue) }) } }
  }

  /// Serves an attribute whose value each start of the device resets.
  func resetting<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Self {
    changed { $0.modify(attribute.details) { $0.source = .start } }
  }

  /// Serves an attribute that follows from others, so that neither a definition nor the physical device can set it.
  func deriving<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Self {
    onAct(attribute) { _, _ throws(StatusError) in throw StatusError(.invalidInState) }
      .changed { $0.modify(attribute.details) { $0.source = .attributes } }
  }

  /// Follows a part of the physical device that no attribute describes, such as its door: `hearth sim set
  /// Fridge.door=open`. Several servers of an endpoint may follow the same part. The body throws if the part can't move.
  /// - Parameter values: The states of the part, the usual one first. Empty for a part that takes a text, such as a keypad;
  ///   the body throws `constraintError` for a text that it does not take.
  /// - Parameter expected: The texts that it takes, for messages: "a level such as 40%".
  public func onPart(
    _ name: String, _ values: [String], expected: String? = nil,
    _ body: @escaping @Sendable (inout ServerContext, String) throws(StatusError) -> Void
  ) -> Self {
    changed { $0.parts[name] = ServedPart(values: values, expected: expected, act: body) }
  }

  // MARK: Life cycle

  /// Runs once when the device starts, after all stored values were loaded, in the order of endpoints and clusters.
  public func onStart(_ body: @escaping @Sendable (inout ServerContext) -> Void) -> Self {
    changed { $0.starts.append(body) }
  }

  /// Runs once after the ``onStart(_:)`` handlers of all clusters, so that a change can act on any of them.
  package func onStarted(_ body: @escaping @Sendable (inout ServerContext) -> Void) -> Self {
    changed { $0.startedHandlers.append(body) }
  }

  /// Runs when the power of a bridged device is cut, before it is unreachable. Attributes keep their values meanwhile.
  package func onPowerLoss(_ body: @escaping @Sendable (inout ServerContext) -> Void) -> Self {
    changed { $0.powerLosses.append(body) }
  }

  /// Runs before the device stops or the power of a bridged device is cut, so that the server stores the state that it
  /// stores less often than it changes. The body changes no attribute. It does not run before a kill.
  func onStop(_ body: @escaping ContextHandler) -> Self { changed { $0.stops.append(body) } }

  /// Runs when a timer that was set with ``ServerContext/schedule(_:at:)`` comes due.
  public func onTimer(_ timer: TimerID, _ body: @escaping @Sendable (inout ServerContext) -> Void) -> Self {
    changed { $0.timers[timer] = body }
  }

  /// Runs after the UTC or local time of the node became known or unknown, or changed by a step.
  public func onClockChange(_ body: @escaping @Sendable (inout ServerContext) -> Void) -> Self {
    changed { $0.clockChanges.append(body) }
  }

  /// Runs when the timer comes due, except without power: a bridged device is started again when its power returns.
  func onPoweredTimer(_ timer: TimerID, _ body: @escaping ContextHandler) -> Self {
    onTimer(timer) { context in if context.hasPower { body(&context) } }
  }

  /// Runs after a fabric was removed from the node. Its entries of fabric-scoped lists are removed automatically
  /// before.
  public func onFabricRemoved(_ body: @escaping @Sendable (inout ServerContext, FabricIndex) -> Void) -> Self {
    changed { $0.fabricRemovals.append(body) }
  }

  /// Provides files to the nodes of the device's fabrics over BDX. The body returns nil for an unknown name.
  func onFileRequest(_ body: @escaping @Sendable (inout ServerContext, [UInt8]) -> [UInt8]?) -> Self {
    changed { $0.files = body }
  }

  /// Handles calls of the hook by other servers with ``ServerContext/call(_:_:on:)``.
  public func hook<C: Cluster, Argument: Sendable>(
    _ hook: ServerHook<C, Argument>, _ body: @escaping @Sendable (inout ServerContext, Argument) -> Void
  ) -> Self {
    changed {
      $0.hooks.removeAll { $0.name == hook.name }
      $0.hooks.append(ServedHook(hook.name, body))
    }
  }
}
