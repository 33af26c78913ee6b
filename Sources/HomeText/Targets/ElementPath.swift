package import HearthHome
internal import MatterClusters

/// A path to attributes, a command or an event of one device, parsed from names or numbers.
package struct ElementPath: Hashable, Sendable {
  package var target: Target
  /// The endpoint; nil: any.
  package var endpoint: EndpointID?
  package var cluster: ClusterID?
  /// The number of the attribute or command; nil: any.
  package var element: UInt32?

  package var attributePath: AttributePath {
    AttributePath(endpoint: endpoint, cluster: cluster, attribute: element.map { AttributeID($0) })
  }
}

/// The kind of element in the last part of a path.
package enum ElementKind: String, Hashable, Sendable {
  case attribute, command
}

extension HomeRegistry {
  /// Returns whether a text has the form of a path to an element: with dots or slashes between its parts.
  package static func isPath(_ text: String) -> Bool {
    text.count { $0 == "/" } >= 3 || text.count { $0 == "." } >= 2
  }

  /// Parses a path: `kitchen/lamp.levelControl.currentLevel`, or by numbers `5/1/8/0`. `*` is a wildcard; numbers,
  /// decimal or with `0x`, and names can be mixed. A target alone means all of its attributes.
  ///
  /// An endpoint may follow the device: `lamp.2.onOff.onOff`. Without one, the path is for the first endpoint that has
  /// the attribute or the cluster.
  /// - Returns: a path for each device of the target; for a bridged device, one for each of its endpoints if none is
  ///   named.
  package func paths(_ text: String, _ kind: ElementKind = .attribute) throws(HomeError) -> [ElementPath] {
    let bySlash = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let byDot = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if bySlash.count >= 4 || byDot.count >= 3 {
      let (parts, separator, count) = bySlash.count >= 4 ? (bySlash, "/", 3) : (byDot, ".", 2)
      return try paths(
        target: parts.dropLast(count).joined(separator: separator), endpoint: count == 3 ? parts[parts.count - 3] : nil,
        cluster: parts[parts.count - 2], element: parts[parts.count - 1], kind)
    }
    if kind == .attribute {
      do throws(HomeError) {
        return try resolveAll(text).flatMap {
          Self.expanded(ElementPath(target: $0, endpoint: $0.endpoint, cluster: nil, element: nil))
        }
      } catch {
        if byDot.count == 1 { throw error }
      }
    }
    throw HomeError(
      .badArguments,
      "“\(text)” is not a path; write DEVICE.cluster.\(kind.rawValue), as in kitchen/lamp.\(kind == .attribute ? "levelControl.currentLevel" : "onOff.toggle"), or NODE/ENDPOINT/CLUSTER/\(kind.rawValue.uppercased())"
    )
  }

  /// Parses `levelControl.currentLevel`, an attribute of a resolved target.
  package static func path(_ text: String, of target: Target) throws(HomeError) -> ElementPath {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else {
      throw HomeError(.badArguments, "“\(text)” is not an attribute; write cluster.attribute, as in onOff.onOff")
    }
    let cluster = try cluster(parts[0])
    let element = try element(parts[1], of: cluster, .attribute)
    return try withEndpoint(
      ElementPath(target: target, endpoint: target.endpoint, cluster: cluster, element: element), .attribute)
  }

  /// Returns the path with the first endpoint that has its attribute or cluster, if it has no endpoint.
  private static func withEndpoint(_ path: ElementPath, _ kind: ElementKind) throws(HomeError) -> ElementPath {
    guard path.endpoint == nil, let cluster = path.cluster, !path.target.device.endpoints.isEmpty else { return path }
    var path = path
    path.target.device = path.target.device.serving(cluster)
    let attribute = kind == .attribute ? path.element.map { AttributeID($0) } : nil
    path.endpoint = try path.target.endpoint(serving: cluster, having: attribute)
    return path
  }

  /// Returns a path for each endpoint of a bridged device, because a wildcard includes all endpoints of the bridge.
  private static func expanded(_ path: ElementPath) -> [ElementPath] {
    let device = path.target.device
    guard path.endpoint == nil, device.isBridged, !device.endpoints.isEmpty else { return [path] }
    let serving = device.endpoints.filter { endpoint in path.cluster.map(endpoint.servers.contains) ?? true }
    return (serving.isEmpty ? device.endpoints : serving).map { endpoint in
      modified(path) { $0.endpoint = endpoint.id }
    }
  }

