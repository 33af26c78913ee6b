import HearthHome
import MatterClusters
import MatterModel

/// Formats the declarations of clusters and device types as text and JSON.
enum SchemaReport {
  static func json(_ type: DeviceType) -> JSON {
    [
      "id": .integer(type.id.rawValue), "name": .string(type.name), "revision": .integer(type.revision),
      "servers": .array(type.servers.map { .integer($0.rawValue) }),
      "clients": .array(type.clients.map { .integer($0.rawValue) }),
      "elements": .array(
        type.elements.sorted { $0.key < $1.key }.map { cluster, names in
          ["cluster": .integer(cluster.rawValue), "names": .array(names.map { .string($0) })]
        }),
    ]
  }

  static func json(_ cluster: any Cluster.Type) -> JSON {
    [
      "id": .integer(cluster.id.rawValue), "name": .string(cluster.name), "revision": .integer(cluster.revision),
      "features": .array(
        cluster.features.map {
          [
            "bit": .integer($0.bit), "code": .string($0.code), "name": .string($0.name),
            "conformance": .string($0.conformance),
          ]
        }),
      "attributes": .array(cluster.attributes.map(attribute)), "commands": .array(cluster.commands.map(command)),
      "events": .array(cluster.events.map(event)),
    ]
  }

  private static func attribute(_ info: AttributeInfo) -> JSON {
    var object: JSON = [
      "id": .integer(info.id.rawValue), "name": .string(info.name), "type": type(info.schema),
      "read": .string("\(info.read)"), "write": .optional(info.write.map { "\($0)" }),
      "quality": .array(names(info.quality).map { .string($0) }), "conformance": .string(info.conformance.text),
    ]
    if let constraint = constraint(info.constraint) { object = object.adding("constraint", constraint) }
    return object
  }

  private static func command(_ info: CommandInfo) -> JSON {
    [
      "id": .integer(info.id.rawValue), "name": .string(info.name), "fields": members(info.request),
      "response": info.response.map { ["id": .integer($0.id.rawValue), "fields": members($0.schema)] } ?? .null,
      "invoke": .string("\(info.privilege)"), "quality": .array(names(info.quality).map { .string($0) }),
      "conformance": .string(info.conformance.text),
    ]
  }

  private static func event(_ info: EventInfo) -> JSON {
    [
      "id": .integer(info.id.rawValue), "name": .string(info.name), "fields": members(info.payload),
      "priority": .string("\(info.priority)"), "read": .string("\(info.read)"),
      "fabricSensitive": .bool(info.isFabricSensitive), "conformance": .string(info.conformance.text),
    ]
  }

  private static func members(_ schema: Schema) -> JSON {
    guard case .structure(let members) = schema else { return [] }
    return .array(
      members.map {
        [
          "id": .integer($0.id), "name": .string($0.name), "type": type($0.schema), "optional": .bool($0.isOptional),
        ]
      })
  }

  /// Returns a simple type as a string, and any other type as an object with the member `kind`.
  private static func type(_ schema: Schema) -> JSON {
    switch schema {
    case .boolean, .float, .double, .string, .octets, .any, .unsigned, .signed: .string(schema.typeName)
    case .enumeration(let bits, let names):
      [
        "kind": .string("enum\(bits)"),
        "values": .array(
          names.sorted { $0.key < $1.key }.map { ["value": .integer($0.key), "name": .string($0.value)] }),
      ]
    case .bitmap(let bits, let names, let isInverted):
      [
        "kind": .string("map\(bits)"),
        "bits": .array(
          Schema.fields(names).map {
            ["bit": .integer($0.bits.lowerBound), "width": .integer($0.bits.count), "name": .string($0.name)]
          }),
        "inverted": .bool(isInverted),
      ]
    case .list(let entry): ["kind": "list", "entry": type(entry)]
    case .structure: ["kind": "struct", "fields": members(schema)]
    case .nullable(let inner): ["kind": "nullable", "type": type(inner)]
    }
  }

  private static func constraint(_ constraint: Constraint) -> JSON? {
    switch constraint {
    case .none: nil
    case .range(let range): ["min": .number(range.lowerBound), "max": .number(range.upperBound)]
    case .length(let range): ["minLength": .integer(range.lowerBound), "maxLength": .integer(range.upperBound)]
    case .entries(let count): ["maxEntries": .integer(count)]
    }
  }

  private static func names(_ quality: Quality) -> [String] {
    let all: [(Quality, String)] = [
      (.nonVolatile, "nonVolatile"), (.fixed, "fixed"), (.scene, "scene"), (.changesOmitted, "changesOmitted"),
      (.quieter, "quieter"), (.fabricScoped, "fabricScoped"), (.fabricSensitive, "fabricSensitive"),
      (.timed, "timed"), (.singleton, "singleton"), (.diagnostics, "diagnostics"), (.largeMessage, "largeMessage"),
      (.atomic, "atomic"),
    ]
    return all.filter { quality.contains($0.0) }.map(\.1)
  }

  /// Returns a heading and a table with a row for each element.
  static func text(_ cluster: any Cluster.Type) -> String {
    var table = Table("", "ID", "NAME", "TYPE", "ACCESS")
    for info in cluster.attributes {
      let write = info.write.map { ", write \($0)" } ?? ""
      table.add("attribute", hex(info.id.rawValue, 4), info.name, info.schema.typeName, "read \(info.read)\(write)")
    }
    for info in cluster.commands {
      table.add("command", hex(info.id.rawValue, 2), info.name, fields(info.request), "invoke \(info.privilege)")
    }
    for info in cluster.events {
      table.add("event", hex(info.id.rawValue, 2), info.name, fields(info.payload), "\(info.priority)")
    }
    let title = "\(cluster.name) \(hex(cluster.id.rawValue, 4)), revision \(cluster.revision)"
    return title + "\n" + table.text + "\n"
  }

  private static func fields(_ schema: Schema) -> String {
    guard case .structure(let members) = schema, !members.isEmpty else { return "–" }
    return members.map { $0.name }.joined(separator: ", ")
  }

  private static func hex(_ number: UInt32, _ digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
