package import HomeModel
internal import MatterClusters

/// The objects that a batch affects.
package struct AffectedObjects {
  package private(set) var structures = false
  package private(set) var rooms = false
  /// Devices with changes other than of attributes, in the order of the changes.
  package private(set) var devices: [String] = []
  /// All observed devices, with the clusters whose attributes changed.
  package private(set) var clusters: [String: Set<ClusterPath>] = [:]

  /// - Parameters:
  ///   - state: the state that includes the batch.
  ///   - isObserved: whether ``clusters`` has to contain a device.
  package init(_ update: HomeUpdate, _ state: HomeState, _ isObserved: (String) -> Bool) {
    var seen: Set<String> = []
    func note(_ device: String?, in objects: inout Self) {
      guard let device, seen.insert(device).inserted else { return }
      objects.devices.append(device)
      if isObserved(device) { objects.clusters[device, default: []].formUnion([]) }
    }
    for change in update.changes {
      switch change {
      case .structureAdded, .structureRenamed, .structureRemoved, .primaryStructureChosen: structures = true
      case .roomAdded, .roomRenamed, .roomRemoved: rooms = true
      case .deviceAdded(let id, _, _, _), .deviceRemoved(let id), .deviceRenamed(let id, _), .deviceMoved(let id, _):
        note(id, in: &self)
      case .sourceAdded(let source, let id):
        note(id, in: &self)
        note(update.previousDevices[source], in: &self)
      case .sourceRemoved(let source): note(update.previousDevices[source], in: &self)
      case .topology(let source, _, _), .connectivity(let source, _): note(state.device(of: source)?.id, in: &self)
      case .attribute(let node, let path, _):
        // Also affects the connectivity.
        if path == BridgedDeviceBasicInformation.reachable.path(on: path.endpoint) {
          note(state.deviceID(of: node, path.endpoint), in: &self)
        }
        let trait = state.trait(of: ClusterPath(path.endpoint, path.cluster), on: node)
        if let trait, isObserved(trait.device) { clusters[trait.device, default: []].insert(trait.path) }
      case .event: break
      }
    }
    for id in update.settled.sorted() { note(id, in: &self) }
  }
}
