/// A name as people write it, where case, blanks and marks do not matter: "On/Off Light", "onOffLight" and
/// "on-off-light" are equal.
public struct SpokenName: Hashable, Sendable, CustomStringConvertible {
  /// Small letters and digits alone.
  public let description: String

  /// Keeps the letters and digits, in lower case.
  public init(_ name: some StringProtocol) {
    var text = ""
    for scalar in name.unicodeScalars where scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
      text += scalar.properties.lowercaseMapping
    }
    description = text
  }
}

extension SpokenName {
  /// A name of the standard as Swift and JSON write it: "TransitionTime" is `transitionTime`, "CSRNonce" is `csrNonce`,
  /// "NOCs" is `nocs`.
  public static func camelCase(_ name: String) -> String {
    let letters = Array(name)
    var capitals = letters.prefix { $0.isUppercase }.count
    guard capitals > 0 else { return name }
    let follower = capitals < letters.count ? letters[capitals] : nil
    let isPlural =
      follower == "s" && capitals > 1 && (capitals + 1 == letters.count || letters[capitals + 1].isUppercase)
    // The last capital begins the next word, but for a plural and for the "IPv" that is one word.
    if let follower, capitals > 1, !isPlural, follower.isLetter, !name.hasPrefix("IPv") { capitals -= 1 }
    return String(letters.prefix(capitals)).lowercased() + String(letters.dropFirst(capitals))
  }
}
