internal import Foundation
internal import GRDB
package import HomeModel
package import HomeStore
internal import WebClient

// The cloud accounts. Tokens are stored in plain text, because requests contain them; only the user can read the file.
extension HomeDatabase {
  /// Adds an account, or replaces the address and token of the account with this name.
  /// - Parameters:
  ///   - address: the URL of its cloud-to-cloud fulfillment: `https://…`, or `http://` on this machine.
  ///   - token: is sent with each request as `Authorization: Bearer`.
  /// - Throws: ``HomeError`` `badArguments` for an invalid name, address or token.
  package func addCloudAccount(_ name: String, address: String, token: String) throws(HomeError) -> CloudAccount {
    let name = try HomeNames.checked(name).name
    let (address, token) = (try CloudAccount.checked(address: address), try CloudAccount.checked(token: token))
    return try write { database in
      let known = try self.cloudAccounts(database).first { HomeNames.same($0.name, name) }
      let number = try Self.drawCloudNumber(database)
      if let known {
        try database.execute(
          sql: """
            UPDATE cloud_account SET address = ?, token = ?, revision = ?, contact = NULL, failure = NULL WHERE name = ?
            """,
          arguments: [address, token, number, known.name])
      } else {
        try database.execute(
          sql: "INSERT INTO cloud_account (name, address, token, revision) VALUES (?, ?, ?, ?)",
          arguments: [name, address, token, number])
      }
      guard let now = try self.cloudAccounts(database).first(where: { HomeNames.same($0.name, name) }) else {
        throw DamagedBlob()
      }
      return now.account
    }
  }

  /// Returns the cloud accounts, ordered by name.
  package func cloudAccounts() throws(HomeError) -> [CloudAccount] { try storedCloudAccounts().map(\.account) }

  package func storedCloudAccounts() throws(HomeError) -> [StoredCloudAccount] {
    try read { try self.cloudAccounts($0) }
  }

