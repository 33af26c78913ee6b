package import MatterClusters
internal import MatterController

/// A binding of an endpoint to a target.
package struct BindingEntry: Hashable, Sendable {
  package var source: EndpointID
  /// The node and endpoint, or the group, that the endpoint controls.
  package var target: Binding.TargetStruct
}

/// The result of adding or removing bindings.
package struct BindingChange: Sendable {
  /// The added or removed entries.
  package var entries: [BindingEntry]
  /// Whether the target's access control list was also changed.
  package var accessChanged: Bool
}

extension Home {
  /// Returns the bindings of a device, in the order of its endpoints.
  package func bindings(of source: Target) async throws(HomeError) -> [BindingEntry] {
    var result: [BindingEntry] = []
    for endpoint in try bindingEndpoints(of: source) {
      let list: ScopedList<Binding.TargetStruct> = try await scopedList(
        Binding.binding, on: endpoint, of: source.device)
      result += list.entries.map { BindingEntry(source: endpoint, target: $0.entry) }
    }
    return result
  }

  /// Binds an endpoint of a device to another device, and grants it access there.
  /// - Parameters:
  ///   - clusters: the clusters to bind; nil: all that the source is a client of and the target serves.
  ///   - force: writes the target's access control list even if it does not name this home as an administrator.
  package func bind(
    _ source: Target, to target: Target, clusters: [ClusterID]? = nil, force: Bool = false
  ) async throws(HomeError) -> BindingChange {
    let endpoint = try bindingEndpoint(of: source)
    let (targetEndpoint, wanted) = try commonClusters(source.device, endpoint, target, clusters)
    // Access is granted before the binding, because a bound switch without access can't report its errors.
    let rule = Self.rule(for: source.device, on: targetEndpoint)
    let granted = try await grant(rule, on: target.device, force: force).isChanged
    do throws(HomeError) {
      let added = try await add(wanted, of: target.device.nodeID, targetEndpoint, to: endpoint, of: source.device)
      return BindingChange(entries: added, accessChanged: granted)
    } catch {
      // Revokes the access again if the device rejected the binding. Without an answer, the binding may exist.
      if granted, error.code == .refused { _ = try? await revoke(rule, on: target.device) }
      throw error
    }
  }

  /// Adds the missing entries.
  private func add(
    _ clusters: [ClusterID], of node: NodeID, _ targetEndpoint: EndpointID, to endpoint: EndpointID,
    of source: DeviceRecord
  ) async throws(HomeError) -> [BindingEntry] {
    try await changeScopedList(Binding.binding, on: endpoint, of: source) { items throws(HomeError) in
      var added: [BindingEntry] = []
      for cluster in clusters {
        let exists = items.contains {
          $0.entry.node == node && $0.entry.endpoint == targetEndpoint && ($0.entry.cluster ?? cluster) == cluster
        }
        if exists { continue }
        let entry = Binding.TargetStruct(node: node, endpoint: targetEndpoint, cluster: cluster)
        items.append(ScopedEntry(entry))
        added.append(BindingEntry(source: endpoint, target: entry))
      }
      return (added, !added.isEmpty)
    }
  }

  /// Removes bindings.
  /// - Parameter clusters: the clusters to unbind; nil: all.
  /// - Throws: `notFound` if there is no such binding.
  package func unbind(
    _ source: Target, from target: Target, clusters: [ClusterID]? = nil
  ) async throws(HomeError) -> BindingChange {
    let node = target.device.nodeID
    var removed: [BindingEntry] = []
    for endpoint in try bindingEndpoints(of: source) {
      removed += try await changeScopedList(Binding.binding, on: endpoint, of: source.device) {
        items throws(HomeError) in
        let matches = items.filter {
          $0.entry.node == node && (target.endpoint == nil || $0.entry.endpoint == target.endpoint)
            && (clusters == nil || $0.entry.cluster.map { clusters?.contains($0) == true } == true)
        }
        items.removeAll { item in matches.contains { $0.entry == item.entry } }
        return (matches.map { BindingEntry(source: endpoint, target: $0.entry) }, !matches.isEmpty)
      }
    }
    guard !removed.isEmpty else {
      throw HomeError(.notFound, "no such binding to \(target.device.name)", device: source.device.name)
    }
    // Access is revoked with the last binding to the endpoint.
    let left = try await bindings(of: Target(source.device))
    var accessChanged = false
    for targetEndpoint in Set(removed.compactMap(\.target.endpoint)).sorted()
    where !left.contains(where: { $0.target.node == node && ($0.target.endpoint ?? targetEndpoint) == targetEndpoint })
    {
      if try await revoke(Self.rule(for: source.device, on: targetEndpoint), on: target.device) { accessChanged = true }
    }
    return BindingChange(entries: removed, accessChanged: accessChanged)
  }

  private static func rule(for device: DeviceRecord, on endpoint: EndpointID) -> AccessEntry {
    AccessEntry(
      privilege: .operate, authMode: .case, subjects: .value([device.nodeID]),
      targets: .value([.init(cluster: .null, endpoint: .value(endpoint), deviceType: .null)]))
  }

  // MARK: Endpoints

  private func bindingEndpoints(of source: Target) throws(HomeError) -> [EndpointID] {
    if let endpoint = source.endpoint { return [endpoint] }
    let all = source.device.endpoints.filter { $0.servers.contains(Binding.id) }.map(\.id)
    return all.isEmpty ? [try source.endpoint(serving: Binding.id)] : all
  }

  private func bindingEndpoint(of source: Target) throws(HomeError) -> EndpointID {
    let all = try bindingEndpoints(of: source)
    guard all.count == 1 else {
      throw HomeError(
        .ambiguousTarget, "several endpoints have a Binding cluster; name one of them", device: source.device.name,
        candidates: all.map { "\(source.device.fullName)/\($0)" })
    }
    return all[0]
  }

  /// Returns an endpoint of the target, and the clusters that the source controls and the endpoint serves.
  private func commonClusters(
    _ device: DeviceRecord, _ endpoint: EndpointID, _ target: Target, _ clusters: [ClusterID]?
  ) throws(HomeError) -> (EndpointID, [ClusterID]) {
    let clients = device.endpoints.first { $0.id == endpoint }?.clients ?? []
    // Utility clusters, which all lights and switches have, don't identify the purpose of an endpoint.
    let utilities: Set<ClusterID> = [Identify.id, Groups.id, ScenesManagement.id]
    let candidates = target.device.applicationEndpoints.filter { target.endpoint == nil || $0.id == target.endpoint }
    for candidate in candidates {
      let common = (clusters ?? clients).filter { candidate.servers.contains($0) }
      let wanted = clusters == nil ? common.filter { !utilities.contains($0) } : common
      if let clusters, wanted.count < clusters.count { continue }
      if !wanted.isEmpty { return (candidate.id, wanted) }
    }
    let names = (clusters ?? clients).map { ClusterCatalogue.cluster($0)?.name ?? "\($0)" }
    throw HomeError(
      .notFound,
      names.isEmpty
        ? "\(device.name)/\(endpoint) has no client clusters; name one with --cluster"
        : "has none of the clusters that \(device.name)/\(endpoint) controls: \(names.joined(separator: ", "))",
      device: target.device.name)
  }
}
