package import CloudLink
package import HomeModel
internal import MatterClusters
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Devices that are reached through a maker's cloud. Whoever follows the devices asks the accounts; whoever has something to be
// done by one asks that one for it.
extension HomeController {
  /// Takes the accounts as the database has them now. When it returns they are as they were when it was called, or newer.
  package func readClouds() async {
    cloudReadings.begun += 1
    let reading = cloudReadings.begun
    let read = try? await edge.value.keeper.perform { (try $0.storedCloudAccounts(), try $0.cloudNodes()) }.get()
    // Where it can't be read now, what was read before holds; who began later knows better, and has said so.
    guard let (accounts, nodes) = read, reading > cloudReadings.inForce else { return }
    cloudReadings.inForce = reading
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
    if isFollowing { await removeStrays(nodes.values.reduce(into: []) { $0.formUnion($1.keys) }) }
  }

  private func makeLink(_ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode]) -> CloudConnection {
    let host = NIOLoopBound<any CloudHost>(edge.value, eventLoop: eventLoop)
    return CloudConnection(account, nodes, host, options.clouds, logger: options.logger, machine: options.machine)
  }

  /// Removes devices of clouds that are of no account any more: their account went while it was answering.
  /// - Parameter known: nodes that are of an account.
  private func removeStrays(_ known: Set<NodeID>) async {
    let nodes = Set(state.devices.values.flatMap(\.sources).map(\.id.node))
    let strays = nodes.filter { $0.isTemporaryLocal && !known.contains($0) }
    // What is in the home was in its account before: whether it is still is read after that is known.
    guard !strays.isEmpty, let now = try? await edge.value.keeper.perform({ try $0.cloudNodes() }).get() else { return }
    for node in strays.sorted() where now.values.allSatisfy({ $0[node] == nil }) { take(.nodeRemoved(node)) }
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
    // The answer is stored for the next process.
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

  /// Asks no cloud any more.
  func endClouds() {
    // What is being read of them comes too late.
    cloudReadings.inForce = .max
    let all = clouds
    clouds = [:]
    for (_, link) in all.sorted(by: { $0.key < $1.key }) { link.endNow() }
  }

  /// The account that a node is a device of.
  package func cloud(of node: NodeID) async throws(HomeError) -> CloudConnection {
    // Who follows them hears of what others do to the accounts; anybody else looks.
    if !isFollowing || clouds.isEmpty { await readClouds() }
    for (_, link) in clouds.sorted(by: { $0.key < $1.key }) { if await link.nodes[node] != nil { return link } }
    throw HomeError(.notFound, "no longer in a cloud account of the home; see `hearth home cloud list`")
  }

  /// The account of this name, in whatever case.
  package func cloud(named name: String) async throws(HomeError) -> CloudConnection {
    await readClouds()
    guard let known = clouds.first(where: { HomeNames.same($0.key, name) }) else {
      throw HomeError(
        .notFound, "there is no cloud account “\(name)”",
        candidates: NearestName.suggestions(for: name, in: clouds.keys.sorted()))
    }
    return known.value
  }

  /// What can be done to a node of the fabric only.
  func checkFabric(_ node: NodeID) throws(HomeError) {
    guard node.isTemporaryLocal else { return }
    throw HomeError(
      .refused, "reachable only through the vendor's cloud, which does not support this; it requires Matter")
  }

  // MARK: Requests

  /// Reads what is known of a device when its cloud has been asked.
  func readCloud(_ node: NodeID, _ paths: [AttributePath]) async throws(HomeError) -> ReassembledReport {
    let link = try await cloud(of: node)
    let values = try await asked(link, node)
    // What a part was that is away is no answer.
    let away = values.endpointIDs.filter(values.isAway)
    if paths.compactMap(\.endpoint).contains(where: away.contains) {
      throw await CloudIntent.away(link.account.name)
    }
    let all = values.attributes.filter { attribute in
      !away.contains(attribute.path.endpoint) && paths.contains { $0.matches(attribute.path) }
    }
    let statuses = paths.filter { path in !path.isWildcard && !all.contains { path.matches($0.path) } }.map {
      AttributeStatus($0, status: Status(.unsupportedAttribute))
    }
    return ReassembledReport(all, statuses)
  }

  /// What is known of a node when its cloud has been asked.
  /// - Throws: `unreachable` where the cloud itself does not reach it.
  private func asked(_ link: CloudConnection, _ node: NodeID) async throws(HomeError) -> NodeValues {
    let told: [AttributeData]?
    do throws(CloudFailure) { told = try await link.query([node])[node] } catch {
      throw error.homeError(of: await link.account.name)
    }
    guard let told else { throw await CloudIntent.away(link.account.name) }
    var values = state.values[node] ?? NodeValues()
    for attribute in told { values[attribute.path] = attribute.value }
    return values
  }

  func invokeCloud(_ node: NodeID, _ command: CommandData) async throws(HomeError) {
    let link = try await cloud(of: node)
    guard let endpoint = command.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
      throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
    }
    var values = state.values[node] ?? NodeValues()
    // What it is to be the opposite of has to be known now; and so has whether it is on, where only what is on changes.
    let isToggle = command.path.cluster == OnOff.id && command.path.command == OnOff.toggle.id
    if isToggle || command.path.cluster == LevelControl.id || command.path.cluster == ColorControl.id {
      values = try await asked(link, node)
      guard !values.isAway(endpoint) else { throw await CloudIntent.away(link.account.name) }
    }
    let order = try CloudOrder(command, on: endpoint, of: part.device, values)
    try await link.execute(order, on: endpoint, of: node)
  }

  func writeCloud(_ node: NodeID, _ writes: [AttributeWrite]) async throws(HomeError) -> [AttributeStatus] {
    let link = try await cloud(of: node)
    // Which set point a temperature is depends on the mode, and that has to be known now.
    let isAsked = writes.contains { $0.path.cluster == Thermostat.id }
    var values = isAsked ? try await asked(link, node) : state.values[node] ?? NodeValues()
    // All can be done, or nothing is.
    var orders: [(CloudOrder, EndpointID)] = []
    for write in writes {
      guard let endpoint = write.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
        throw HomeError(.notFound, "no such endpoint in the vendor's cloud")
      }
      orders.append((try CloudOrder(write, on: endpoint, of: part.device, values), endpoint))
      // What comes behind it is meant for what is then.
      if let path = write.path.concrete { values[path] = write.value }
    }
    for (order, endpoint) in orders { try await link.execute(order, on: endpoint, of: node) }
    return writes.map { AttributeStatus($0.path, status: Status(.success)) }
  }
}

extension NodeValues {
  /// Whether an endpoint is a part that its cloud does not reach, of several.
  fileprivate func isAway(_ endpoint: EndpointID) -> Bool {
    value(BridgedDeviceBasicInformation.reachable, on: endpoint) == false
  }

  /// All that is known, in the order of paths.
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
