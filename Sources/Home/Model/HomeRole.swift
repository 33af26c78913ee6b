public import MatterModel

/// What a client of a home may do.
public enum HomeRole: String, Hashable, Comparable, Sendable, CaseIterable, Codable {
  /// May look.
  case guest
  /// May control the devices, too.
  case member
  /// May do everything; but devices are paired and removed, and the grace time is set, where the hub runs.
  case owner

  /// The privilege that a device would have to grant for it: what the role may do with a device is what the standard lets
  /// that privilege do. Matter Core § 6.6.2.
  public var privilege: Privilege {
    switch self {
    case .guest: .view
    case .member: .operate
    case .owner: .administer
    }
  }

  public static func < (left: Self, right: Self) -> Bool { left.privilege < right.privilege }
}

/// A client that was invited: who has its token is it.
public struct InvitedClient: Hashable, Sendable {
  /// Tells it from the others, in any case.
  public var name: String
  public var role: HomeRole
  /// In seconds since 1970.
  public var created: Int64
  /// The SHA-256 of its token. The handshake of the hub proves possession of this hash, not of the token, so the hash is the
  /// credential itself: a copy of the home's database is enough to connect as this client. Keep backups of the state directory
  /// as secret as the tokens, and revoke all invitations if one got out.
  package var tokenHash: [UInt8]

  package init(name: String, role: HomeRole, created: Int64, tokenHash: [UInt8]) {
    (self.name, self.role, self.created, self.tokenHash) = (name, role, created, tokenHash)
  }
}