  private func cloudAccounts(_ database: Database) throws -> [StoredCloudAccount] {
    var accounts: [StoredCloudAccount] = []
    try database.rows(
      "SELECT name, address, token, revision, contact, failure FROM cloud_account ORDER BY name"
    ).forEach { row in
      var account = CloudAccount(
        name: try row.text(0), address: try row.text(1), lastContact: try row.optionalNumber(4),
        failure: try row.optionalText(5))
      account.devices = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT DISTINCT source.device FROM source JOIN cloud_device ON source.node = cloud_device.node
            WHERE cloud_device.account = ? ORDER BY source.node
            """), arguments: [account.name]
      ).map { try $0.text(0) }
      accounts.append(
        StoredCloudAccount(account: account, token: try row.text(2), revision: try row.number(3)))
    }
    return accounts
  }

  /// Removes an account from the home, with its sources of devices, in one transaction. A device with another source
  /// remains.
  /// - Parameter time: now, in microseconds since 1970.
  /// - Returns: the account, and the names of the removed devices.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  package func removeCloudAccount(
    _ name: String, origin: String?, at time: Int64
  ) throws(HomeError) -> (update: HomeUpdate, result: (account: CloudAccount, devices: [String])) {
    try change(origin: origin, at: time) { database, state in
      let known = try self.cloudAccounts(database).map(\.account)
      guard let account = known.first(where: { HomeNames.same($0.name, name) }) else {
        throw HomeError.unknown("there is no cloud account “\(name)”", name, in: known.map(\.name))
      }
      let nodes = try Row.fetchAll(
        database, sql: "SELECT DISTINCT node FROM cloud_device WHERE account = ?", arguments: [account.name]
      ).map { Self.node(try $0.number(0)) }
      try database.execute(sql: "DELETE FROM cloud_device WHERE account = ?", arguments: [account.name])
      try database.execute(sql: "DELETE FROM cloud_account WHERE name = ?", arguments: [account.name])
      let (changes, devices) = state.removing(nodes)
      return (changes, (account, devices))
    }
  }

  // MARK: Devices

  /// Returns the devices of all accounts, by account and node.
  package func cloudNodes() throws(HomeError) -> [String: [NodeID: CloudNode]] { try read { try self.cloudNodes($0) } }

  private func cloudNodes(_ database: Database) throws -> [String: [NodeID: CloudNode]] {
    var accounts: [String: [NodeID: CloudNode]] = [:]
    try database.rows("SELECT account, node, endpoint, device, description FROM cloud_device").forEach { row in
      let node = Self.node(try row.number(1))
      let device = try? CloudDevice(JSONParser.parse(row.bytes(4)))
      let endpoint = EndpointID(try row.number(2))
      accounts[try row.text(0), default: [:]][node, default: CloudNode(node: node)].parts[endpoint] =
        try device ?? CloudDevice(unreadable: row.text(3))
    }
    return accounts
  }

  /// Stores the devices that an account listed. A known device keeps its node and endpoint, unless its description now says
  /// that it is part of another known device; a part of a known device becomes the next endpoint of its node; any other
  /// becomes a new node. Devices beyond the limits are ignored.
  /// - Returns: the account's nodes, with unlisted ones unchanged; nil if the account was removed or replaced since
  ///   the request.
  package func keep(
    _ devices: [CloudDevice], of account: StoredCloudAccount
  ) throws(HomeError) -> [NodeID: CloudNode]? {
    try write { database in
      let accounts = try self.cloudAccounts(database)
      guard accounts.contains(where: { $0.name == account.name && $0.revision == account.revision }) else { return nil }
      var nodes = try self.cloudNodes(database)[account.name] ?? [:]
      var endpoints = nodes.values.reduce(into: [String: CloudEndpoint]()) { endpoints, node in
        for (endpoint, device) in node.parts {
          endpoints[device.id] = CloudEndpoint(node: node.node, endpoint: endpoint)
        }
      }
      for device in devices {
        let endpoint = try endpoints.endpoint(of: device, nodes) {
          .temporaryLocal(UInt32(truncatingIfNeeded: try Self.drawCloudNumber(database)))
        }
        guard let endpoint else { continue }
        if let before = endpoints.updateValue(endpoint, forKey: device.id), before != endpoint {
          nodes[before.node]?.parts[before.endpoint] = nil
          if nodes[before.node]?.parts.isEmpty == true { nodes[before.node] = nil }
        }
        if nodes[endpoint.node]?.parts[endpoint.endpoint] == device { continue }
        nodes[endpoint.node, default: CloudNode(node: endpoint.node)].parts[endpoint.endpoint] = device
        try database.execute(
          sql: """
            INSERT INTO cloud_device (account, device, node, endpoint, description) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (account, device) DO UPDATE
            SET node = excluded.node, endpoint = excluded.endpoint, description = excluded.description
            """,
          arguments: [
            account.name, device.id, Self.stored(endpoint.node), Int(endpoint.endpoint.rawValue),
            Data(device.json.description.utf8),
          ])
      }
      return nodes
    }
  }

  /// Returns a number that was never drawn before.
  private static func drawCloudNumber(_ database: Database) throws -> Int64 {
    try database.execute(sql: "DELETE FROM cloud_number; INSERT INTO cloud_number DEFAULT VALUES")
    return database.lastInsertedRowID
  }

  /// Removes devices that the account no longer lists.
  package func forget(_ ids: [String], of account: String) throws(HomeError) {
    try write { database in
      for id in ids {
        try database.execute(
          sql: "DELETE FROM cloud_device WHERE account = ? AND device = ?", arguments: [account, id])
      }
    }
  }

  // MARK: Status of an account

  /// Stores the time of the cloud's last response, and the current failure, if any.
  package func note(contact: Int64?, failure: String?, of account: StoredCloudAccount) throws(HomeError) {
    try write {
      try $0.execute(
        sql: """
          UPDATE cloud_account SET contact = coalesce(?, contact), failure = ? WHERE name = ? AND revision = ?
          """,
        arguments: [contact, failure, account.name, account.revision])
    }
  }
}

/// The node and endpoint of a cloud device.
private struct CloudEndpoint: Hashable {
  var node: NodeID
  var endpoint: EndpointID
}

extension [String: CloudEndpoint] {
  /// Returns the node and endpoint for a device of an account; nil if it would exceed the limit of devices.
  /// - Parameter draw: draws the id of a new node.
  fileprivate func endpoint(
    of device: CloudDevice, _ nodes: [NodeID: CloudNode], draw: () throws -> NodeID
  ) rethrows -> CloudEndpoint? {
    let known = self[device.id]
    // A device on a node with several endpoints keeps its endpoint, regardless of its description.
    if let known, values.contains(where: { $0.node == known.node && $0 != known }) { return known }
    let others = nodes.values.filter { other in
      other.node != known?.node && other.parts.values.contains { $0.identity.isSameDevice(as: device.identity) }
    }
    guard let other = others.map(\.node).min() else {
      if known == nil, count >= CloudIntent.mostDevices { return nil }
      return try known ?? CloudEndpoint(node: draw(), endpoint: 1)
    }
    let last = values.lazy.filter { $0.node == other }.map(\.endpoint).max() ?? .root
    guard last.rawValue < CloudNode.mostParts else { return known }
    return CloudEndpoint(node: other, endpoint: EndpointID(last.rawValue + 1))
  }
}

extension HomeState {
  /// Removes the sources of the nodes.
  /// - Returns: the changes, and the names of the devices without another source.
  func removing(_ nodes: [NodeID]) -> (changes: [HomeChange], result: [String]) {
    let removed = orderedDevices.filter { $0.sources.allSatisfy { nodes.contains($0.id.node) } }
    let changes = nodes.sorted().flatMap(sources).map { HomeChange.sourceRemoved($0.id) }
    return (changes + removed.map { .deviceRemoved(id: $0.id) }, removed.map(\.name))
  }
}
