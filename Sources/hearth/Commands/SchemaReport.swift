import HearthHome
import MatterClusters
import MatterModel

/// Formats the declarations of clusters and device types as text and JSON.
enum SchemaReport {
  static func json(_ type: DeviceType) -> JSON {
    [
      "id": .int(type.id.rawValue), "name": .string(type.name), "revision": .int(type.revision),
      "servers": .array(type.servers.map { .int($0.rawValue) }),
      "clients": .array(type.clients.map { .int($0.rawValue) }),
      "elements": .array(
        type.elements.sorted { $0.key < $1.key }.map { cluster, names in
          ["cluster": .int(cluster.rawValue), "names": .texts(names)]
        }),
    ]
  }

  static func json(_ cluster: any Cluster.Type) -> JSON {
    [
      "id": .int(cluster.id.rawValue), "name": .string(cluster.name), "revision": .int(cluster.revision),
      "features": .array(
        cluster.features.map {
          [
            "bit": .int($0.bit), "code": .string($0.code), "name": .string($0.name),
            "conformance": .string($0.conformance),
          ]
        }),
      "attributes": .array(cluster.attributes.map(attribute)), "commands": .array(cluster.commands.map(command)),
      "events": .array(cluster.events.map(event)), "modeTags": values(ClusterCatalogue.modeTags(of: cluster.id)),
    ]
  }

  private static func values(_ names: [UInt64: String]) -> JSON {
    .array(names.sorted { $0.key < $1.key }.map { ["value": .int($0.key), "name": .string($0.value)] })
  }

  private static func attribute(_ info: AttributeInfo) -> JSON {
    var object: JSON = [
      "id": .int(info.id.rawValue), "name": .string(info.name), "type": type(info.schema),
      "read": .string("\(info.read)"), "write": .optional(info.write.map { "\($0)" }),
      "quality": .texts(info.quality.names), "conformance": .string(info.conformance.text),
    ]
    if let constraint = constraint(info.constraint) { object = object.adding("constraint", constraint) }
    if let initial = info.initial { object = object.adding("initial", JSON.encoded(info.schema.json(of: initial))) }
    return object
  }

  private static func command(_ info: CommandInfo) -> JSON {
    [
      "id": .int(info.id.rawValue), "name": .string(info.name), "fields": members(info.request),
      "response": info.response.map { ["id": .int($0.id.rawValue), "fields": members($0.schema)] } ?? .null,
      "invoke": .string("\(info.privilege)"), "quality": .texts(info.quality.names),
      "conformance": .string(info.conformance.text),
    ]
  }

  private static func event(_ info: EventInfo) -> JSON {
    [
      "id": .int(info.id.rawValue), "name": .string(info.name), "fields": members(info.payload),
      "priority": .string("\(info.priority)"), "read": .string("\(info.read)"),
      "fabricSensitive": .bool(info.isFabricSensitive), "conformance": .string(info.conformance.text),
    ]
  }

  private static func members(_ schema: Schema) -> JSON {
    guard case .structure(let members) = schema else { return [] }
    return .array(
      members.map {
        [
          "id": .int($0.id), "name": .string($0.name), "type": type($0.schema), "optional": .bool($0.isOptional),
        ]
      })
  }

