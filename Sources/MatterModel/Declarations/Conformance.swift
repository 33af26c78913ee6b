package import ClusterLanguage

/// Whether an element of a cluster is mandatory, optional or not allowed: an expression of the standard, such as
/// `[LF & PA_LF]`. Matter Core § 7.3.
///
///     let conformance = try Conformance("LT, [OO]", features: LevelControl.features)
///     conformance.decision(ConformanceFacts(features: LevelControl.lighting.mask)).requirement  // mandatory
public struct Conformance: Hashable, Sendable {
  /// The expression.
  public let text: String
  /// The parts between commas. The first one whose condition holds applies; if there is none, the element is not
  /// allowed.
  private let parts: [ConformancePart]

  /// `M`: always mandatory.
  public static let mandatory = Conformance(text: "M", parts: [ConformancePart(requirement: .mandatory)])
  /// `O`: always optional.
  public static let optional = Conformance(text: "O", parts: [ConformancePart(requirement: .optional)])

  private init(text: String, parts: [ConformancePart]) { (self.text, self.parts) = (text, parts) }

  /// Parses an expression.
  /// - Parameter features: the features of the cluster. Other names are those of attributes, commands or events.
  public init(_ text: String, features: [Feature] = []) throws(ConformanceError) {
    switch text {
    case "M": self = .mandatory
    case "O": self = .optional
    default:
      var parser = ConformanceParser(text) { code in features.first { $0.code == code }?.mask }
      do throws(ConformanceSyntaxError) { self.init(text: text, parts: try parser.parts()) } catch {
        throw ConformanceError(text: text, position: error.position, expected: error.expected)
      }
    }
  }

  /// Parses an expression of a declaration in Swift, where an error is one of the programmer.
  init(declared text: String, features: [Feature]) {
    do throws(ConformanceError) {
      try self.init(text, features: features)
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Evaluates the expression.
  package func decision(_ facts: ConformanceFacts) -> Decision {
    for part in parts {
      switch part.condition.map({ $0.holds(facts) }) ?? true {
      case true?: return Decision(requirement: part.requirement, condition: part.conditionText, choice: part.choice)
      case false?: continue
      case nil: return Decision(requirement: .undetermined, condition: part.conditionText)
      }
    }
    return Decision(requirement: .notAllowed)
  }

  /// Whether the element is mandatory.
  public func requires(_ facts: ConformanceFacts) -> Bool { decision(facts).requirement == .mandatory }

  package typealias Requirement = ConformancePart.Requirement
  package typealias Choice = ConformancePart.Choice

  /// The result of an evaluation.
  package struct Decision: Hashable, Sendable {
    package var requirement: Requirement
    /// The condition that decided, as text: “feature LT”, “LF & PA_LF”; nil if there is none.
    package var condition: String?
    /// The choice that the element belongs to.
    package var choice: Choice?
  }
}

extension ConformancePart.Condition {
  /// Returns nil if it depends on an unknown fact.
  func holds(_ facts: ConformanceFacts) -> Bool? {
    switch self {
    case .feature(let mask): return facts.features & mask != 0
    case .element(let name): return facts.has(name)
    case .comparison(let left, let comparison, let right):
      guard let left = left.number(facts), let right = right.number(facts) else { return nil }
      return comparison.holds(left, right)
    case .not(let condition): return condition.holds(facts).map { !$0 }
    case .all(let conditions):
      let results = conditions.map { $0.holds(facts) }
      return results.contains(false) ? false : results.contains(nil) ? nil : true
    case .any(let conditions):
      let results = conditions.map { $0.holds(facts) }
      return results.contains(true) ? true : results.contains(nil) ? nil : false
    case .exactlyOne(let conditions):
      let results = conditions.map { $0.holds(facts) }
      return results.contains(nil) ? nil : results.count { $0 == true } == 1
    }
  }
}

extension ConformancePart.Operand {
  func number(_ facts: ConformanceFacts) -> Int64? {
    switch self {
    case .number(let number): number
    case .attribute(let name): facts.number(name)
    }
  }
}

/// The facts about a server that conformance expressions refer to.
public struct ConformanceFacts {
  /// The FeatureMap.
  public var features: UInt32
  /// Whether the server has the attribute, command or event with a name; nil if that is not known.
  public var has: (String) -> Bool?
  /// The value of an attribute by its name; nil if it is not known, or no integer.
  public var number: (String) -> Int64?

  public init(
    features: UInt32, has: @escaping (String) -> Bool? = { _ in nil },
    number: @escaping (String) -> Int64? = { _ in nil }
  ) {
    (self.features, self.has, self.number) = (features, has, number)
  }
}

/// An expression that is not a conformance.
public struct ConformanceError: Error, Hashable, CustomStringConvertible {
  /// The expression.
  public var text: String
  /// The offset of the error in bytes.
  public var position: Int
  /// The token that is missing at this offset.
  public var expected: String

  public var description: String { "conformance “\(text)”: error at offset \(position); expected \(expected)" }
}
