import HearthHome
import MatterClusters
import MatterModel
import MatterTLV

/// One line of an explained message or TLV, with its children.
struct Explanation: Hashable, Sendable {
  /// The name of the element: "AttributeReports", "tag 3", "Exchange".
  var label: String
  /// The value as text, empty for a container.
  var value: String
  /// The meaning of the value: "LevelControl.CurrentLevel".
  var note: String?
  /// The contained elements, in the order of the bytes.
  var children: [Explanation]

  init(_ label: String, _ value: String = "", note: String? = nil, children: [Explanation] = []) {
    self.label = label
    self.value = value
    self.note = note
    self.children = children
  }

  /// The explanation as indented lines.
  func lines(indent: Int = 0) -> [String] {
    var line = String(repeating: "  ", count: indent) + label
    if !value.isEmpty { line += label.isEmpty ? value : ": " + value }
    if let note { line += "  — " + note }
    return [line] + children.flatMap { $0.lines(indent: indent + 1) }
  }
}

/// The format of the bytes passed to ``Explanation/of(_:as:)``.
enum ExplainedFormat: Hashable, Sendable {
  /// TLV if the bytes are one complete element, else a message.
  case automatic
  case tlv
  case message
  /// The payload of an Interaction Model or secure channel message, by the name of its opcode.
  case payload(String)
}

extension Explanation {
  /// Explains bytes.
  /// - Throws: `badArguments` if the bytes don't have the format.
  static func of(_ bytes: [UInt8], as format: ExplainedFormat = .automatic) throws(HomeError) -> Explanation {
    guard !bytes.isEmpty else { throw HomeError(.badArguments, "no bytes to decode") }
    switch format {
    case .tlv: return try tlv(bytes, shape: nil, label: "TLV")
    case .message: return try MessageExplainer.explain(bytes)
    case .payload(let name):
      guard let shape = Shape.message(named: name) else {
        throw HomeError(
          .badArguments, "unknown message “\(name)”",
          candidates: NearestName.suggestions(for: name, in: Shape.messageNames))
      }
      return try tlv(bytes, shape: shape, label: shape.name)
    case .automatic:
      if (try? TLVElement(decoding: bytes)) != nil { return try tlv(bytes, shape: nil, label: "TLV") }
      do throws(HomeError) {
        return try MessageExplainer.explain(bytes)
      } catch {
        throw HomeError(
          .badArguments, "\(bytes.count) bytes are neither one TLV element nor a message: \(error.message)")
      }
    }
  }

  static func tlv(_ bytes: [UInt8], shape: Shape?, label: String) throws(HomeError) -> Explanation {
    do throws(TLVError) {
      var explainer = TLVExplainer()
      return explainer.explain(try TLVElement(decoding: bytes), shape: shape, label: label)
    } catch {
      throw HomeError(.badArguments, "these \(bytes.count) bytes are not one TLV element: \(error)", cause: error)
    }
  }
}

/// Explains decoded elements with the names of their members in the specification.
struct TLVExplainer {
  /// The last path in the current structure, which determines the type of the data beside it.
  private var path: (cluster: ClusterID?, element: UInt32?) = (nil, nil)
  private var kind = Shape.ElementKind.attribute

  mutating func explain(_ element: TLVElement, shape: Shape?, label: String) -> Explanation {
    switch element.value {
    case .structure(let members), .list(let members):
      let isList = if case .list = element.value { true } else { false }
      let outer = path
      path = shape?.isPath == true ? path : (nil, nil)
      var children: [Explanation] = []
      for member in members {
        let known = shape?.member(member.tag)
        children.append(
          known?.kind == .data
            ? explainData(member, label: known?.name ?? text(member.tag))
            : explain(member, shape: known?.shape, label: known?.name ?? text(member.tag)))
        if let known, let meaning = known.meaning(member) { children[children.count - 1].note = meaning }
        if known?.shape?.isPath == true { learn(from: member, known?.shape) }
      }
      path = outer
      let name = shape?.isPath == true ? nil : shape.map(\.name)
      var result = Explanation(
        label, children.isEmpty ? (isList ? "[[]]" : "{}") : "",
        note: name == label ? nil : name, children: children)
      if let shape, shape.isPath { result.note = meaning(of: element, shape) ?? result.note }
      return result
    case .array(let entries):
      var children: [Explanation] = []
      for (index, entry) in entries.enumerated() {
        children.append(explain(entry, shape: shape, label: "[\(index)]"))
      }
      return Explanation(label, children.isEmpty ? "[]" : "", children: children)
    default: return Explanation(label, Self.text(element.value))
    }
  }

  private mutating func learn(from element: TLVElement, _ shape: Shape?) {
    guard let shape else { return }
    path = (
      Self.number(element, shape.clusterTag).map { ClusterID($0) }, Self.number(element, shape.elementTag)
    )
    kind = shape.elementKind
  }

  /// Explains the data beside a path by the schema of the element at the path.
  private mutating func explainData(_ element: TLVElement, label: String) -> Explanation {
    var result = explain(element, shape: nil, label: label)
    guard let cluster = path.cluster.flatMap({ ClusterCatalogue.cluster($0) }), let id = path.element else {
      return result
    }
    let schema: Schema? =
      switch kind {
      case .attribute: cluster.attribute(AttributeID(id))?.schema
      case .command:
        cluster.command(CommandID(id))?.request
          ?? cluster.commands.first { $0.response?.id == CommandID(id) }?.response?.schema
      case .event: cluster.event(EventID(id))?.payload
      }
    if let schema { result.note = schema.text(of: TLVElement(element.value).encoded) }
    return result
  }

  /// The name of the element at a path: "LevelControl.CurrentLevel". Nil for an unknown cluster.
  private func meaning(of element: TLVElement, _ shape: Shape) -> String? {
    guard let number = Self.number(element, shape.clusterTag) else { return nil }
    guard let cluster = ClusterCatalogue.cluster(ClusterID(number)) else { return nil }
    guard let id = Self.number(element, shape.elementTag) else { return cluster.name }
    let name: String? =
      switch shape.elementKind {
      case .attribute: cluster.attribute(AttributeID(id))?.name
      case .command:
        cluster.command(CommandID(id))?.name
          ?? cluster.commands.first { $0.response?.id == CommandID(id) }.map { $0.name + "Response" }
      case .event: cluster.event(EventID(id))?.name
      }
    return "\(cluster.name).\(name ?? "0x" + id.hexadecimal())"
  }

  private static func number(_ element: TLVElement, _ tag: UInt8) -> UInt32? {
    guard case .unsigned(let value)? = element[tag]?.value else { return nil }
    return UInt32(exactly: value)
  }

  static func text(_ value: TLVElement.Value) -> String {
    switch value {
    case .signed(let value): "\(value)"
    case .unsigned(let value): value > 9 ? "\(value) (0x\(value.hexadecimal()))" : "\(value)"
    case .boolean(let value): "\(value)"
    case .float(let value): "\(value) (single)"
    case .double(let value): "\(value) (double)"
    case .string(let value): "“\(value)”"
    case .octets(let value): "\(value.hexadecimal) (\(value.count) bytes)"
    case .null: "null"
    case .structure, .array, .list: ""
    }
  }

  private func text(_ tag: TLVTag) -> String {
    switch tag {
    case .anonymous: "anonymous"
    case .context(let number): "tag \(number)"
    case .common(let number): "common tag \(number)"
    case .implicit(let number): "implicit tag \(number)"
    case .qualified(let vendor, let profile, let number): "tag \(vendor):\(profile):\(number)"
    }
  }
}
