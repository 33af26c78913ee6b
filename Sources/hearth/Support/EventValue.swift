import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// Formats an event with its name.
struct EventValue {
  let device: DeviceRecord
  let event: EventData

  init(_ device: DeviceRecord, _ event: EventData) { (self.device, self.event) = (device, event) }

  private var name: String {
    "\(ElementNames.cluster(event.path.cluster)).\(ElementNames.event(event.path.event, of: event.path.cluster))"
  }

  private var payload: [UInt8] { event.payload ?? [0x15, 0x18] }

  /// `Kitchen/Button/1.switch.initialPress!`.
  var pathText: String { "\(device.fullName)/\(event.path.endpoint).\(name)!" }

  var text: String { AttributeUnits.text(event: event.path.event, of: event.path.cluster, payload: payload) }

  var json: JSON {
    let schema = ElementNames.event(payloadOf: event.path.event, of: event.path.cluster)
    return [
      "device": .string(device.name), "nodeID": .string("\(device.nodeID.rawValue)"),
      "endpoint": .int(event.path.endpoint.rawValue), "event": .string(name),
      "number": .string("\(event.number)"), "priority": .string("\(event.priority)"),
      "value": .encoded(schema.json(of: payload)),
    ]
  }
}
