package import MakersClusters
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension ClusterServer {
  /// Serves a manufacturer's cluster: its mandatory elements, and the effects of its commands.
  /// - Parameter names: optional features by their codes, and optional attributes, commands and events.
  package static func makers(_ cluster: MakersCluster, serving names: [String] = []) -> ClusterServer {
    let type = ClusterCatalogue.add(cluster)
    let features = cluster.features.filter { feature in
      let conformance = try? Conformance(feature.conformance, features: cluster.features)
      return names.contains(feature.code) || conformance?.requires(ConformanceFacts(features: 0)) == true
    }
    var server = ClusterServer(type, features: features)
    // Elements may be mandatory with others. Each round but the last adds one.
    for _ in 0...cluster.elements.count {
      let before = server.elementCount
      let facts = type.facts(
        about: ServedElements(
          features: server.features, attributes: Set(server.attributes.keys), commands: Set(server.commands.keys),
          events: Set(server.events.keys)))
      server = server.changed { server in
        for element in cluster.elements {
          switch element {
          case .attribute(let info) where names.contains(info.name) || info.conformance.requires(facts):
            server.serve(info)
          case .event(let info) where names.contains(info.name) || info.conformance.requires(facts):
            server.events[info.id] = info
          case .command(let info) where names.contains(info.name) || info.conformance.requires(facts):
            server.commands[info.id] = command(info, cluster.effects[info.id] ?? [])
          default: break
          }
        }
      }
      if server.elementCount == before { break }
    }
    return server.changed { server in
      for id in server.attributes.keys {
        server.timers[.transition(id)] = { $0.advanceTransition(of: id) }
      }
    }
  }

  private var elementCount: Int { attributes.count + commands.count + events.count }

  private static func command(_ info: CommandInfo, _ effects: [ClusterEffect]) -> ServedCommand {
    ServedCommand(info: info) { (context, offset, bytes) throws(StatusError) in
      var run = EffectRun(fields: try EffectRun.fields(of: info, at: offset, bytes))
      // All effects are determined before the first one changes anything.
      for effect in effects { try run.add(effect, info, &context) }
      for attribute in run.values.keys.sorted() {
        guard let value = run.values[attribute] else { continue }
        context.setEndingTransition(attribute, value)
      }
      for (attribute, transition) in run.transitions { context.start(transition, of: attribute) }
      for (event, payload) in run.events {
        let path = ConcreteEventPath(context.endpoint, context.cluster, event.id)
        let fabric = event.isFabricSensitive ? context.subject.fabric : nil
        context.node.append(event: event, path, payload: payload, fabric: fabric)
      }
      return run.answer
    }
  }
}

/// The effects of one command: the values, transitions and events that it causes.
private struct EffectRun {
  /// The fields of the command by number; without absent ones.
  let fields: [UInt8: TLVElement.Value]
  private(set) var values: [AttributeID: TLVElement.Value] = [:]
  private(set) var transitions: [(attribute: AttributeID, ValueTransition)] = []
  private(set) var events: [(EventInfo, payload: [UInt8])] = []
  /// The fields of the response.
  private(set) var answer: [UInt8]?

  init(fields: [UInt8: TLVElement.Value]) { self.fields = fields }

  /// Decodes the fields of a command.
  /// - Parameter offset: nil if they were left out.
  static func fields(
    of info: CommandInfo, at offset: Int?, _ bytes: RawSpan
  ) throws(StatusError) -> [UInt8: TLVElement.Value] {
    var element = TLVElement(.structure([]))
    if let offset {
      do throws(TLVError) {
        var reader = TLVReader(at: offset)
        guard try reader.next(bytes) else { throw .truncated }
        element = try TLVElement(current: &reader, bytes)
      } catch {
        throw StatusError(commandFields: error)
      }
    }
    guard case .structure = element.value, case .structure(let members) = info.request else {
      throw StatusError(.invalidCommand)
    }
    var fields: [UInt8: TLVElement.Value] = [:]
    for member in members {
      guard let value = element[member.id]?.value else {
        guard member.isOptional else { throw StatusError(.invalidCommand) }
        continue
      }
      if member.schema.problem(of: value) != nil {
        // An optional field that is null is absent.
        if member.isOptional, value == .null { continue }
        throw StatusError(member.schema.isNumber && value.isNumber ? .constraintError : .invalidCommand)
      }
      fields[member.id] = value
    }
    return fields
  }

