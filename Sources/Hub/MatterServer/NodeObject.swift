internal import Glibc
internal import HomeControl
internal import HomeModel
internal import MatterClusters
internal import MatterModel
internal import WebClient

/// The JSON form of a node.
enum NodeObject {
  /// - Parameters:
  ///   - commissioned: the time when the node was commissioned, in microseconds since 1970.
  ///   - interviewed: the time when all its attributes were read last.
  static func make(
    _ id: NodeID, _ node: NodeProjection.Node, _ state: HomeState, _ visibility: RoleVisibility,
    commissioned: Int64, interviewed: Int64
  ) -> JSONValue {
    let values = state.values[id] ?? NodeValues()
    var members: [JSONValue.Member] = [
      .init("node_id", .int(id.rawValue)), .init("date_commissioned", .string(time(commissioned))),
      .init("last_interview", .string(time(interviewed))), .init("interview_version", 6),
      .init("available", .bool(node.isAvailable)), .init("is_bridge", .bool(isBridge(id, state))),
      .init("attributes", .object(attributes(values, visibility))), .init("attribute_subscriptions", []),
    ]
    if let version: UInt32 = values.value(BasicInformation.specificationVersion, on: .root) {
      members.append(
        .init("matter_version", .string("\(version >> 24).\(version >> 16 & 0xFF).\(version >> 8 & 0xFF)")))
    }
    return .object(members)
  }

  private static func attributes(_ values: NodeValues, _ visibility: RoleVisibility) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    for endpoint in values.endpointIDs {
      for (cluster, entries) in values[endpoint].sorted(by: { $0.key < $1.key }) {
        for entry in entries.entries {
          let path = ConcreteAttributePath(endpoint, cluster, entry.attribute)
          // A client would end its connection at a value of a wrong type.
          guard visibility.contains(path), let value = ValueEncoder.attribute(path, entry.value) else { continue }
          members.append(.init(AttributeKey.text(path), value))
        }
      }
    }
    return members
  }

  private static func isBridge(_ id: NodeID, _ state: HomeState) -> Bool {
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
}
