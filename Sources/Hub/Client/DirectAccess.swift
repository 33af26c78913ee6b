package import HomeControl
package import HomeModel
internal import HomeStore

extension HubClient {
  /// How an invited client reaches the devices by itself.
  package struct DirectAccess: Sendable {
    package var membership: ClientMembership
    /// The role of the invitation.
    package var role: HomeRole
    /// The network of the client, and its machine.
    package var controller: HomeController.Options
    /// Stores new credentials, and changes of the home.
    package var save: @Sendable (ClientMembership) -> Void
  }
}
