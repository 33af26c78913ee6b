internal import ClusterLanguage

/// A name compared without case, blanks and punctuation: "On/Off Light", "onOffLight" and "on-off-light" are equal.
public struct NormalizedName: Hashable, Sendable, CustomStringConvertible {
  /// The lowercase letters and digits.
  public let description: String

  /// Normalizes a name to its lowercase letters and digits.
  public init(_ name: some StringProtocol) {
    var text = ""
    for scalar in name.unicodeScalars where scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
      text += scalar.properties.lowercaseMapping
    }
    description = text
  }
}

extension NormalizedName {
  /// Returns a name of the standard in camel case, as in Swift and JSON: "TransitionTime" is `transitionTime`,
  /// "CSRNonce" is `csrNonce`, "NOCs" is `nocs`.
  public static func camelCase(_ name: String) -> String { Names.camelCase(name) }
}
