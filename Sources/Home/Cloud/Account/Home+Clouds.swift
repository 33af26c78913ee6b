internal import MatterModel
internal import Runtime

// The accounts at makers' clouds, for whoever has the home open.
extension Home {
  /// The accounts that the home has at makers' clouds, by name. Not the tokens.
  /// - Throws: ``HomeError`` `accessDenied` where the home is seen through a hub.
  public var cloudAccounts: [CloudAccount] {
    get async throws(HomeError) { try await controller.withDatabase { try $0.cloudAccounts() } }
  }

  /// Adds an account, or gives the one of this name another address and another token. Its devices come into the home as soon as
  /// whoever follows the devices has asked for them.
  /// - Parameters:
  ///   - address: of its cloud-to-cloud fulfilment: `https://…`, or `http://` on this machine.
  ///   - token: is sent with each request as `Authorization: Bearer`, to that address alone.
  /// - Throws: ``HomeError`` `badArguments` for a name, an address or a token that can't be; `accessDenied` where the home is
  ///   seen through a hub.
  @discardableResult
  public func addCloudAccount(
    _ name: String, address: String, token: String
  ) async throws(HomeError) -> CloudAccount {
    let controller = try controller
    let account = try await controller.withDatabase {
      try $0.addCloudAccount(name, address: address, token: token).account
    }
    await controller.readClouds()
    return account
  }

  /// Asks an account at once for its devices and how they are, whoever follows them. Whoever does takes over what is new.
  /// - Throws: ``HomeError`` `notFound`; `unreachable`, `timedOut`, `accessDenied` or `refused` where its cloud is the cause.
  public func refreshCloudAccount(_ name: String) async throws(HomeError) {
    let link = try await controller.cloud(named: name)
    try await link.refresh()
    // What it told is there for the next process.
    try await controller.flush()
  }

  /// Takes an account out of the home, with the ways to devices that it was. A device with another way lives on.
  /// - Returns: the names of the devices that went with it.
  /// - Throws: ``HomeError`` `notFound`; `accessDenied` where the home is seen through a hub.
  @discardableResult
  public func removeCloudAccount(_ name: String) async throws(HomeError) -> [String] {
    let controller = try controller
    let removed = try await controller.commit { database, origin, time throws(HomeError) in
      try database.removeCloudAccount(name, origin: origin, at: time)
    }
    await controller.readClouds()
    return removed.devices
  }
}
