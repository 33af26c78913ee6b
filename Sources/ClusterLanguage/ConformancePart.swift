/// A part of a conformance expression, between commas. The first part whose condition holds applies.
package struct ConformancePart: Hashable, Sendable {
  package var requirement: Requirement
  package var condition: Condition?
  /// The condition as text: “feature LT”, “LF & PA_LF”.
  package var conditionText: String?
  package var choice: Choice?

  package init(
    requirement: Requirement, condition: Condition? = nil, conditionText: String? = nil, choice: Choice? = nil
  ) {
    (self.requirement, self.condition) = (requirement, condition)
    (self.conditionText, self.choice) = (conditionText, choice)
  }

  /// The status of an element.
  package enum Requirement: Hashable, Sendable {
    case mandatory, optional, notAllowed
    /// Provisional in this version of the standard: allowed, but not required. Matter Core § 7.3.2.
    case provisional
    /// Obsolete, but still allowed.
    case deprecated
    /// Depends on facts that are not known, or that only the text of the standard describes.
    case undetermined
  }

  /// A set of optional elements of which a number is required: `O.a+`.
  package struct Choice: Hashable, Sendable {
    /// The letter that all elements of the choice have.
    package var name: String
    /// The lowest number of supported elements.
    package var minimum: Int
    /// The highest number of supported elements; nil: no limit.
    package var maximum: Int?

    /// Whether this number of supported elements is allowed.
    package func allows(_ count: Int) -> Bool { count >= minimum && count <= maximum ?? .max }
  }

  package indirect enum Condition: Hashable, Sendable {
    /// A bit of the FeatureMap.
    case feature(UInt32)
    /// An attribute, command or event.
    case element(String)
    case comparison(Operand, Comparison, Operand)
    case not(Condition)
    case all([Condition])
    case any([Condition])
    case exactlyOne([Condition])
  }

  package enum Operand: Hashable, Sendable {
    case number(Int64)
    /// The value of an attribute.
    case attribute(String)
  }

  package enum Comparison: String, CaseIterable, Sendable {
    case lessOrEqual = "<=", greaterOrEqual = ">=", equal = "==", unequal = "!=", less = "<", greater = ">"

    package func holds(_ left: Int64, _ right: Int64) -> Bool {
      switch self {
      case .lessOrEqual: left <= right
      case .greaterOrEqual: left >= right
      case .equal: left == right
      case .unequal: left != right
      case .less: left < right
      case .greater: left > right
      }
    }
  }
}

/// An error in a conformance expression.
package struct ConformanceSyntaxError: Error {
  /// The offset of the error in bytes.
  package var position: Int
  /// The token that is missing at this offset.
  package var expected: String
}
