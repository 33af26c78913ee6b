internal import MatterModel

/// Attribute paths as text: `endpoint/cluster/attribute` in decimal.
enum AttributeKey {
  static func text(_ path: ConcreteAttributePath) -> String {
    "\(path.endpoint.rawValue)/\(path.cluster.rawValue)/\(path.attribute.rawValue)"
  }

  /// Parses a path. Parts that are not numbers, and the highest number of each part, are wildcards.
  static func path(_ text: String) throws(MatterServerError) -> AttributePath {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw MatterServerError(
        .invalidArguments, "“\(text)” is not an attribute path; expected endpoint/cluster/attribute")
    }
    func number<T: FixedWidthInteger>(_ part: Substring, _: T.Type) throws(MatterServerError) -> T? {
      guard let first = part.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
      guard let value = T(part) else {
        throw MatterServerError(
          .invalidArguments, "“\(text)” is not an attribute path; \(part) is not a number in range")
      }
      return value == T.max ? nil : value
    }
    return AttributePath(
      endpoint: try number(parts[0], UInt16.self).map { EndpointID($0) },
      cluster: try number(parts[1], UInt32.self).map { ClusterID($0) },
      attribute: try number(parts[2], UInt32.self).map { AttributeID($0) })
  }
}
