internal import Glibc
internal import HomeControl
internal import HomeModel
internal import MatterClusters
internal import MatterProtocol
internal import WebClient

/// The JSON forms of a node and of its events.
enum NodeObject {
  /// - Parameters:
  ///   - commissioned: the time when the node was commissioned, in microseconds since 1970.
  ///   - interviewed: the time when all its attributes were read last.
  static func make(
    _ id: NodeID, _ node: NodeProjection.Node, _ state: HomeState, _ visibility: RoleVisibility,
    commissioned: Int64, interviewed: Int64
  ) -> JSONValue {
    let values = state.values[id] ?? NodeValues()
    let version: UInt32? = values.value(BasicInformation.specificationVersion, on: .root)
    return .present([
      "node_id": .int(id.rawValue), "date_commissioned": .string(time(commissioned)),
      "last_interview": .string(time(interviewed)), "interview_version": 6, "available": .bool(node.isAvailable),
      "is_bridge": .bool(isBridge(id, state)), "attributes": .object(attributes(values, visibility)),
      "attribute_subscriptions": [],
      "matter_version": version.map { .string("\($0 >> 24).\($0 >> 16 & 0xFF).\($0 >> 8 & 0xFF)") },
    ])
  }

  private static func attributes(_ values: NodeValues, _ visibility: RoleVisibility) -> [JSONValue.Member] {
    values.all.compactMap { path, value in
      // A client would end its connection at a value of a wrong type.
      guard visibility.contains(path), let value = ValueEncoder.attribute(path, value) else { return nil }
      return .init(AttributeKey.text(path), value)
    }
  }

  static func isBridge(_ id: NodeID, _ state: HomeState) -> Bool {
    state.sources(of: id).contains { source in
      source.endpoints.contains { $0.deviceTypes.contains(DeviceTypes.aggregator.id) }
    }
  }

  /// The time in UTC with microseconds and without a zone, as `datetime.isoformat` of Python.
  static func time(_ microseconds: Int64) -> String {
    var (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    if fraction < 0 { (seconds, fraction) = (seconds - 1, fraction + 1_000_000) }
    var parts = tm()
    var time = time_t(seconds)
    guard gmtime_r(&time, &parts) != nil else { return "1970-01-01T00:00:00.000000" }
    func digits(_ number: some BinaryInteger, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
      + "T\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2)).\(digits(fraction, 6))"
  }

  static func event(_ node: NodeID, _ data: EventData) -> JSONValue {
    let declared = ClusterCatalogue.cluster(data.path.cluster)?.event(data.path.event)
    let payload = data.payload.flatMap { try? ValueEncoder.fields($0, declared?.payload) }
    let (time, type): (UInt64, Int) =
      switch data.timestamp {
      case .system(let time), .deltaSystem(let time): (time, 0)
      case .epoch(let time), .deltaEpoch(let time): (time, 1)
      }
    return [
      "node_id": .int(node.rawValue), "endpoint_id": .int(data.path.endpoint.rawValue),
      "cluster_id": .int(data.path.cluster.rawValue), "event_id": .int(data.path.event.rawValue),
      "event_number": .int(data.number), "priority": .int(data.priority.rawValue),
      "timestamp": .int(time), "timestamp_type": .int(type), "data": payload ?? .null,
    ]
  }
}
