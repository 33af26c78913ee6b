package import Foundation
package import HomeModel
package import MatterModel

/// The credentials of an invited client for its own sessions with the devices, except its private key. The keys of the home's
/// fabric authority are not among them. Matter Core § 6.4.
package struct ClientCredentials: Hashable, Sendable, Codable {
  /// The root certificate in Matter TLV.
  package var root: Data
  /// The intermediate certificate, if the fabric has one.
  package var intermediate: Data?
  /// The operational certificate with the tag of the role.
  package var certificate: Data
  /// The epoch key of the identity protection key.
  package var epochKey: Data
  /// The nodes whose access control list has the tag, in order.
  package var nodes: [NodeID]
}

/// The CASE authenticated tag of the clients with a role.
///
/// Owners have that of members: a device guarantees four access control entries in each fabric, one for the controller, one
/// for groups and one for each tag. Requests that require more than Operate use the hub.
enum ClientTag {
  static func identifier(of role: HomeRole) -> UInt16 { role == .guest ? 0x48E0 : 0x48E1 }
}

extension HomeRole {
  /// The role whose rights a client has in its own sessions with the devices.
  package var directRole: HomeRole { min(self, .member) }
}