  /// Determines the changes of an effect: none if its attribute or event is not served, or its field is absent.
  mutating func add(
    _ effect: ClusterEffect, _ info: CommandInfo, _ context: inout ServerContext
  ) throws(StatusError) {
    switch effect {
    case .set(let attribute, let value):
      guard let value = self.value(value, &context) else { return }
      try set(attribute, value, &context)
    case .toggle(let attribute):
      guard case .boolean(let value)? = self.value(.attribute(attribute), &context) else { return }
      try set(attribute, .boolean(!value), &context)
    case .add(let attribute, let difference):
      guard let old = value(.attribute(attribute), &context)?.wide,
        let difference = value(difference, &context)?.wide, let range = context.wideRange(of: attribute)
      else { return }
      let sum = min(max(old + difference, range.lowerBound), range.upperBound)
      try set(attribute, Int64(exactly: sum).map { .signed($0) } ?? .unsigned(UInt64(clamping: sum)), &context)
    case .transition(let attribute, let target, let time, let unit):
      guard let target = value(target, &context) else { return }
      let count = min(value(time, &context)?.number ?? 0, 1 << 32)
      let old = value(.attribute(attribute), &context)?.number
      let before = values[attribute]
      try set(attribute, target, &context)
      guard count > 0, let old, let new = target.number, old != new, values[attribute] != nil else { return }
      values[attribute] = before
      transitions.append((attribute, ValueTransition(from: old, to: new, over: unit * count, at: context.now)))
    case .emit(let event, let values):
      guard context.node.clusters[context.current].server.events[event.id] != nil else { return }
      let payload = structure(event.payload, values, &context)
      // A report could not contain the event.
      var report = ReportDataWriter(subscriptionID: .max, maximumPayload: InteractionLimits.maximumPayload)
      let path = ConcreteEventPath(context.endpoint, context.cluster, event.id)
      let longest = EventData(
        path, number: .max, priority: event.priority, timestamp: .epoch(.max), payload: payload)
      guard report.append(longest) else { throw StatusError(.resourceExhausted) }
      events.append((event, payload))
    case .answer(let values):
      let fields = structure(info.response?.schema ?? .any, values, &context)
      var response = InvokeResponseWriter()
      let path = CommandPath(
        endpoint: context.endpoint, cluster: context.cluster, command: info.response?.id ?? info.id)
      guard response.append(path, ref: .max, fields: fields) else { throw StatusError(.resourceExhausted) }
      answer = fields
    }
  }

  private mutating func set(
    _ attribute: AttributeID, _ value: TLVElement.Value, _ context: inout ServerContext
  ) throws(StatusError) {
    guard let info = context.info(context.path(attribute)) else { return }
    let value = value.converted(to: info.schema)
    try context.check(context.path(attribute), TLVElement(value).encoded)
    values[attribute] = value
    transitions.removeAll { $0.attribute == attribute }
  }

  /// Returns the value, with the preceding effects; nil for an absent field and an attribute that isn't served.
  private func value(_ value: EffectValue, _ context: inout ServerContext) -> TLVElement.Value? {
    switch value {
    case .constant(let value): return value
    case .field(let number): return fields[number]
    case .attribute(let attribute):
      return values[attribute] ?? context.decoded(attribute)
    }
  }

