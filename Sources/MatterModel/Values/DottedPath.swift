/// A path from the name of a device to its elements: `DEVICE.CLUSTER.ATTRIBUTE`, or with an endpoint
/// `DEVICE.2.CLUSTER.ATTRIBUTE`. Split at its end, since names of devices may contain dots.
public struct DottedPath: Hashable, Sendable {
  /// The text before the elements and the endpoint.
  public var device: String
  /// The number before the elements; nil: none.
  public var endpoint: UInt16?
  /// The names of the elements.
  public var names: [String]

  /// Splits a path; returns nil for a text with too few parts.
  /// - Parameters:
  ///   - count: the number of elements at the end.
  ///   - isDevice: whether a text that ends with a number is the name of a device.
  public init?(_ text: String, names count: Int, isDevice: (String) -> Bool = { _ in false }) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > count else { return nil }
    names = Array(parts.suffix(count))
    device = parts.dropLast(count).joined(separator: ".")
    if let (name, number) = Self.endpoint(of: device), !isDevice(device) { (device, endpoint) = (name, number) }
  }

  /// Splits the name of a device and the number of an endpoint: `DEVICE.2`. Returns nil for a text without a number.
  public static func endpoint(of text: String, separators: String = ".") -> (device: String, endpoint: UInt16)? {
    guard let mark = text.lastIndex(where: { separators.contains($0) }), mark != text.startIndex,
      let number = UInt16(text[text.index(after: mark)...])
    else { return nil }
    return (String(text[..<mark]), number)
  }
}
