package import HomeModel
package import MatterModel
internal import MatterProtocol

/// A cluster of a device, with an attribute or, for a command, nil.
typealias TraitPath = (path: ClusterPath, attribute: AttributeID?)

extension HomeRequest {
  /// Returns a request to a device as one to the node that its traits come from now; other requests are returned unchanged.
  /// - Throws: ``HomeError`` `notFound` for an unknown device, and as `HomeState.place(of:of:by:)`.
  package func placed(in state: HomeState) throws(HomeError) -> HomeRequest {
    switch self {
    case .writeDevice(let device, let original, let writes, let isTimed, _):
      let place = try state.place(of: writes.traits, of: state.knownDevice(device), by: original)
      return .write(node: place.source.id.node, writes: writes.moved(to: place.paths), isTimed: isTimed)
    case .invokeDevice(let device, let original, let command, let isTimed, _):
      let place = try state.place(of: command.traits, of: state.knownDevice(device), by: original)
      return .invoke(node: place.source.id.node, command: command.moved(to: place.paths), isTimed: isTimed)
    default: return self
    }
  }

  /// Whether the reply depends on the answer of a device.
  package var isForDevice: Bool {
    switch self {
    case .read, .write, .invoke, .writeDevice, .invokeDevice, .openWindow, .remove: true
    default: false
    }
  }

  /// The node of a request to a node; nil for other requests.
  package var node: NodeID? {
    switch self {
    case .read(let node, _, _, _), .write(let node, _, _), .invoke(let node, _, _): node
    default: nil
    }
  }
}

extension HomeReply {
  /// Returns the reply to a request from the reply to ``HomeRequest/placed(in:)``.
  /// - Throws: ``HomeError`` for the first write that failed.
  package func reply(to request: HomeRequest) throws(HomeError) -> HomeReply {
    guard case .writeDevice = request, case .written(let statuses) = self else { return self }
    try statuses.requireSuccess()
    return .done
  }
}

extension [AttributeStatus] {
  /// - Throws: ``HomeError`` for the first write that failed.
  func requireSuccess() throws(HomeError) {
    for status in self where status.status.code != .success {
      throw HomeError(status.status, of: status.path.cluster)
    }
  }
}

extension CommandData {
  var traits: [TraitPath] { path.endpoint.map { [(ClusterPath($0, path.cluster), nil)] } ?? [] }

  /// Returns the command at the places of its ``traits``.
  func moved(to places: [ClusterPath]) -> Self {
    var moved = self
    if let place = places.first { (moved.path.endpoint, moved.path.cluster) = (place.endpoint, place.cluster) }
    return moved
  }
}

extension [AttributeWrite] {
  var traits: [TraitPath] {
    compactMap { write in
      guard let endpoint = write.path.endpoint, let cluster = write.path.cluster else { return nil }
      return (ClusterPath(endpoint, cluster), write.path.attribute)
    }
  }

  /// Returns the writes at the places of their ``traits``.
  func moved(to places: [ClusterPath]) -> Self {
    var moved = self
    let concrete = indices.filter { self[$0].path.endpoint != nil && self[$0].path.cluster != nil }
    for (index, place) in zip(concrete, places) {
      (moved[index].path.endpoint, moved[index].path.cluster) = (place.endpoint, place.cluster)
    }
    return moved
  }
}
