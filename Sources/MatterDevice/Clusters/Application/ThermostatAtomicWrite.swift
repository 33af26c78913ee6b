import MatterClusters
import MatterModel
import MatterProtocol

/// The command AtomicRequest, which begins and ends the atomic writes of presets and schedules. Matter Core § 7.15.6.
enum ThermostatAtomicWrite {
  /// The longest time from the beginning to the end of a write in milliseconds, for each attribute.
  private static let times: [AttributeID: UInt16] = [Thermostat.presets.id: 3000, Thermostat.schedules.id: 9000]

  static func serve(_ server: ClusterServer) -> ClusterServer {
    server
      .answer(Thermostat.atomicRequest) { context, request throws(StatusError) in
        let attributes = request.attributeRequests
        guard context.subject.kind == .case, !attributes.isEmpty, Set(attributes).count == attributes.count,
          attributes.allSatisfy({ context.isServed($0) })
        else { throw StatusError(.invalidCommand) }
        switch request.requestType {
        case .beginWrite: return try begin(attributes, request.timeout, &context)
        case .commitWrite:
          try checkOpen(attributes, context)
          return commit(attributes, &context)
        case .rollbackWrite:
          try checkOpen(attributes, context)
          end(&context)
          return response(attributes.map { ($0, .success) })
        default: throw StatusError(.invalidCommand)
        }
      }
      .onTimer(.atomicWriteEnd, end)
      .onFabricRemoved { context, fabric in if context.atomicWrite?.fabric == fabric { end(&context) } }
  }

  private static func begin(
    _ attributes: [AttributeID], _ timeout: UInt16?, _ context: inout ServerContext
  ) throws(StatusError) -> Thermostat.AtomicResponse {
    if let open = context.atomicWrite, open.belongs(to: context.subject) { throw StatusError(.invalidInState) }
    guard let timeout else { throw StatusError(.invalidCommand) }
    let statuses = attributes.map { attribute -> (AttributeID, StatusCode) in
      guard times[attribute] != nil else { return (attribute, .invalidCommand) }
      guard context.isAllowed(.manage, ClusterPath(context.endpoint, context.cluster)) else {
        return (attribute, .unsupportedAccess)
      }
      return (attribute, context.atomicWrite == nil ? .success : .busy)
    }
    let longest = attributes.reduce(0 as UInt16) { $0 + (times[$1] ?? 0) }
    let time = min(timeout, longest)
    if statuses.allSatisfy({ $0.1 == .success }) {
      context.atomicWrite = AtomicWrite(
        fabric: context.subject.fabric, node: context.subject.node, attributes: Set(attributes))
      context.schedule(.atomicWriteEnd, at: context.now + .milliseconds(Int64(time)))
    }
    return response(statuses, time)
  }

  /// Throws unless the client has an open write of exactly these attributes.
  private static func checkOpen(_ attributes: [AttributeID], _ context: ServerContext) throws(StatusError) {
    guard let open = context.atomicWrite, open.belongs(to: context.subject), open.attributes == Set(attributes) else {
      throw StatusError(.invalidInState)
    }
  }

  /// Stores all written values, or none of them.
  private static func commit(
    _ attributes: [AttributeID], _ context: inout ServerContext
  ) -> Thermostat.AtomicResponse {
    var presets = context.committedValue(Thermostat.presets) ?? []
    var schedules = context.committedValue(Thermostat.schedules) ?? []
    let written = context.atomicWrite?.values ?? [:]
    if let bytes = written[Thermostat.presets.id] { presets = (try? .init(tlv: bytes)) ?? presets }
    if let bytes = written[Thermostat.schedules.id] { schedules = (try? .init(tlv: bytes)) ?? schedules }
    let statuses = attributes.map { attribute -> (AttributeID, StatusCode) in
      do throws(StatusError) {
        if attribute == Thermostat.presets.id {
          try ThermostatPresets.checkComplete(presets, schedules, &context)
        } else {
          try ThermostatSchedules.checkComplete(schedules, presets, &context)
        }
        return (attribute, .success)
      } catch {
        return (attribute, error.status.code)
      }
    }
    end(&context)
    if statuses.allSatisfy({ $0.1 == .success }) {
      if written[Thermostat.presets.id] != nil {
        context[Thermostat.presets] = ThermostatHandles.complete(presets, \.presetHandle)
      }
      if written[Thermostat.schedules.id] != nil {
        context[Thermostat.schedules] = ThermostatHandles.complete(schedules, \.scheduleHandle)
        ThermostatSchedules.restart(&context)
      }
    }
    return response(statuses)
  }

  private static func end(_ context: inout ServerContext) {
    context.cancel(.atomicWriteEnd)
    context.atomicWrite = nil
  }

  private static func response(
    _ statuses: [(AttributeID, StatusCode)], _ time: UInt16? = nil
  ) -> Thermostat.AtomicResponse {
    Thermostat.AtomicResponse(
      statusCode: statuses.allSatisfy { $0.1 == .success } ? .success : .failure,
      attributeStatus: statuses.map { .init(attributeID: $0.0, statusCode: $0.1) }, timeout: time)
  }
}

/// The handles of presets and schedules: one byte each, since there are at most a few.
enum ThermostatHandles {
  /// Throws if a built-in entry is missing from the entries to store.
  static func checkBuiltIn(
    _ present: [(handle: Nullable<OctetString>, builtIn: Nullable<Bool>)], remainIn handles: Set<[UInt8]>
  ) throws(StatusError) {
    for entry in present where entry.builtIn.wrapped == true && !handles.contains(entry.handle.wrapped?.bytes ?? []) {
      throw StatusError(.constraintError)
    }
  }

  /// Returns the entries with free handles for those without one.
  static func complete<Entry>(_ entries: [Entry], _ handle: WritableKeyPath<Entry, Nullable<OctetString>>) -> [Entry] {
    var entries = entries
    for index in entries.indices where entries[index][keyPath: handle] == .null {
      let used = Set(entries.compactMap { $0[keyPath: handle].wrapped?.bytes })
      entries[index][keyPath: handle] = .value(OctetString([(1...UInt8.max).first { !used.contains([$0]) } ?? 0]))
    }
    return entries
  }
}

extension ServerContext {
  /// Returns whether the handler's own cluster serves an attribute.
  fileprivate func isServed(_ attribute: AttributeID) -> Bool { node.clusters[current].info(attribute) != nil }
}
