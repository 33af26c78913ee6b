internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Devices that are reached through a maker's cloud. Whoever follows the devices asks the accounts; whoever has something to be
// done by one asks that one for it.
extension HomeController {
  /// Takes the accounts as the database has them now.
  func readClouds() async {
    guard cloudReadings < .max else { return }
    cloudReadings += 1
    let reading = cloudReadings
    let read = try? await edge.value.keeper.perform { (try $0.storedCloudAccounts(), try $0.cloudNodes()) }.get()
    // Where it can't be read now, what was read before holds; who began later knows better.
    guard let (accounts, nodes) = read, reading == cloudReadings else { return }
    for (name, link) in clouds where !accounts.contains(where: { $0.name == name }) {
      clouds[name] = nil
      link.endNow()
    }
    for account in accounts {
      let nodes = nodes[account.name] ?? [:]
      let link = clouds[account.name] ?? CloudLink(account, nodes, edge, options)
      if clouds.updateValue(link, forKey: account.name) != nil { link.updateNow(account, nodes) }
      if isFollower { link.followNow() }
    }
  }

  /// Asks no cloud any more.
  func endClouds() {
    // What is being read of them comes too late.
    cloudReadings = .max
    let all = clouds
    clouds = [:]
    for (_, link) in all.sorted(by: { $0.key < $1.key }) { link.endNow() }
  }

  /// The account that a node is a device of.
  func cloud(of node: NodeID) async throws(HomeError) -> CloudLink {
    // Who follows them hears of what others do to the accounts; anybody else looks.
    if !isFollower || clouds.isEmpty { await readClouds() }
    for (_, link) in clouds.sorted(by: { $0.key < $1.key }) { if await link.nodes[node] != nil { return link } }
    throw HomeError(.notFound, "it is in no cloud account of the home any more; see `hearth home cloud list`")
  }

  /// The account of this name, in whatever case.
  func cloud(named name: String) async throws(HomeError) -> CloudLink {
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
      .refused, "it is reached through the cloud of its maker now, which has no such thing; that takes a Matter device")
  }

  // MARK: Requests

  /// Reads what is known of a device when its cloud has been asked.
  func readCloud(_ node: NodeID, _ paths: [AttributePath]) async throws(HomeError) -> ReassembledReport {
    let link = try await cloud(of: node)
    let told: [AttributeData]
    do throws(CloudFailure) { told = try await link.query([node])[node] ?? [] } catch {
      throw error.homeError(of: await link.account.name)
    }
    var values = state.values[node] ?? NodeValues()
    for attribute in told { values[attribute.path] = attribute.value }
    let all = values.attributes.filter { attribute in paths.contains { $0.matches(attribute.path) } }
    let statuses = paths.filter { path in !path.isWildcard && !all.contains { path.matches($0.path) } }.map {
      AttributeStatus($0, status: Status(.unsupportedAttribute))
    }
    return ReassembledReport(all, statuses)
  }

  func invokeCloud(_ node: NodeID, _ command: CommandData) async throws(HomeError) {
    let link = try await cloud(of: node)
    guard let endpoint = command.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
      throw HomeError(.notFound, "there is no such endpoint by the cloud of its maker")
    }
    var values = state.values[node] ?? NodeValues()
    // What it is to be the opposite of has to be known now.
    if command.path.cluster == OnOff.id, command.path.command == OnOff.toggle.id {
      do throws(CloudFailure) {
        for attribute in try await link.query([node])[node] ?? [] { values[attribute.path] = attribute.value }
      } catch { throw error.homeError(of: await link.account.name) }
    }
    let order = try CloudOrder(command, on: endpoint, of: part.device, values)
    try await link.execute(order, on: endpoint, of: node)
  }

  func writeCloud(_ node: NodeID, _ writes: [AttributeWrite]) async throws(HomeError) -> [AttributeStatus] {
    let link = try await cloud(of: node)
    // All can be done, or nothing is.
    var orders: [(CloudOrder, EndpointID)] = []
    for write in writes {
      guard let endpoint = write.path.endpoint, let part = await link.nodes[node]?.parts[endpoint] else {
        throw HomeError(.notFound, "there is no such endpoint by the cloud of its maker")
      }
      orders.append((try CloudOrder(write, of: part.device), endpoint))
    }
    for (order, endpoint) in orders { try await link.execute(order, on: endpoint, of: node) }
    return writes.map { AttributeStatus($0.path, status: Status(.success)) }
  }
}

extension NodeValues {
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
