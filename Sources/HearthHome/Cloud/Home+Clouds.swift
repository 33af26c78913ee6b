// The accounts at manufacturers' clouds.
extension Home {
  /// The home's cloud accounts, by name, without their tokens.
  public var cloudAccounts: [CloudAccount] {
    get async throws(HomeError) {
      try await backend.request(.cloudAccounts) { if case .cloudAccounts(let accounts) = $0 { accounts } else { nil } }
    }
  }

  /// Adds an account, or replaces the address and token of the account with this name. Its devices are added to the
  /// home after the first request of the process that follows the devices.
  /// - Parameters:
  ///   - address: the URL of its cloud-to-cloud fulfillment: `https://…`, or `http://` on this machine.
  ///   - token: is sent with each request as `Authorization: Bearer`, to this address only.
  /// - Throws: ``HomeError`` `badArguments` for an invalid name, address or token.
  @discardableResult
  public func addCloudAccount(
    _ name: String, address: String, token: String
  ) async throws(HomeError) -> CloudAccount {
    try await backend.request(.addCloudAccount(name: name, address: address, token: token)) {
      if case .cloudAccount(let account) = $0 { account } else { nil }
    }
  }

  /// Requests the devices of an account and their states at once, from any process. The process that follows the
  /// devices adopts new ones.
  /// - Throws: ``HomeError`` `notFound`; `unreachable`, `timedOut`, `accessDenied` or `refused` for a failure of the
  ///   cloud.
  public func refreshCloudAccount(_ name: String) async throws(HomeError) {
    try await backend.perform(.refreshCloudAccount(name: name))
  }

  /// Removes an account from the home, with its sources of devices. A device with another source remains.
  /// - Returns: the account, and the names of the removed devices.
  /// - Throws: ``HomeError`` `notFound`.
  @discardableResult
  public func removeCloudAccount(
    _ name: String
  ) async throws(HomeError) -> (account: CloudAccount, devices: [String]) {
    try await backend.request(.removeCloudAccount(name: name)) {
      if case .cloudAccountRemoved(let account, let devices) = $0 { (account, devices) } else { nil }
    }
  }
}
