/// An address where a hub listens.
public enum HubAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix domain socket, by its path.
  case socket(String)
  /// A TCP port; connections are encrypted.
  case host(String, port: Int)

  public var description: String {
    switch self {
    case .socket(let path): path
    case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }
}

extension HubAddress {
  /// Returns the host of `host:port`, `[host]:port` or `host`.
  static func hostName(_ text: String) -> String {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      return String(text[text.index(after: text.startIndex)..<end])
    }
    return String(text.prefix { $0 != ":" })
  }
}