  /// Returns an encoded structure. Fields without a value are zero, or absent if they are optional.
  private func structure(
    _ schema: Schema, _ values: [UInt8: EffectValue], _ context: inout ServerContext
  ) -> [UInt8] {
    guard case .structure(let members) = schema else { return Schema.structure([]).zero }
    var writer = TLVWriter()
    writer.startStructure()
    for member in members {
      if let value = values[member.id].flatMap({ self.value($0, &context) })?.converted(to: member.schema),
        member.schema.problem(of: value) == nil
      {
        TLVElement(value, tag: .context(member.id)).write(to: &writer)
      } else if member.id == GlobalAttribute.fabricIndexField {
        context.subject.fabric.encode(to: &writer, .context(member.id))
      } else if !member.isOptional {
        writer.write(encoded: member.schema.zero, .context(member.id))
      }
    }
    writer.end()
    return writer.bytes
  }
}

/// The running transitions of a server.
private struct RunningTransitions: Sendable {
  var byAttribute: [AttributeID: ValueTransition] = [:]
}

extension ServerContext {
  fileprivate func path(_ attribute: AttributeID) -> ConcreteAttributePath {
    ConcreteAttributePath(endpoint, cluster, attribute)
  }

  /// Returns the range of an integer; the numbers of 64 bits are beyond the range of Int64.
  fileprivate mutating func wideRange(of attribute: AttributeID) -> ClosedRange<Int128>? {
    guard let range = range(of: path(attribute)), let info = info(path(attribute)) else { return nil }
    let (lowest, highest) = (Int128(range.lowerBound), Int128(range.upperBound))
    switch (info.schema, info.constraint) {
    case (.unsigned(bits: 64), .none): return lowest...Int128(UInt64.max)
    case (.nullable(.unsigned(bits: 64)), .none): return lowest...(Int128(UInt64.max) - 1)
    default: return lowest...highest
    }
  }

  fileprivate mutating func decoded(_ attribute: AttributeID) -> TLVElement.Value? {
    encoded(path(attribute)).flatMap { try? TLVElement(decoding: $0) }?.value
  }

  /// Sets an attribute, and ends its transition.
  fileprivate mutating func setEndingTransition(_ attribute: AttributeID, _ value: TLVElement.Value) {
    cancel(.transition(attribute))
    set(current, attribute, TLVElement(value).encoded, reporting: .now)
  }

  fileprivate mutating func start(_ transition: ValueTransition, of attribute: AttributeID) {
    self[scratch: RunningTransitions.self, default: RunningTransitions()].byAttribute[attribute] = transition
    if let next = transition.nextChange { schedule(.transition(attribute), at: next) }
  }

  /// Sets the next value of a transition. It ends if a client or the device has changed the attribute meanwhile.
  fileprivate mutating func advanceTransition(of attribute: AttributeID) {
    guard var transition = self[scratch: RunningTransitions.self]?.byAttribute[attribute], hasPower,
      let info = info(path(attribute)),
      decoded(attribute)?.number == transition.value
    else { return }
    transition.advance(to: now)
    let value = TLVElement.Value.signed(transition.value).converted(to: info.schema)
    set(current, attribute, TLVElement(value).encoded, reporting: .now)
    start(transition, of: attribute)
  }
}

extension TLVElement.Value {
  /// The integer; nil for a value of another type.
  fileprivate var wide: Int128? {
    switch self {
    case .unsigned(let number): Int128(number)
    case .signed(let number): Int128(number)
    default: nil
    }
  }

  /// Returns a number in the representation of the type, if it can be represented.
  fileprivate func converted(to schema: Schema) -> TLVElement.Value {
    switch (self, schema) {
    case (_, .nullable(let wrapped)): converted(to: wrapped)
    case (.unsigned(let number), .signed): Int64(exactly: number).map { .signed($0) } ?? self
    case (.signed(let number), .unsigned), (.signed(let number), .enumeration), (.signed(let number), .bitmap):
      UInt64(exactly: number).map { .unsigned($0) } ?? self
    default: self
    }
  }
}
