internal import MatterModel

/// The spelling of field names on the wire, which is that of the Matter SDK.
enum FieldNames {
  /// Returns the SDK's label of a field: `TransitionTime` is `transitionTime`, `PINCode` stays, `SSID` is `ssid`.
  static func label(_ name: String) -> String {
    // The only declared field whose label differs from the rule.
    if name == "GroupId" { return "groupID" }
    let capitals = name.prefix { $0.isUppercase }.count
    if capitals == name.count { return name.lowercased() }
    return capitals > 1 ? name : name.prefix(1).lowercased() + name.dropFirst()
  }

  /// Returns `auth_mode` for `authMode`.
  static func snakeCase(_ label: String) -> String {
    label.map { $0.isUppercase ? "_\($0.lowercased())" : String($0) }.joined()
  }

  /// Whether a key of a client means the field: its name in any spelling, or its tag.
  static func matches(_ key: String, _ member: Schema.Member) -> Bool {
    if let tag = tag(key) { return tag == member.id }
    return NormalizedName(key) == NormalizedName(member.name)
  }

  /// The context tag that a key of digits means; nil for a name.
  static func tag(_ key: String) -> UInt8? {
    key.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt8(key) : nil
  }
}
