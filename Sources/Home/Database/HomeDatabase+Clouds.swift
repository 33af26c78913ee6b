internal import Foundation
internal import GRDB
internal import MatterModel

// The accounts at makers' clouds. A token is kept as it is, since it has to be sent: in a file that only the user may read.
extension HomeDatabase {
  /// Adds an account, or gives the one of this name another address and another token.
  /// - Parameters:
  ///   - address: of its cloud-to-cloud fulfilment: `https://…`, or `http://` on this machine.
  ///   - token: is sent with each request as `Authorization: Bearer`.
  /// - Returns: the account, and whether it was there before.
  /// - Throws: ``HomeError`` `badArguments` for a name, an address or a token that can't be.
  public func addCloudAccount(
    _ name: String, address: String, token: String
  ) throws(HomeError) -> (account: CloudAccount, wasThere: Bool) {
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
      return (now.account, known != nil)
    }
  }

  /// The accounts, by name.
  public func cloudAccounts() throws(HomeError) -> [CloudAccount] { try storedCloudAccounts().map(\.account) }

  func storedCloudAccounts() throws(HomeError) -> [StoredCloudAccount] { try read { try self.cloudAccounts($0) } }

  private func cloudAccounts(_ database: Database) throws -> [StoredCloudAccount] {
    var accounts: [StoredCloudAccount] = []
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT name, address, token, revision, orders, contact, failure FROM cloud_account ORDER BY name
          """))
    while let row = try rows.next() {
      var account = CloudAccount(name: row[0], address: row[1], lastContact: row[5], failure: row[6])
      account.devices = try String.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT DISTINCT source.device FROM source JOIN cloud_device ON source.node = cloud_device.node
            WHERE cloud_device.account = ? ORDER BY source.node
            """), arguments: [account.name])
      accounts.append(StoredCloudAccount(account: account, token: row[2], revision: row[3], orders: row[4]))
    }
    return accounts
  }

  /// Takes an account out of the home, with the ways to devices that it was. A device with another way lives on.
  /// - Parameter time: now, in microseconds since 1970.
  /// - Returns: the account, and the names of the devices that went with it.
  /// - Throws: ``HomeError`` `notFound` with what may have been meant.
  public func removeCloudAccount(_ name: String, at time: Int64) throws(HomeError) -> (
    account: CloudAccount, devices: [String]
  ) {
    let (account, nodes) = try forgetCloudAccount(name)
    let devices = try change(origin: nil, at: time) { state throws(HomeError) in state.removing(nodes) }
    return (account, devices.result)
  }

  /// Forgets an account, but not what the home has of it. That goes after it: whoever asks the account meanwhile finds that it is
  /// there no more, and brings nothing back.
  func forgetCloudAccount(_ name: String) throws(HomeError) -> (account: CloudAccount, nodes: [NodeID]) {
    let known = try cloudAccounts()
    guard let account = known.first(where: { HomeNames.same($0.name, name) }) else {
      throw HomeError(
        .notFound, "there is no cloud account “\(name)”",
        candidates: NearestName.suggestions(for: name, in: known.map(\.name)))
    }
    let nodes = try write { database in
      let nodes = try Int64.fetchAll(
        database, sql: "SELECT DISTINCT node FROM cloud_device WHERE account = ?", arguments: [account.name])
      try database.execute(sql: "DELETE FROM cloud_device WHERE account = ?", arguments: [account.name])
      try database.execute(sql: "DELETE FROM cloud_account WHERE name = ?", arguments: [account.name])
      return nodes.map { Self.node($0) }
    }
    return (account, nodes)
  }

  // MARK: Devices

  /// The devices of all accounts, by account and node.
  func cloudNodes() throws(HomeError) -> [String: [NodeID: CloudNode]] { try read { try self.cloudNodes($0) } }

  private func cloudNodes(_ database: Database) throws -> [String: [NodeID: CloudNode]] {
    var accounts: [String: [NodeID: CloudNode]] = [:]
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT account, node, endpoint, description FROM cloud_device"))
    while let row = try rows.next() {
      let node = Self.node(row[1])
      // A later version of ours may describe it otherwise: then the cloud is asked again.
      guard let part = try? JSONDecoder().decode(CloudPart.self, from: Data(try Self.bytes(row, 3) ?? [])) else {
        continue
      }
      accounts[row[0], default: [:]][node, default: CloudNode(node: node)].parts[EndpointID(row[2])] = part
    }
    return accounts
  }

  /// Keeps what an account said that it has. A device that is known is the node and the endpoint that it was; one that is another
  /// part of a known one is its next endpoint; any other is a new node.
  /// - Returns: the account's nodes, with those that it did not list as they were; nil where the account is there no more, or is
  ///   not the one that was asked.
  func keep(_ parts: [CloudPart], of account: StoredCloudAccount) throws(HomeError) -> [NodeID: CloudNode]? {
    try write { database in
      guard try self.cloudAccounts(database).contains(where: { $0.name == account.name && $0.isSame(as: account) })
      else {
        return nil
      }
      var nodes = try self.cloudNodes(database)[account.name] ?? [:]
      for part in parts {
        let (node, endpoint) = try nodes.place(of: part) {
          .temporaryLocal(UInt32(truncatingIfNeeded: try Self.drawCloudNumber(database)))
        }
        if nodes[node]?.parts[endpoint] == part { continue }
        nodes[node, default: CloudNode(node: node)].parts[endpoint] = part
        try database.execute(
          sql: """
            INSERT INTO cloud_device (account, device, node, endpoint, description) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (account, device) DO UPDATE SET description = excluded.description
            """,
          arguments: [
            account.name, part.device.id, Self.stored(node), Int(endpoint.rawValue), try JSONEncoder().encode(part),
          ])
      }
      return nodes
    }
  }

  private static func drawCloudNumber(_ database: Database) throws -> Int64 {
    try database.execute(sql: "DELETE FROM cloud_number; INSERT INTO cloud_number DEFAULT VALUES")
    return database.lastInsertedRowID
  }

  /// Forgets devices that an account does not have any more.
  func forget(_ ids: [String], of account: String) throws(HomeError) {
    try write { database in
      for id in ids {
        try database.execute(
          sql: "DELETE FROM cloud_device WHERE account = ? AND device = ?", arguments: [account, id])
      }
    }
  }

  // MARK: How an account is doing

  /// Notes when an account's cloud answered last, and what is wrong with it now.
  func note(contact: Int64?, failure: String?, of account: StoredCloudAccount) throws(HomeError) {
    try write {
      try $0.execute(
        sql: """
          UPDATE cloud_account SET contact = coalesce(?, contact), failure = ? WHERE name = ? AND revision = ?
          """,
        arguments: [contact, failure, account.name, account.revision])
    }
  }

  /// Notes that something was done through an account: whoever follows it asks soon what came of that.
  func noteOrder(through account: String) throws(HomeError) {
    try write {
      try $0.execute(sql: "UPDATE cloud_account SET orders = orders + 1 WHERE name = ?", arguments: [account])
    }
  }
}

