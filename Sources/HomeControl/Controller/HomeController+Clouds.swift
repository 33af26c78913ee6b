package import CloudLink
package import HomeModel
internal import MatterClusters
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Devices that are reached through a vendor's cloud. Accounts are polled only while the devices are followed. Requests
// to a device are sent through its account.
extension HomeController {
  /// Loads the accounts and their devices from the database; creates, updates and ends connections accordingly. On
  /// return the connections match the database at the time of the call, or a later state of it.
  package func readClouds() async {
    cloudLoads.started += 1
    let load = cloudLoads.started
    let loaded = try? await edge.value.keeper.perform { (try $0.storedCloudAccounts(), try $0.cloudNodes()) }.get()
    // A failed load leaves the connections as they are, and a result is dropped if a load that started later was
    // applied.
    guard let (accounts, nodes) = loaded, load > cloudLoads.applied else { return }
    cloudLoads.applied = load
    for (name, link) in clouds.sorted(by: { $0.key < $1.key }) where !accounts.contains(where: { $0.name == name }) {
      clouds[name] = nil
      link.endNow()
    }
    for account in accounts {
      let nodes = nodes[account.name] ?? [:]
      let link = clouds[account.name] ?? makeLink(account, nodes)
      if clouds.updateValue(link, forKey: account.name) != nil { link.updateNow(account, nodes) }
      if isFollowing { link.followNow() }
    }
    if isFollowing { await removeOrphans(keeping: nodes.values.reduce(into: []) { $0.formUnion($1.keys) }) }
  }

