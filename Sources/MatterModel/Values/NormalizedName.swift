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
  public static func camelCase(_ name: String) -> String {
    let letters = Array(name)
    var capitals = letters.prefix { $0.isUppercase }.count
    guard capitals > 0 else { return name }
    let follower = capitals < letters.count ? letters[capitals] : nil
    let isPlural =
      follower == "s" && capitals > 1 && (capitals + 1 == letters.count || letters[capitals + 1].isUppercase)
    // The last capital starts the next word, except in plurals and in "IPv", which is one word.
    if let follower, capitals > 1, !isPlural, follower.isLetter, !name.hasPrefix("IPv") { capitals -= 1 }
    return String(letters.prefix(capitals)).lowercased() + String(letters.dropFirst(capitals))
  }
}
