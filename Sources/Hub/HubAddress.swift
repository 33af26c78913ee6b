internal import Foundation
public import HomeModel
internal import MatterProtocol

/// A socket, port or URL at which a hub listens or is reached.
public enum HubAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix domain socket, by its path.
  case socket(String)
  /// A TCP port with TLS, where the hub is recognized by the fingerprint of its certificate.
  case host(String, port: Int)
  /// A WebSocket URL (`wss`) of the hub or a reverse proxy, whose certificate an authority has signed. Only for clients.
  case web(host: String, port: Int, path: String)

  /// The path of the WebSocket of a hub.
  static let path = "/ws"

  /// Parses `HOST:PORT`, `wss://HOST[:PORT][/PATH]` with the default path `/ws`, or an absolute path of a socket.
  /// - Throws: `HomeError` `badArguments`.
  public init(_ text: String) throws(HomeError) {
    guard let address = text.hasPrefix("/") ? .socket(text) : Self.web(text) ?? Self.host(text) else {
      throw HomeError(
        .badArguments,
        "“\(text)” is not the address of a hub; expected HOST:PORT, wss://HOST[:PORT][/PATH], or the path of a socket")
    }
    self = address
  }

  private static func web(_ text: String) -> HubAddress? {
    guard let url = URLComponents(string: text, encodingInvalidCharacters: false), url.scheme?.lowercased() == "wss",
      let host = url.encodedHost, !host.isEmpty, url.user == nil, url.password == nil, url.query == nil,
      url.fragment == nil,
      1...65_535 ~= url.port ?? 443
    else { return nil }
    let path = ["", "/"].contains(url.path) ? Self.path : url.percentEncodedPath
    return .web(host: unbracketed(host[...]), port: url.port ?? 443, path: path)
  }

  private static func host(_ text: String) -> HubAddress? {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let (host, port) = (text[..<colon], text[text.index(after: colon)...])
    guard let number = UInt16(port), number > 0, port.first?.isNumber == true, !host.isEmpty,
      host.hasPrefix("[") == host.contains(":"), host.hasPrefix("[") == host.hasSuffix("]"),
      !host.contains(where: { $0.isWhitespace || "/?#@".contains($0) })
    else { return nil }
    return .host(unbracketed(host), port: Int(number))
  }

  public var description: String {
    switch self {
    case .socket(let path): path
    case .host(let host, let port): "\(Self.bracketed(host)):\(port)"
    case .web(let host, let port, let path): "wss://\(Self.bracketed(host))\(port == 443 ? "" : ":\(port)")\(path)"
    }
  }

  /// Whether it is the path of a Unix domain socket.
  public var isSocket: Bool { if case .socket = self { true } else { false } }

  /// The path of the upgrade request.
  var path: String { if case .web(_, _, let path) = self { path } else { Self.path } }

  /// The `Host` header of the upgrade request.
  var authority: String {
    switch self {
    case .socket: "localhost"
    case .host(let host, let port), .web(let host, let port, _): "\(Self.bracketed(host)):\(port)"
    }
  }

  private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
  private static func unbracketed(_ host: Substring) -> String {
    String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
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

extension HubRoute {
  /// The route to an address without looking up its name: local for a socket, an address that is not reachable from the
  /// internet, and a name of multicast DNS; otherwise remote.
  public init(_ address: HubAddress) {
    let isLocal =
      switch address {
      case .socket: true
      case .host(let host, _), .web(let host, _, _):
        // The zone of a link-local address, RFC 4007, is not part of the address.
        IPAddress(String(host.prefix { $0 != "%" }))?.isPrivate
          ?? (host == "localhost" || host.lowercased().hasSuffix(".local"))
      }
    self = isLocal ? .local(address) : .remote(address)
  }
}

extension IPAddress {
  /// Whether the address is not reachable from the internet: loopback, link-local or private. RFC 1918, 4193, 6890.
  package var isPrivate: Bool {
    switch self {
    case .v4(let bits):
      bits >> 24 == 10 || bits >> 24 == 127 || bits >> 16 == 0xC0A8 || bits >> 16 == 0xA9FE || bits >> 20 == 0xAC1
    case .v6(let high, let low, _):
      // fc00::/7, fe80::/10 and ::1.
      high >> 57 == 0x7E || high >> 54 == 0x3FA || (high, low) == (0, 1)
    }
  }
}