  /// Returns a simple type as a string, and any other type as an object with the member `kind`.
  private static func type(_ schema: Schema) -> JSON {
    switch schema {
    case .boolean, .float, .double, .string, .octets, .any, .unsigned, .signed: .string(schema.typeName)
    case .enumeration(let bits, let names):
      ["kind": .string("enum\(bits)"), "values": values(names)]
    case .bitmap(let bits, let names, let isInverted):
      [
        "kind": .string("map\(bits)"),
        "bits": .array(
          Schema.fields(names).map {
            ["bit": .int($0.bits.lowerBound), "width": .int($0.bits.count), "name": .string($0.name)]
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
    case .range(let range): ["min": .int(range.lowerBound), "max": .int(range.upperBound)]
    case .length(let range): ["minLength": .int(range.lowerBound), "maxLength": .int(range.upperBound)]
    case .entries(let range):
      [
        "minEntries": .int(range.lowerBound),
        "maxEntries": .optional(range.upperBound == .max ? nil : range.upperBound),
      ]
    }
  }

  // MARK: Text

  /// Returns a heading, the features, a table with a row for each element, and the values of their types.
  static func text(_ cluster: any Cluster.Type) -> String {
    var elements = Table("", "ID", "NAME", "TYPE", "CONSTRAINT", "ACCESS", "CONFORMANCE")
    for info in cluster.attributes {
      let write = info.write.map { ", write \($0)" } ?? ""
      elements.add(
        "attribute", "0x" + info.id.rawValue.hexadecimal(4), info.name, info.schema.typeName, limits(info.constraint),
        "read \(info.read)\(write)", info.conformance.text)
    }
    for info in cluster.commands {
      elements.add(
        "command", "0x" + info.id.rawValue.hexadecimal(2), info.name, info.request.typeName, "",
        "invoke \(info.privilege)",
        info.conformance.text)
    }
    for info in cluster.events {
      elements.add(
        "event", "0x" + info.id.rawValue.hexadecimal(2), info.name, info.payload.typeName, "", "\(info.priority)",
        info.conformance.text)
    }
    let title = "\(cluster.name) 0x\(cluster.id.rawValue.hexadecimal(4)), revision \(cluster.revision)"
    let tables = [features(cluster), elements, types(cluster)].filter { !$0.rows.isEmpty }
    return title + "\n" + tables.map(\.text).joined(separator: "\n\n") + "\n"
  }

  private static func features(_ cluster: any Cluster.Type) -> Table {
    var table = Table("FEATURE", "BIT", "NAME", "CONFORMANCE")
    for feature in cluster.features { table.add(feature.code, "\(feature.bit)", feature.name, feature.conformance) }
    return table
  }

  /// Returns the values of enumerations and bitmaps, and the members of structures, by the names of their elements.
  private static func types(_ cluster: any Cluster.Type) -> Table {
    var table = Table("VALUES OF", "TYPE", "VALUES")
    table.wrappedColumns = ["VALUES"]
    var known: [Schema: String] = [:]
    func add(_ schema: Schema, _ name: String) {
      switch schema {
      case .nullable(let inner), .list(let inner): return add(inner, name)
      case .structure(let members) where members.isEmpty: return
      case .enumeration, .bitmap, .structure: break
      default: return
      }
      if let first = known[schema] {
        table.add(name, schema.typeName, "as \(first)")
        return
      }
      known[schema] = name
      switch schema {
      case .enumeration(_, let names): table.add(name, schema.typeName, listed(names))
      case .bitmap(_, let names, _):
        let bits = Schema.fields(names).map { field in
          let range = field.bits.count == 1 ? "" : "–\(field.bits.upperBound)"
          return "bit \(field.bits.lowerBound)\(range) \(field.name)"
        }
        table.add(name, schema.typeName, bits.joined(separator: ", "))
      case .structure(let members):
        let fields = members.map { "\($0.name) \($0.schema.typeName)\($0.isOptional ? " optional" : "")" }
        table.add(name, schema.typeName, fields.joined(separator: ", "))
        for member in members { add(member.schema, "\(name).\(member.name)") }
      default: break
      }
    }
    for info in cluster.attributes { add(info.schema, info.name) }
    for info in cluster.commands {
      add(info.request, info.name)
      if let response = info.response { add(response.schema, "\(info.name) response") }
    }
    for info in cluster.events { add(info.payload, info.name) }
    let tags = ClusterCatalogue.modeTags(of: cluster.id)
    if !tags.isEmpty { table.add("mode tags", "enum16", listed(tags)) }
    return table
  }

  private static func listed(_ names: [UInt64: String]) -> String {
    names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }

  private static func limits(_ constraint: Constraint) -> String {
    switch constraint {
    case .none: ""
    case .range(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .length(let range): "length \(range.lowerBound) to \(range.upperBound)"
    case .entries(let range): "\(Constraint.words(entries: range)) entries"
    }
  }
}