  private func makeLink(_ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode]) -> CloudConnection {
    let host = NIOLoopBound<any CloudHost>(edge.value, eventLoop: eventLoop)
    return CloudConnection(account, nodes, host, options.clouds, logger: options.logger, machine: options.machine)
  }

  /// Removes cloud devices without an account: their account was removed while its response was processed.
  /// - Parameter known: the nodes of all accounts.
  private func removeOrphans(keeping known: Set<NodeID>) async {
    let nodes = Set(state.devices.values.flatMap(\.sources).map(\.id.node))
    let orphans = nodes.filter { $0.isTemporaryLocal && !known.contains($0) }
    // A device is stored in its account before it is added to the home. `known` may be older than the device, so the
    // accounts are loaded again.
    guard !orphans.isEmpty, let now = try? await edge.value.keeper.perform({ try $0.cloudNodes() }).get() else {
      return
    }
    for node in orphans.sorted() where now.values.allSatisfy({ $0[node] == nil }) { take(.nodeRemoved(node)) }
  }

  /// See ``Home/addCloudAccount(_:address:token:)``.
  package func addCloudAccount(_ name: String, address: String, token: String) async throws(HomeError) -> CloudAccount {
    let account = try await withDatabase { try $0.addCloudAccount(name, address: address, token: token).account }
    await readClouds()
    return account
  }

  /// See ``Home/refreshCloudAccount(_:)``.
  package func refreshCloudAccount(_ name: String) async throws(HomeError) {
    try await cloud(named: name).refresh()
    // Waits until the devices and their states are stored.
    try await flush()
  }

  /// See ``Home/removeCloudAccount(_:)``.
  package func removeCloudAccount(
    _ name: String, origin: String?
  ) async throws(HomeError) -> (account: CloudAccount, devices: [String]) {
    let removed = try await commit(origin: origin) { database, origin, time throws(HomeError) in
      try database.removeCloudAccount(name, origin: origin, at: time)
    }
    await readClouds()
    return removed
  }

  /// Ends all connections to clouds.
  func endClouds() {
    // Drops the results of loads in progress.
    cloudLoads.applied = .max
    let all = clouds
    clouds = [:]
    for (_, link) in all.sorted(by: { $0.key < $1.key }) { link.endNow() }
  }

  /// Returns the connection of the account that a node belongs to.
  /// - Throws: ``HomeError`` `notFound` if no account has the node.
  package func cloud(of node: NodeID) async throws(HomeError) -> CloudConnection {
    // While the devices are followed, the connections are up to date.
    if !isFollowing || clouds.isEmpty { await readClouds() }
    for (_, link) in clouds.sorted(by: { $0.key < $1.key }) { if await link.nodes[node] != nil { return link } }
    throw HomeError(.notFound, "no longer in a cloud account of the home; see `hearth home cloud list`")
  }

  /// Returns the connection of an account by its name, regardless of case.
  /// - Throws: ``HomeError`` `notFound` with similar names.
  package func cloud(named name: String) async throws(HomeError) -> CloudConnection {
    await readClouds()
    guard let known = clouds.first(where: { HomeNames.same($0.key, name) }) else {
      throw HomeError(
        .notFound, "there is no cloud account “\(name)”",
        candidates: NearestName.suggestions(for: name, in: clouds.keys.sorted()))
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
      throw await CloudIntent.away(link.account.name)
    }
    let all = values.attributes.filter { attribute in
      !unreachable.contains(attribute.path.endpoint) && paths.contains { $0.matches(attribute.path) }
    }
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
      throw error.homeError(of: await link.account.name)
    }
    guard let reported else { throw await CloudIntent.away(link.account.name) }
    var values = state.values[node] ?? NodeValues()
    for attribute in reported { values[attribute.path] = attribute.value }
    return values
  }

  func invokeCloud(_ node: NodeID, _ command: CommandData) async throws(HomeError) {
    let link = try await cloud(of: node)
    guard let endpoint = command.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
      throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
    }
    var values = state.values[node] ?? NodeValues()
    // Toggle depends on the current state, and so do level and color commands that apply only to a device that is on.
    let isToggle = command.path.cluster == OnOff.id && command.path.command == OnOff.toggle.id
    if isToggle || command.path.cluster == LevelControl.id || command.path.cluster == ColorControl.id {
      values = try await queriedValues(link, node)
      guard !values.isUnreachable(endpoint) else { throw await CloudIntent.away(link.account.name) }
    }
    let order = try CloudOrder(command, on: endpoint, of: part.device, values)
    try await link.execute(order, on: endpoint, of: node)
  }

  func writeCloud(_ node: NodeID, _ writes: [AttributeWrite]) async throws(HomeError) -> [AttributeStatus] {
    let link = try await cloud(of: node)
    // The setpoint that a temperature applies to depends on the current mode.
    let needsQuery = writes.contains { $0.path.cluster == Thermostat.id }
    var values = needsQuery ? try await queriedValues(link, node) : state.values[node] ?? NodeValues()
    // All writes are translated before the first is sent: if one is invalid, none is sent.
    var orders: [(CloudOrder, EndpointID)] = []
    for write in writes {
      guard let endpoint = write.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
        throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
      }
      orders.append((try CloudOrder(write, on: endpoint, of: part.device, values), endpoint))
      // The following writes are translated for the state after this one.
      if let path = write.path.concrete { values[path] = write.value }
    }
    for (order, endpoint) in orders { try await link.execute(order, on: endpoint, of: node) }
    return writes.map { AttributeStatus($0.path, status: Status(.success)) }
  }
}

extension NodeValues {
  /// Whether an endpoint is a part that the cloud can't reach, of a device with several parts.
  fileprivate func isUnreachable(_ endpoint: EndpointID) -> Bool {
    value(BridgedDeviceBasicInformation.reachable, on: endpoint) == false
  }

  /// All values, in the order of their paths.
  fileprivate var attributes: [AttributeData] {
    endpointIDs.flatMap { endpoint in
      self[endpoint].sorted { $0.key < $1.key }.flatMap { cluster, values in
        values.entries.map {
          AttributeData(.init(endpoint, cluster, $0.attribute), dataVersion: 0, value: $0.value)
        }
      }
    }
  }
}
