// The clients of the home in other processes.
extension Home {
  /// The invited clients, by name.
  public var invitedClients: [InvitedClient] {
    get async throws(HomeError) {
      try await backend.request(.clients) { if case .clients(let clients) = $0 { clients } else { nil } }
    }
  }

  /// Invites a client.
  /// - Returns: the client and its token, which is not stored.
  /// - Throws: ``HomeError`` `badArguments` for an invalid name, or one that another client has.
  public func invite(_ name: String, _ role: HomeRole) async throws(HomeError) -> (client: InvitedClient, token: String)
  {
    try await backend.request(.invite(name: name, role: role)) {
      if case .invited(let client, let token) = $0 { (client, token) } else { nil }
    }
  }

  /// Revokes the invitation of a client. The process that owns the home closes its connections.
  /// - Returns: the client, and the names of the devices that accept its certificate until they can be reached again.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  @discardableResult
  public func revoke(
    _ name: String
  ) async throws(HomeError) -> (client: InvitedClient, pendingDevices: [String]) {
    try await backend.request(.revoke(name: name)) {
      if case .revoked(let client, let pending) = $0 { (client, pending) } else { nil }
    }
  }

  /// The status of the process that owns the home, or of the hub through which it is used.
  public var hubStatus: HubStatus {
    get async throws(HomeError) {
      try await backend.request(.status) { if case .status(let status) = $0 { status } else { nil } }
    }
  }
}
