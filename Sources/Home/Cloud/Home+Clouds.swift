public import CloudLink
internal import HomeControl
public import HomeModel
internal import MatterModel
internal import Runtime

// The accounts at makers' clouds, for whoever has the home open.
extension Home {
  /// The home's cloud accounts, by name, without their tokens.
  /// - Throws: ``HomeError`` `accessDenied` if the home is used through a hub.
  public var cloudAccounts: [CloudAccount] {
    get async throws(HomeError) { try await controller.withDatabase { try $0.cloudAccounts() } }
  }

  /// Adds an account, or replaces the address and token of the account with this name. Its devices are added to the
  /// home after the first request of the process that follows the devices.
  /// - Parameters:
  ///   - address: the URL of its cloud-to-cloud fulfillment: `https://…`, or `http://` on this machine.
  ///   - token: is sent with each request as `Authorization: Bearer`, to this address only.
  /// - Throws: ``HomeError`` `badArguments` for an invalid name, address or token; `accessDenied` if the home is used
  ///   through a hub.
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

  /// Requests the devices of an account and their states at once, from any process. The process that follows the
  /// devices adopts new ones.
  /// - Throws: ``HomeError`` `notFound`; `unreachable`, `timedOut`, `accessDenied` or `refused` for a failure of the
  ///   cloud.
  public func refreshCloudAccount(_ name: String) async throws(HomeError) {
    let link = try await controller.cloud(named: name)
    try await link.refresh()
    // What it told is there for the next process.
    try await controller.flush()
  }

  /// Removes an account from the home, with its sources of devices. A device with another source remains.
  /// - Returns: the names of the removed devices.
  /// - Throws: ``HomeError`` `notFound`; `accessDenied` if the home is used through a hub.
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
