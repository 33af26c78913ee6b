import HearthHome
import MatterProtocol
import NIOCore
import Runtime

/// Parses `HOST:PORT`.
enum HostAndPort {
  /// The registered port of Matter.
  static let matterPort: UInt16 = 5540

  /// Splits the text.
  /// - Parameters:
  ///   - least: the lowest allowed port; 0 if the system may choose one.
  ///   - standard: the default port; nil: the text must have one.
  static func split(
    _ text: String, least: UInt16 = 1, standard: UInt16? = matterPort
  ) throws(HomeError) -> (host: String, port: UInt16) {
    let example = standard ?? 5550
    let wrong = HomeError(
      .badArguments,
      "“\(text)” is not an address; expected HOST:PORT, such as 127.0.0.1:\(example) or [::1]:\(example)")
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw wrong }
      let host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      if rest.isEmpty, let standard { return (host, standard) }
      guard rest.hasPrefix(":"), let port = port(rest.dropFirst()), port >= least else { throw wrong }
      return (host, port)
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    switch parts.count {
    case 1 where !text.isEmpty:
      guard let standard else { throw wrong }
      return (text, standard)
    case 2:
      guard !parts[0].isEmpty, let port = port(parts[1]), port >= least else { throw wrong }
      return (String(parts[0]), port)
    default:
      // An IPv6 address without brackets has no port.
      guard IPAddress(text) != nil, let standard else { throw wrong }
      return (text, standard)
    }
  }

  /// Returns the port; nil for other text, such as an integer with a sign.
  private static func port(_ text: Substring) -> UInt16? { text.first?.isNumber == true ? UInt16(text) : nil }

  /// Splits `[HOST:]PORT`; the port may be 0, to let the system choose one.
  static func splitOptionalHost(_ text: String, example: String) throws(HomeError) -> (host: String?, port: Int) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let last = parts.last, let port = port(last) else {
      throw HomeError(
        .badArguments, "“\(text)” is not an address; expected [ADDRESS:]PORT, such as \(example) or [::1]:\(example)")
    }
    return (parts.count > 1 ? try split(text, least: 0).host : nil, Int(port))
  }

  /// Returns the address, resolving host names with the system's resolver.
  static func resolve(_ text: String) throws(HomeError) -> MatterProtocol.SocketAddress {
    let (host, port) = try split(text)
    if let ip = IPAddress(host) { return MatterProtocol.SocketAddress(ip, port: port) }
    guard let found = try? NIOCore.SocketAddress.makeAddressResolvingHost(host, port: Int(port)),
      let address = MatterProtocol.SocketAddress(found)
    else { throw HomeError(.notFound, "unknown host “\(host)”") }
    return address
  }
}
