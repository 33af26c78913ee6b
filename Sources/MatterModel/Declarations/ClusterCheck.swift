internal import ClusterLanguage
internal import MatterTLV

/// The elements that a server of a cluster has.
public struct ServedElements: Sendable {
  /// The FeatureMap.
  public var features: UInt32
  /// The attributes without the global ones.
  public var attributes: Set<AttributeID>
  /// The accepted commands.
  public var commands: Set<CommandID>
  /// The generated commands; nil if they are not known.
  public var responses: Set<CommandID>?
  /// The events; nil if they are not known, as those of another node.
  public var events: Set<EventID>?
  /// Encoded values of attributes, as far as they are known.
  public var values: [AttributeID: [UInt8]]

  public init(
    features: UInt32, attributes: Set<AttributeID>, commands: Set<CommandID>, responses: Set<CommandID>? = nil,
    events: Set<EventID>? = nil, values: [AttributeID: [UInt8]] = [:]
  ) {
    (self.features, self.attributes, self.commands) = (features, attributes, commands)
    (self.responses, self.events, self.values) = (responses, events, values)
  }
}

/// A part of a cluster.
public enum ElementID: Hashable, Sendable {
  /// A bit of the FeatureMap.
  case feature(Int)
  /// The number of an element.
  case attribute(AttributeID), command(CommandID), response(CommandID), event(EventID)
}

/// A difference between a server and the declaration of its cluster.
public struct ClusterViolation: Hashable, Sendable, CustomStringConvertible {
  /// The element; nil if several are concerned.
  public var element: ElementID?
  /// `attribute MinLevel (0x0002) is missing; mandatory with feature LT`.
  public var description: String

  public init(_ element: ElementID?, _ description: String) {
    (self.element, self.description) = (element, description)
  }
}

extension Cluster {
  /// Compares the elements of a server with the conformance of the cluster. Matter Core § 7.3.
  /// - Returns: the violations: features, attributes, commands and events in the order of the declaration, then
  ///   elements without a declaration.
  public static func violations(of served: ServedElements) -> [ClusterViolation] {
    var check = ClusterCheck(cluster: Self.self, served: served)
    check.run()
    return check.violations
  }

  /// Returns the facts about a server for the evaluation of conformance expressions.
  public static func facts(about served: ServedElements) -> ConformanceFacts {
    ConformanceFacts(features: served.features) { name in
      for element in elements {
        switch element.info {
        case .attribute(let info) where info.name == name: return served.attributes.contains(info.id)
        case .command(let info) where info.name == name: return served.commands.contains(info.id)
        case .event(let info) where info.name == name: return served.events?.contains(info.id)
        default: continue
        }
      }
      return nil
    } number: { name in
      guard let id = attributes.first(where: { $0.name == name })?.id, let value = served.values[id] else { return nil }
      return (try? TLVElement(decoding: value))?.value.number
    }
  }
}

private struct ClusterCheck {
  let cluster: any Cluster.Type
  let served: ServedElements
  private(set) var violations: [ClusterViolation] = []
  /// The members of each choice by its name, and the number of supported members.
  private var choices: [String: (choice: Conformance.Choice, names: [String], count: Int)] = [:]

  init(cluster: any Cluster.Type, served: ServedElements) { (self.cluster, self.served) = (cluster, served) }

  mutating func run() {
    let facts = cluster.facts(about: served)
    for feature in cluster.features {
      let conformance = Conformance(declared: feature.conformance, features: cluster.features)
      check(.feature(feature.bit), feature.code, conformance, served.features & feature.mask != 0, facts)
    }
    checkChoices("features")
    for element in cluster.elements {
      switch element.info {
      case .attribute(let info):
        check(.attribute(info.id), info.name, info.conformance, served.attributes.contains(info.id), facts)
      case .command(let info):
        check(.command(info.id), info.name, info.conformance, served.commands.contains(info.id), facts)
      case .event(let info):
        guard let events = served.events else { continue }
        check(.event(info.id), info.name, info.conformance, events.contains(info.id), facts)
      }
    }
    checkChoices("elements")
    checkResponses()
    checkUndeclared()
  }

