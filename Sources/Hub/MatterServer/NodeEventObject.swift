internal import MatterModel
internal import MatterProtocol
internal import WebClient

/// The JSON form of an event of a node.
enum NodeEventObject {
  static func make(_ node: NodeID, _ data: EventData) -> JSONValue {
    let declared = DeclaredElements.event(data.path.event, of: data.path.cluster)
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
