public import MatterModel
public import MatterProtocol

/// The commands of a controller. Each returns at once; its result is an event.
extension ControllerEngine {
  /// Default timeout of an operation.
  public static let usualTimeout: Duration = .seconds(30)
  private static let sizeLimit = "a message to a device has at most \(InteractionLimits.maximumPayload) bytes"

  // MARK: Requests

  /// Reads attributes and events; wildcards are allowed. Completes with ``OperationOutcome/report(_:)``.
  public mutating func read(
    _ node: NodeID, _ paths: [AttributePath], events: [EventPath] = [], eventMin: UInt64? = nil,
    isFabricFiltered: Bool = true, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let request = ReadRequest(
      attributePaths: paths, eventPaths: events,
      eventFilters: eventMin.map { [EventFilter(eventMin: $0)] } ?? [], isFabricFiltered: isFabricFiltered)
    guard Self.fitsDatagram(request, parts: paths.count + events.count) else { return refuse(.tooManyPaths) }
    return start(.request(.read(request)), node, timeout, at: now)
  }

  /// Writes attributes, in as many messages as needed. Completes with ``OperationOutcome/written(_:)``.
  /// - Parameter timed: timeout of the timed interaction, or nil for an untimed write.
  public mutating func write(
    _ node: NodeID, _ writes: [AttributeWrite], timed: Duration? = nil, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    do {
      let chunks = try WriteRequestChunks(writes, isTimed: timed != nil)
      return start(.request(.write(chunks, timed: timed)), node, timeout, at: now)
    } catch {
      guard error == .tooLarge else { return refuse(.interaction(error)) }
      return refuse(.invalidRequest("the value is too long; \(Self.sizeLimit)"))
    }
  }

  /// Invokes commands, in batches as large as the node supports. Completes with ``OperationOutcome/invoked(_:)``; a
  /// command that the node refuses is among the results with its status.
  /// - Parameter timed: timeout of the timed interaction, or nil for an untimed invoke.
  public mutating func invoke(
    _ node: NodeID, _ commands: [CommandData], timed: Duration? = nil, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    guard !commands.isEmpty else { return refuse(.invalidRequest("invoke: no commands")) }
    let fit = commands.allSatisfy { command in
      Self.fitsDatagram(
        InvokeRequest([command], isTimed: timed != nil), parts: 1, content: command.fields?.count ?? 0)
    }
    guard fit else { return refuse(.invalidRequest("the request is too long; \(Self.sizeLimit)")) }
    invokes = invokes.saturatingAdd(UInt64(commands.count))
    return start(.request(.invoke(commands, timed: timed)), node, timeout, at: now)
  }

  /// Opens a session with a node unless one is established. Completes with ``OperationOutcome/connected(_:)``.
  public mutating func connect(
    _ node: NodeID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    start(.connect, node, timeout, at: now)
  }

  // MARK: Administration

  /// Removes the fabric from a node and the node from the controller. Completes with
  /// ``OperationOutcome/removed(_:_:)``.
  /// - Parameter force: removes the node from the controller even if the node cannot be reached.
  public mutating func removeNode(
    _ node: NodeID, force: Bool = false, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    start(.remove(isForced: force, index: nil), node, timeout, at: now)
  }

  /// Opens a window in which another administrator may commission the node. Completes with
  /// ``OperationOutcome/windowOpened(_:)``. Matter Core § 11.19.8.
  public mutating func openCommissioningWindow(
    _ node: NodeID, _ request: CommissioningWindowRequest = .init(), timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    do throws(ControllerError) {
      let (window, command) = try request.window(of: peers[node]?.record, random: &random)
      return start(.openWindow(window, command), node, timeout, at: now)
    } catch {
      return refuse(error)
    }
  }

  // MARK: Discovery

  /// Reports services that are found and lost. Completes with ``OperationOutcome/discovered`` after the timeout.
  /// - Parameter timeout: nil: until the operation is canceled.
  public mutating func discover(_ query: DiscoveryQuery, timeout: Duration?, at now: Instant) -> OperationID {
    let id = operations.add(.discover(query), deadline: timeout.map { now + $0 })
    schedule(operations[id]?.deadline)
    browse(query)
    for service in browser.known(query) { emit(.serviceFound(id, service)) }
    return id
  }

  // MARK: Cancellation

  /// Cancels an operation, which completes with ``ControllerError/canceled``. Changes that the device has made stay,
  /// but a commissioning in progress is reverted.
  public mutating func cancel(_ id: OperationID, at now: Instant) {
    guard operations[id] != nil else { return }
    if commissionings[id] != nil {
      failCommissioning(id, .canceled, at: now)
    } else {
      complete(id, .failure(.canceled), at: now)
    }
    settle(at: now)
  }
}

/// Requests with the typed names of a cluster declaration.
extension ControllerEngine {
  /// Reads one attribute. Decode the report with `ReassembledReport.value(of:on:)`.
  public mutating func read<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID, of node: NodeID, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    read(node, [AttributePath(attribute.path(on: endpoint))], timeout: timeout, at: now)
  }

  /// Writes one attribute, in a timed interaction if the attribute requires one.
  public mutating func write<C: Cluster, Value: ModelValue>(
    _ value: Value, to attribute: Attribute<C, Value>, on endpoint: EndpointID, of node: NodeID,
    dataVersion: UInt32? = nil, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let write = AttributeWrite(attribute.path(on: endpoint), dataVersion: dataVersion, value: value.tlv)
    let timed: Duration? = attribute.details.quality.contains(.timed) ? Self.usualTimedTimeout : nil
    return self.write(node, [write], timed: timed, timeout: timeout, at: now)
  }

  /// Invokes one command, in a timed interaction if the command requires one. Decode the result with
  /// `Array.response(of:)`.
  public mutating func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID, of node: NodeID,
    timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let timed: Duration? = command.details.quality.contains(.timed) ? Self.usualTimedTimeout : nil
    let data = CommandData(command.path(on: endpoint), fields: fields.tlv)
    return invoke(node, [data], timed: timed, timeout: timeout, at: now)
  }

  /// Default timeout of timed interactions.
  public static let usualTimedTimeout: Duration = .seconds(10)
}

extension ControllerEngine {
  /// Returns whether a message fits a datagram. Encodes it only if it is long.
  /// - Parameters:
  ///   - parts: the number of its paths, which with their containers have at most 32 bytes each.
  ///   - content: the number of further bytes.
  static func fitsDatagram<Message: InteractionMessage>(
    _ message: @autoclosure () -> Message, parts: Int, content: Int = 0
  ) -> Bool {
    64 + 32 * parts + content <= InteractionLimits.maximumPayload
      || message().encoded.count <= InteractionLimits.maximumPayload
  }
}

extension ControllerError {
  /// A read or subscribe request does not fit a message.
  static let tooManyPaths = ControllerError.invalidRequest("the request is too long; use fewer paths, or wildcards")
}