extension [NodeID: CloudNode] {
  /// Where a device of an account is, or is to be.
  /// - Parameter new: draws the id of a node.
  fileprivate func place(
    of part: CloudPart, _ new: () throws -> NodeID
  ) rethrows -> (node: NodeID, endpoint: EndpointID) {
    for node in values {
      if let known = node.parts.first(where: { $0.value.device.id == part.device.id }) { return (node.node, known.key) }
    }
    let others = values.filter { $0.parts.values.contains { $0.isSameDevice(as: part) } }
    guard let other = others.min(by: { $0.node < $1.node }), let last = other.parts.keys.max(),
      last.rawValue < CloudNode.mostParts
    else { return (try new(), 1) }
    return (other.node, EndpointID(last.rawValue + 1))
  }
}

extension HomeState {
  /// Takes nodes out of the home.
  /// - Returns: what is to be changed, and the names of the devices that have no way left.
  func removing(_ nodes: [NodeID]) -> (changes: [HomeChange], result: [String]) {
    let gone = orderedDevices.filter { $0.sources.allSatisfy { nodes.contains($0.id.node) } }
    let ways = nodes.sorted().flatMap(sources).map { HomeChange.sourceRemoved($0.id) }
    return (ways + gone.map { .deviceRemoved(id: $0.id) }, gone.map(\.name))
  }
}
