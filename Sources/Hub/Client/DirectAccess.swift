package import HomeControl
package import HomeModel
internal import HomeStore

extension HubClient {
  /// How an invited client reaches the devices by itself.
  package struct DirectAccess: Sendable {
    /// The network of the client, and its machine.
    package var controller: HomeController.Options
    package var membership: ClientMembership
    /// The role of the invitation.
    package var role: HomeRole
    /// Stores new credentials, and changes of the home.
    package var save: @Sendable (ClientMembership) -> Void

    package init(
      _ membership: ClientMembership, _ role: HomeRole, _ controller: HomeController.Options,
      save: @escaping @Sendable (ClientMembership) -> Void
    ) {
      (self.membership, self.role, self.controller, self.save) = (membership, role, controller, save)
    }
  }
}
