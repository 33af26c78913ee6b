public import Foundation

/// The role of a client, which determines its permissions.
public enum HomeRole: String, Hashable, Comparable, Sendable, CaseIterable, Codable {
  /// May read.
  case guest
  /// May also control the devices.
  case member
  /// Unrestricted.
  case owner

  /// The privilege that corresponds to the role: a role may do with a device what the standard allows for the
  /// privilege. Matter Core § 6.6.2.
  package var privilege: Privilege {
    switch self {
    case .guest: .view
    case .member: .operate
    case .owner: .administer
    }
  }

  public static func < (left: Self, right: Self) -> Bool { left.privilege < right.privilege }
}

/// An invited client, identified by its token.
public struct InvitedClient: Hashable, Sendable, Codable {
  /// The unique name, compared without case.
  public var name: String
  public var role: HomeRole
  /// The ``creationDate`` in seconds since 1970.
  package var created: Int64
  /// The SHA-256 of its token, which can't be inverted: tokens are random numbers of 128 bits.
  package var tokenHash: [UInt8] = []

  /// Excludes the hash, which stays in the database.
  private enum CodingKeys: String, CodingKey { case name, role, created }

  /// The time of the invitation.
  public var creationDate: Date { Date(timeIntervalSince1970: Double(created)) }

  package init(name: String, role: HomeRole, created: Int64, tokenHash: [UInt8]) {
    (self.name, self.role, self.created, self.tokenHash) = (name, role, created, tokenHash)
  }
}
