package import HomeModel

/// A server of the home to other processes.
package protocol HomeServer: Sendable {
  /// The status of the process with the addresses and clients of the server.
  var status: HubStatus { get async }
  /// Loads the invitations, and closes the connections of clients whose invitations were revoked.
  func loadInvitations() async throws(HomeError)
  /// Waits for running requests of other processes, and closes their connections.
  func close() async
}
