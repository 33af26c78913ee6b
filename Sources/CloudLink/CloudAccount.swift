public import Foundation
package import HomeModel
internal import WebClient

/// An account at a manufacturer's cloud, without its token.
public struct CloudAccount: Hashable, Sendable, Codable {
  /// The name given by the user.
  public var name: String
  /// The URL of its cloud-to-cloud fulfillment: `https://…`.
  public var address: String
  /// The ``lastContactDate`` in microseconds since 1970.
  package var lastContact: Int64?
  /// The current failure, as text for users; nil: none, or no request was sent yet.
  public var failure: String?
  /// The ids of its devices in the home, including those with further sources.
  public var devices: [String] = []

  /// The time of the cloud's last answer, accurate to about a minute; nil: never.
  public var lastContactDate: Date? { lastContact.map { Date(microseconds: $0) } }
}

extension CloudAccount {
  /// The maximum length of a token.
  static let longestToken = 16_384

  /// Returns an address that may receive a token: an HTTPS URL, or one of this machine.
  /// - Throws: `badArguments`.
  package static func checked(address: String) throws(HomeError) -> String {
    guard let parts = WebAddress(address), !address.contains("#") else {
      throw HomeError(.badArguments, "“\(address)” is not a web address; expected https://example.com/fulfillment")
    }
    guard parts.isEncrypted || isThisMachine(parts.host) else {
      throw HomeError(.badArguments, "a token is not sent unencrypted; expected an address with https://")
    }
    return address
  }

  private static func isThisMachine(_ host: String) -> Bool {
    let host = host.lowercased()
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Returns a token without surrounding whitespace.
  /// - Throws: `badArguments` for one that is invalid in a header.
  package static func checked(token: String) throws(HomeError) -> String {
    let token = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !token.isEmpty else { throw HomeError(.badArguments, "the token is empty") }
    guard token.utf8.count <= longestToken, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw HomeError(.badArguments, "invalid token; expected one line without blanks")
    }
    return token
  }
}

/// A stored account.
package struct StoredCloudAccount: Hashable, Sendable {
  package var account: CloudAccount
  package var token: String
  /// Another number after each edit of the account by the user.
  package var revision: Int64

  package var name: String { account.name }
}
