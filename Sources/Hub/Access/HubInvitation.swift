internal import Foundation
public import HomeModel
internal import MatterCrypto

/// Everything that a client needs to use a home through a hub. Its text is a URL:
/// `hearth://join/?address=192.168.1.10:5550&token=…&fingerprint=…&home=…&name=Ada&role=member`.
public struct HubInvitation: Hashable, Sendable, CustomStringConvertible {
  /// The addresses of the hub, the nearest first; at least one, and no local sockets.
  public var addresses: [HubAddress]
  /// The token, 32 hexadecimal digits.
  public var token: String
  /// The fingerprint of the hub's certificate; required unless all addresses are URLs.
  public var fingerprint: CertificateFingerprint?
  /// The identity of the home.
  public var home: String
  /// The name of the client in the hub's list of clients.
  public var name: String
  /// The role of the client when it was invited.
  public var role: HomeRole

  public init(
    addresses: [HubAddress], token: String, fingerprint: CertificateFingerprint?, home: String, name: String,
    role: HomeRole
  ) {
    (self.addresses, self.token, self.fingerprint) = (addresses, token, fingerprint)
    (self.home, self.name, self.role) = (home, name, role)
  }

  /// The longest text of an invitation, in bytes.
  private static let longest = 4096

  /// Parses an invitation.
  /// - Throws: `HomeError` `badArguments` with the expected text; it does not contain the token.
  public init(_ text: String) throws(HomeError) {
    guard text.utf8.count <= Self.longest,
      let url = URLComponents(string: text, encodingInvalidCharacters: false), url.scheme?.lowercased() == "hearth",
      url.host == "join", url.port == nil, ["", "/"].contains(url.path), url.user == nil, url.fragment == nil
    else {
      throw HomeError(
        .badArguments, "this is not an invitation; expected the text that `hearth hub invite` printed, hearth://join/?…"
      )
    }
    // The parts that were not parsed yet.
    var parts = Dictionary(grouping: url.queryItems ?? [], by: \.name)
    func one<R>(_ name: String, _ expected: String, _ parse: (String) -> R?) throws(HomeError) -> R {
      let items = parts.removeValue(forKey: name) ?? []
      guard items.count == 1, let value = parse(items[0].value ?? "") else { throw Self.wrong(name, expected) }
      return value
    }
    let texts = (parts.removeValue(forKey: "address") ?? []).map { $0.value ?? "" }
    guard !texts.isEmpty else { throw Self.wrong("address", "HOST:PORT or a wss URL") }
    var addresses: [HubAddress] = []
    for text in texts {
      let address = try HubAddress(text)
      // A socket of another machine; the one with this path may belong to any user of this machine.
      if address.isSocket { throw Self.wrong("address", "HOST:PORT or a wss URL") }
      addresses.append(address)
    }
    self.addresses = addresses
    token = try one("token", "32 hexadecimal digits") { Self.isHexadecimal($0, count: 32) ? $0 : nil }
    home = try one("home", "32 hexadecimal digits") { Self.isHexadecimal($0, count: 32) ? $0 : nil }
    name = try one("name", "the name of the client") { try? HomeNames.checked($0).name }
    role = try one("role", "guest, member or owner") { HomeRole(rawValue: $0) }
    let needsFingerprint = addresses.contains { if case .host = $0 { true } else { false } }
    if needsFingerprint || parts["fingerprint"] != nil {
      fingerprint = try one("fingerprint", "64 hexadecimal digits") { try? CertificateFingerprint($0) }
    }
    if let other = parts.keys.min() { throw HomeError(.badArguments, "the invitation has an unknown part “\(other)”") }
  }

  /// The URL.
  public var description: String {
    var url = URLComponents()
    (url.scheme, url.host, url.path) = ("hearth", "join", "/")
    url.queryItems =
      addresses.map { URLQueryItem(name: "address", value: $0.description) } + [
        URLQueryItem(name: "token", value: token)
      ] + (fingerprint.map { [URLQueryItem(name: "fingerprint", value: $0.description)] } ?? []) + [
        URLQueryItem(name: "home", value: home), URLQueryItem(name: "name", value: name),
        URLQueryItem(name: "role", value: role.rawValue),
      ]
    return url.string ?? ""
  }

  private static func isHexadecimal(_ text: String, count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 }
  }

  private static func wrong(_ name: String, _ expected: String) -> HomeError {
    HomeError(.badArguments, "the invitation has no valid \(name); expected \(expected)")
  }
}
