internal import Foundation
public import Home

/// An address where a hub listens.
public enum HubAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix domain socket, by its path.
  case socket(String)
  /// A TCP port with TLS, where the hub is recognized by the fingerprint of its certificate.
  case host(String, port: Int)
  /// A WebSocket URL (`wss`) of the hub or a reverse proxy, whose certificate an authority has signed. Only for clients.
  case web(host: String, port: Int, path: String)

  /// The path of the WebSocket of a hub.
  static let path = "/ws"

  /// Parses `HOST:PORT` or `wss://HOST[:PORT][/PATH]`; the default path is `/ws`.
  /// - Throws: `HomeError` `badArguments`.
  public init(_ text: String) throws(HomeError) {
    let isURL = text.contains("://")
    guard let parts = URLComponents(string: isURL ? text : "tcp://\(text)", encodingInvalidCharacters: false),
      let host = parts.host.map({ $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 }), !host.isEmpty,
      parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
      1...65_535 ~= parts.port ?? (isURL ? 443 : 0)
    else { throw Self.malformed(text) }
    if !isURL, parts.path.isEmpty, let port = parts.port {
      self = .host(host, port: port)
    } else if parts.scheme == "wss" {
      self = .web(
        host: host, port: parts.port ?? 443,
        path: ["", "/"].contains(parts.path) ? Self.path : parts.percentEncodedPath)
    } else {
      throw Self.malformed(text)
    }
  }

  private static func malformed(_ text: String) -> HomeError {
    HomeError(.badArguments, "“\(text)” is not the address of a hub; expected HOST:PORT or wss://HOST[:PORT][/PATH]")
  }

  public var description: String {
    switch self {
    case .socket(let path): path
    case .host(let host, let port): "\(Self.bracketed(host)):\(port)"
    case .web(let host, let port, let path): "wss://\(Self.bracketed(host))\(port == 443 ? "" : ":\(port)")\(path)"
    }
  }

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
