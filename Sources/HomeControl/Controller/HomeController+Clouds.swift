package import CloudLink
package import HomeModel
internal import MatterClusters
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Devices that are reached through a vendor's cloud. Accounts are polled only while the devices are followed. Requests
// to a device are sent through its account.
extension HomeController {
  /// Loads the accounts and their devices from the database; creates and ends connections accordingly. A failed load
  /// leaves the connections as they are.
  package func readClouds() async {
    // Applied on the event loop, in the order of the calls.
    try? await dispatcher.value.writer.perform { (try $0.storedCloudAccounts(), try $0.cloudNodes()) }
      .map { accounts, nodes in self.assumeIsolated { $0.connect(accounts, nodes) } }.get()
  }

  private func connect(_ accounts: [StoredCloudAccount], _ nodes: [String: [NodeID: CloudNode]]) {
    guard !dispatcher.value.host.isStopped else { return }
    let revisions = Set(accounts.map(\.revision))
    endClouds { !revisions.contains($0.account.revision) }
    let host = NIOLoopBound<any CloudHost>(dispatcher.value, eventLoop: eventLoop)
    for account in accounts {
      let link =
        clouds[account.name]
        ?? CloudConnection(
          account, nodes[account.name] ?? [:], host, options.clouds, logger: options.logger, machine: options.machine)
      clouds[account.name] = link
      if isFollowing { link.assumeIsolated { $0.follow() } }
    }
  }

  /// See ``Home/removeCloudAccount(_:)``.
  package func removeCloudAccount(
    _ name: String, origin: String?
  ) async throws(HomeError) -> (account: CloudAccount, devices: [String]) {
    // The connection ends first, so that a response in progress adds no device of the removed account.
    endClouds { HomeNames.same($0.account.name, name) }
    let removed = await Result { () async throws(HomeError) in
      try await commit(origin: origin) { database, origin, time throws(HomeError) in
        try database.removeCloudAccount(name, origin: origin, at: time)
      }
    }
    await readClouds()
    return try removed.get()
  }

  func endClouds(where isEnding: (CloudConnection) -> Bool = { _ in true }) {
    for (name, link) in clouds.sorted(by: { $0.key < $1.key }) where isEnding(link) {
      clouds[name] = nil
      link.assumeIsolated { $0.end() }
    }
  }

  /// Returns the connection of the account that a node belongs to.
  /// - Throws: ``HomeError`` `notFound` if no account has the node.
  package func cloud(of node: NodeID) async throws(HomeError) -> CloudConnection {
    if clouds.isEmpty { await readClouds() }
    for (_, link) in clouds.sorted(by: { $0.key < $1.key }) { if await link.nodes[node] != nil { return link } }
    throw HomeError(.notFound, "no longer in a cloud account of the home; see `hearth home cloud list`")
  }

  /// Returns the connection of an account by its name, regardless of case.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  package func cloud(named name: String) async throws(HomeError) -> CloudConnection {
    if clouds.isEmpty { await readClouds() }
    guard let known = clouds.first(where: { HomeNames.same($0.key, name) }) else {
      throw HomeError.unknown("there is no cloud account “\(name)”", name, in: clouds.keys.sorted())
    }
    return known.value
  }

  /// Throws ``HomeError`` `refused` for a cloud device, which does not support requests to nodes of the fabric.
  func checkFabric(_ node: NodeID) throws(HomeError) {
    guard node.isTemporaryLocal else { return }
    throw HomeError(
      .refused, "reachable only through the vendor's cloud, which does not support this; it requires Matter")
  }

  // MARK: Requests

  /// Reads attributes of a device from its known values, after a query of its cloud.
  /// - Throws: ``HomeError`` `unreachable` if the cloud can't reach a requested part.
  func readCloud(_ node: NodeID, _ paths: [AttributePath]) async throws(HomeError) -> ReassembledReport {
    let link = try await cloud(of: node)
    let values = try await queriedValues(link, node)
    // The values of an unreachable part are stale.
    let unreachable = values.endpointIDs.filter(values.isUnreachable)
    if paths.compactMap(\.endpoint).contains(where: unreachable.contains) {
      throw CloudIntent.away(link.account.name)
    }
    let all = values.all.filter { attribute in
      !unreachable.contains(attribute.path.endpoint) && paths.contains { $0.matches(attribute.path) }
    }.map { AttributeData($0.path, dataVersion: 0, value: $0.value) }
    let statuses = paths.filter { path in !path.isWildcard && !all.contains { path.matches($0.path) } }.map {
      AttributeStatus($0, status: Status(.unsupportedAttribute))
    }
    return ReassembledReport(all, statuses)
  }

  /// Queries the cloud and returns the known values of a node, updated with the result.
  /// - Throws: ``HomeError`` `unreachable` if the cloud can't reach the node.
  private func queriedValues(_ link: CloudConnection, _ node: NodeID) async throws(HomeError) -> NodeValues {
    let reported: [AttributeData]?
    do throws(CloudFailure) { reported = try await link.query([node])[node] } catch {
      throw error.homeError(of: link.account.name)
    }
    guard let reported else { throw CloudIntent.away(link.account.name) }
    var values = state.values[node] ?? NodeValues()
    for attribute in reported { values[attribute.path] = attribute.value }
    return values
  }

  func invokeCloud(_ node: NodeID, _ command: CommandData) async throws(HomeError) {
    let link = try await cloud(of: node)
    guard let endpoint = command.path.endpoint, let device = await link.nodes[node]?.parts[endpoint] else {
      throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
    }
    var values = state.values[node] ?? NodeValues()
    // Toggle depends on the current state, and so do level and color commands that apply only to a device that is on.
    let isToggle = command.path.cluster == OnOff.id && command.path.command == OnOff.toggle.id
    if isToggle || command.path.cluster == LevelControl.id || command.path.cluster == ColorControl.id {
      values = try await queriedValues(link, node)
      guard !values.isUnreachable(endpoint) else { throw CloudIntent.away(link.account.name) }
    }
    let order = try CloudOrder(command, on: endpoint, of: device, values)
    try await link.execute(order, of: node)
  }

  func writeCloud(_ node: NodeID, _ writes: [AttributeWrite]) async throws(HomeError) -> [AttributeStatus] {
    let link = try await cloud(of: node)
    // The setpoint that a temperature applies to depends on the current mode.
    let needsQuery = writes.contains { $0.path.cluster == Thermostat.id }
    var values = needsQuery ? try await queriedValues(link, node) : state.values[node] ?? NodeValues()
    // All writes are translated before the first is sent: if one is invalid, none is sent.
    var orders: [CloudOrder] = []
    for write in writes {
      guard let endpoint = write.path.endpoint, let device = await link.nodes[node]?.parts[endpoint] else {
        throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
      }
      orders.append(try CloudOrder(write, on: endpoint, of: device, values))
      // The following writes are translated for the state after this one.
      if let path = write.path.concrete { values[path] = write.value }
    }
    for order in orders { try await link.execute(order, of: node) }
    return writes.map { AttributeStatus($0.path, status: Status(.success)) }
  }
}

extension NodeValues {
  /// Whether an endpoint is a part that the cloud can't reach, of a device with several parts.
  fileprivate func isUnreachable(_ endpoint: EndpointID) -> Bool {
    value(BridgedDeviceBasicInformation.reachable, on: endpoint) == false
  }
}
