import HearthHome
import VirtualDevices

/// Formats running devices as a table and JSON.
enum VirtualDeviceReport {
  /// - Parameter columns: how many there are for a line; nil: as many as it takes.
  static func table(_ devices: [DeviceStatus], columns: Int? = Terminal.columns) -> String {
    var table = Table("NAME", "ROOM", "TYPE", "NODE", "PORT", "CODE", "DISCRIMINATOR", "FABRICS", "STATE")
    table.wholeColumns = ["CODE"]
    table.optionalColumns = ["DISCRIMINATOR"]
    for device in devices {
      let nodes = device.nodeIDs.map(decimal).joined(separator: " ")
      table.add(
        device.name, device.room.isEmpty ? "–" : device.room, device.type, nodes.isEmpty ? "–" : nodes,
        "\(device.port)", device.manualCode, "\(device.discriminator)", "\(device.fabrics.count)",
        ([device.state, text(device.network) ?? ""] + device.faults).filter { !$0.isEmpty }.joined(separator: "; "))
      for bridged in device.bridged {
        // Indented below the bridge, or the device that has the part.
        table.add(
          "  " + bridged.name, bridged.room.isEmpty ? "–" : bridged.room, bridged.type, "/\(bridged.endpoint)", "", "",
          "", "", ([bridged.state] + bridged.faults).joined(separator: "; "))
      }
    }
    return table.text(columns: columns)
  }

  /// Converts a node id from the hexadecimal form of the status to the decimal form of the command line.
  static func decimal(_ nodeID: String) -> String { UInt64(nodeID, radix: 16).map { "\($0)" } ?? nodeID }

  static func json(_ devices: [DeviceStatus]) -> JSON {
    .array(
      devices.map { device in
        [
          "name": .string(device.name), "room": .optional(device.room.isEmpty ? nil : device.room),
          "type": .string(device.type),
          "nodeIDs": .array(device.nodeIDs.map { .string(decimal($0)) }), "port": .int(device.port),
          "passcode": .int(device.passcode), "discriminator": .int(device.discriminator),
          "manualCode": .string(device.manualCode), "qrCode": .string(device.qrCode),
          "vendorID": .int(device.vendorID), "productID": .int(device.productID),
          "serialNumber": .string(device.serialNumber), "uniqueID": .string(device.uniqueID),
          "commissionable": .bool(device.isCommissionable),
          "fabrics": .array(
            device.fabrics.map {
              [
                "index": .int($0.index), "fabricID": .string($0.fabricID), "nodeID": .string(decimal($0.nodeID)),
                "label": .string($0.label),
              ]
            }),
          "onOff": .optional(device.onOff), "level": .optional(device.level),
          "position": .optional(device.position), "state": .string(device.state),
          "powered": .bool(device.isPowered), "asleep": .optional(device.isAsleep),
          "buttons": .texts(device.buttons),
          "bridged": .array(device.isBridge ? device.bridged.map(json) : []),
          "parts": .array(device.isBridge ? [] : device.bridged.map(json)),
          "network": device.network.map { json($0) } ?? .null,
          "faults": .texts(device.faults),
          "drops": json(device.drops.sorted { $0.key < $1.key }),
        ]
      })
  }

  private static func json(_ device: BridgedStatus) -> JSON {
    [
      "name": .string(device.name), "room": .optional(device.room.isEmpty ? nil : device.room),
      "type": .string(device.type), "endpoint": .int(device.endpoint), "reachable": .bool(device.isReachable),
      "onOff": .optional(device.onOff), "level": .optional(device.level),
      "position": .optional(device.position), "state": .string(device.state),
      "buttons": .texts(device.buttons),
      "faults": .texts(device.faults),
    ]
  }

  /// Counts of messages by reason.
  static func json(_ drops: [(key: String, value: Int)]) -> JSON {
    .object(drops.map { JSON.Member($0.key, .int($0.value)) })
  }
}