  private func paths(
    target: String, endpoint: String?, cluster: String, element: String, _ kind: ElementKind
  ) throws(HomeError) -> [ElementPath] {
    var endpointID: EndpointID?
    if let endpoint, endpoint != "*" {
      guard let number = UInt16(numeral: endpoint) else {
        throw HomeError(.badArguments, "“\(endpoint)” is not an endpoint; expected a number from 0 to 65535, or *")
      }
      endpointID = EndpointID(number)
    }
    let clusterID = try Self.cluster(cluster)
    let elementID = try Self.element(element, of: clusterID, kind)
    var result: [ElementPath] = []
    let selection = try select(target)
    for target in selection.targets {
      var path = ElementPath(
        target: target, endpoint: endpointID ?? target.endpoint, cluster: clusterID, element: elementID)
      if endpoint != nil, selection.isSeveral, !path.target.mayServe(path.cluster, on: endpointID) { continue }
      if endpoint == nil {
        do throws(HomeError) {
          path = try Self.withEndpoint(path, kind)
        } catch {
          // Only a named device must have the cluster.
          if selection.isSeveral { continue }
          throw error
        }
      }
      result += Self.expanded(path)
    }
    guard !result.isEmpty else { throw Self.missing(clusterID, target) }
    return result
  }

  /// Parses `onOff.toggle`: a command without a device.
  package static func command(_ text: String) throws(HomeError) -> (ClusterID, CommandID) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let cluster = try cluster(parts[0]),
      let command = try element(parts[1], of: cluster, .command)
    else { throw HomeError(.badArguments, "“\(text)” is not a command; write cluster.command, as in onOff.toggle") }
    return (cluster, CommandID(command))
  }

  /// Parses a cluster name or number; nil for `*`.
  package static func cluster(_ text: String) throws(HomeError) -> ClusterID? {
    if text == "*" { return nil }
    if let cluster = ClusterCatalogue.cluster(named: text) { return cluster.id }
    if let number = UInt32(numeral: text) { return ClusterID(number) }
    let known = ClusterCatalogue.all.map { NormalizedName.camelCase($0.name) }
    throw HomeError.unknown("unknown cluster “\(text)”", text, in: known)
  }

  /// Parses the name or number of an attribute or a command; nil for `*`.
  package static func element(
    _ text: String, of cluster: ClusterID?, _ kind: ElementKind
  ) throws(HomeError) -> UInt32? {
    if text == "*" { return nil }
    if let number = UInt32(numeral: text) { return number }
    let global = OnOff.globalAttributes.first { NormalizedName($0.name) == NormalizedName(text) }?.id
    guard let cluster else {
      if kind == .attribute, let global { return global.rawValue }
      throw HomeError(.badArguments, "“\(text)” is not in every cluster; name the cluster, or use the number")
    }
    guard let declared = ClusterCatalogue.cluster(cluster) else {
      if kind == .attribute, let global { return global.rawValue }
      throw HomeError(.notFound, "cluster \(cluster) is not known by its names; use the \(kind.rawValue)'s number")
    }
    let names: [String]
    switch kind {
    case .attribute:
      if let info = declared.attribute(named: text) { return info.id.rawValue }
      names = declared.allAttributes.map(\.name)
    case .command:
      if let info = declared.command(named: text) { return info.id.rawValue }
      names = declared.commands.map(\.name)
    }
    throw HomeError(
      .notFound, "\(declared.name) has no \(kind.rawValue) “\(text)”",
      candidates: NearestName.suggestions(for: text, in: names).map { NormalizedName.camelCase($0) })
  }
}

extension Target {
  /// Returns whether a device may serve a cluster: false if its endpoints are known and lack it.
  /// - Parameter endpoint: the endpoint; nil: any.
  fileprivate func mayServe(_ cluster: ClusterID?, on endpoint: EndpointID?) -> Bool {
    guard let cluster, !device.endpoints.isEmpty else { return true }
    return device.endpoints.contains { $0.servers.contains(cluster) && (endpoint == nil || $0.id == endpoint) }
  }
}
