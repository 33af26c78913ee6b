public import MatterModel

/// The address of a file that a node of the same fabric sends over BDX: `bdx://0000000000000012/lamp.ota`.
/// Matter Core § 11.20.3.2.
public struct BulkDataURI: Hashable, Sendable, CustomStringConvertible {
  /// The sender.
  public var node: NodeID
  /// The name of the file, which may contain slashes.
  public var file: String

  public init(node: NodeID, file: String) { (self.node, self.file) = (node, file) }

  /// Parses an address; nil if it has another scheme, no operational node or no file.
  public init?(_ text: String) {
    guard text.lowercased().hasPrefix(Self.scheme) else { return nil }
    let parts = text.dropFirst(Self.scheme.count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16, parts[0].allSatisfy(\.isHexDigit),
      let number = UInt64(parts[0], radix: 16), !parts[1].isEmpty
    else { return nil }
    (node, file) = (NodeID(number), String(parts[1]))
    guard node.isOperational else { return nil }
  }

  private static let scheme = "bdx://"

  public var description: String { Self.scheme + node.rawValue.hexadecimal(16) + "/" + file }
}