  private mutating func check(
    _ element: ElementID, _ name: String, _ conformance: Conformance, _ isServed: Bool, _ facts: ConformanceFacts
  ) {
    let decision = conformance.decision(facts)
    if let choice = decision.choice {
      let others = choices[choice.name] ?? (choice, [], 0)
      choices[choice.name] = (choice, others.names + [name], others.count + (isServed ? 1 : 0))
    }
    switch decision.requirement {
    case .mandatory where !isServed:
      report(element, name, "is missing; mandatory" + (decision.condition.map { " with \($0)" } ?? ""))
    case .notAllowed where isServed:
      report(element, name, "is not allowed; its conformance is \(conformance.text)")
    default: break
    }
  }

  private mutating func checkChoices(_ noun: String) {
    for (choice, names, count) in choices.values.sorted(by: { $0.choice.name < $1.choice.name })
    where !choice.allows(count) {
      let limit =
        choice.minimum == choice.maximum
        ? "exactly \(choice.minimum)"
        : count < choice.minimum ? "at least \(choice.minimum)" : "at most \(choice.maximum ?? 0)"
      violations.append(
        ClusterViolation(
          nil, "\(noun) \(names.joined(separator: ", ")): \(count) supported; expected \(limit)"))
    }
    choices = [:]
  }

  private mutating func checkResponses() {
    guard let responses = served.responses else { return }
    let expected = Set(cluster.commands.filter { served.commands.contains($0.id) }.compactMap { $0.response?.id })
    for id in expected.subtracting(responses).sorted() {
      report(.response(id), nil, "is missing; an accepted command generates it")
    }
    let known = Set(cluster.commands.compactMap { $0.response?.id })
    for id in responses.subtracting(expected).sorted() where known.contains(id) {
      report(.response(id), nil, "is not allowed; no accepted command generates it")
    }
  }

  /// Reports standard elements that the cluster does not declare. Those of manufacturers have a vendor ID in the upper
  /// half of their number.
  private mutating func checkUndeclared() {
    let features = cluster.features.reduce(served.features) { $0 & ~$1.mask }
    for bit in 0..<32 where features >> UInt32(bit) & 1 == 1 { report(.feature(bit), nil, "is not declared") }
    let attributes = served.attributes.subtracting(cluster.attributes.map(\.id))
    for id in attributes.sorted() where id.rawValue <= 0xFFFF { report(.attribute(id), nil, "is not declared") }
    let commands = served.commands.subtracting(cluster.commands.map(\.id))
    for id in commands.sorted() where id.rawValue <= 0xFFFF { report(.command(id), nil, "is not declared") }
    let responses = (served.responses ?? []).subtracting(cluster.commands.compactMap { $0.response?.id })
    for id in responses.sorted() where id.rawValue <= 0xFFFF { report(.response(id), nil, "is not declared") }
  }

  private mutating func report(_ element: ElementID, _ name: String?, _ problem: String) {
    violations.append(ClusterViolation(element, "\(element.text(name: name)) \(problem)"))
  }
}

extension ElementID {
  /// `attribute MinLevel (0x0002)`; without a name `attribute 0x0002`.
  public func text(name: String?) -> String {
    let (kind, number) =
      switch self {
      case .feature(let bit): ("feature", "bit \(bit)")
      case .attribute(let id): ("attribute", "0x" + id.rawValue.hexadecimal(4))
      case .command(let id): ("command", "0x" + id.rawValue.hexadecimal(2))
      case .response(let id): ("response command", "0x" + id.rawValue.hexadecimal(2))
      case .event(let id): ("event", "0x" + id.rawValue.hexadecimal(2))
      }
    return name.map { "\(kind) \($0) (\(number))" } ?? "\(kind) \(number)"
  }
}
