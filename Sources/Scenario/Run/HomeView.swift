internal import HearthHome
internal import HomeText
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import VirtualDevices

/// A snapshot of a home with the device names of a scenario.
struct HomeView: Sendable {
  let state: HomeState
  let devices: [HomeDevice]
  /// The devices of the definition.
  let identities: DeviceIdentities
  /// The events to be considered for a claim.
  var events: [EventLog.Entry] = []

  /// Returns whether a claim about the home holds, and the observed value.
  func check(_ claim: Claim) -> DeviceCondition.Finding {
    switch claim.subject {
    case .connectivity(let device, let wanted):
      let kind = ConnectivityState(rawValue: wanted).map { DeviceCondition.Kind.connectivity($0) }
      return check(kind, device, claim)
    case .locality(let device, let wanted):
      let kind = DataSourceLocality(rawValue: wanted).map { DeviceCondition.Kind.locality($0) }
      return check(kind, device, claim)
    case .attribute(let device, let place, let value, let hasUnit):
      let source = find(device)?.source.map { identities.source($0, of: device) }
      do throws(HomeError) {
        guard let source, let endpoint = try servingEndpoint(place, source, device) else {
          return check(nil, device, claim)
        }
        let path = ConcreteAttributePath(endpoint, place.cluster, place.attribute)
        return check(.attribute(path, by: source.id, value: value, hasUnit: hasUnit), device, claim)
      } catch { return .init(false, error.message) }
    case .event(let device, let condition):
      guard let found = find(device) else { return .init(false, "no device of the home") }
      guard let source = found.source else { return .init(false, "not known") }
      return check(condition, of: identities.source(source, of: device), device)
    case .actual, .messages: return .init(false, "nothing that the home knows")
    }
  }

  private func check(_ kind: DeviceCondition.Kind?, _ device: String, _ claim: Claim) -> DeviceCondition.Finding {
    guard let kind else { return .init(false, "not known") }
    guard let found = find(device) else { return .init(false, "no device of the home") }
    return DeviceCondition(kind, "", is: "").check(found, state)
  }

  /// Returns the endpoint of an attribute: the named one, else the first one with the attribute or with its cluster.
  /// - Throws: `notFound` if the device has not the named one.
  private func servingEndpoint(
    _ place: AttributePlace, _ source: DeviceSource, _ device: String
  ) throws(HomeError) -> EndpointID? {
    if let number = place.endpoint { return try identities.endpoint(number, of: device, source) }
    let serving = source.endpoints.map(\.id).filter { source.endpoint($0)?.servers.contains(place.cluster) == true }
    return serving.first {
      state.value(source.id.node, ConcreteAttributePath($0, place.cluster, place.attribute)) != nil
    } ?? serving.first
  }

  /// Finds a device by its unique ID, as the home may have renamed it.
  /// - Parameter path: the path in the definition.
  private func find(_ path: String) -> HomeDevice? {
    guard let id = identities.uniqueID(of: path) else { return nil }
    return devices.first { $0.identity.matterUniqueID == id }
  }

  private func path(of device: HomeDevice) -> String {
    let room = device.roomID.flatMap { state.room($0)?.name }
    return room.map { "\($0)/\(device.name)" } ?? device.name
  }

  // MARK: Text

  private func name(of source: SourceID) -> String {
    state.device(of: source).flatMap { entry in devices.first { $0.id == entry.id } }.map(path) ?? routeName(source)
  }

  /// Returns the path in the definition, as the home may have renamed the device; for a device that is not in the
  /// definition or was removed from the home, its ID.
  private func name(ofDevice id: String) -> String {
    let unique = devices.first { $0.id == id }?.identity.matterUniqueID
    return identities.path(of: unique) ?? "device \(id)"
  }

  private func name(ofRoom id: String?) -> String {
    id.flatMap { state.room($0)?.name }.map { "room \($0)" } ?? "no room"
  }

  private func routeName(_ source: SourceID) -> String {
    "node \(source.node.rawValue)" + (source.isBridged ? ", endpoint \(source.endpoint)" : "")
  }

  private func name(of node: NodeID, _ endpoint: EndpointID) -> String {
    state.deviceID(of: node, endpoint).flatMap { id in devices.first { $0.id == id } }.map(path)
      ?? routeName(SourceID(node))
  }

  /// The number of attributes of one node in an update that are listed individually; a larger report, such as the
  /// first one, is summarized by their number.
  private static let mostAttributes = 8

  /// Returns the changes of one update as lines of a report.
  func lines(of changes: [HomeChange]) -> [String] {
    var counts: [NodeID: Int] = [:]
    for case .attribute(let node, _, _) in changes { counts[node, default: 0] += 1 }
    return changes.compactMap { change in
      guard case .attribute(let node, _, _) = change, let count = counts[node], count > Self.mostAttributes else {
        return text(of: change)
      }
      // At the position of the first attribute.
      return counts.updateValue(.max, forKey: node) == .max ? nil : "\(name(of: SourceID(node))): \(count) attributes"
    }
  }

  private func text(of change: HomeChange) -> String {
    switch change {
    case .attribute(let node, let path, let value):
      var place = AttributePlace(path.cluster, path.attribute)
      place.levels = state.levels(of: node, on: path.endpoint)
      return "\(name(of: node, path.endpoint)).\(place.name) = \(value.map(place.text) ?? "gone")"
    case .connectivity(let source, let status):
      let reason = status.reason.map { " (\($0.text))" } ?? ""
      return "\(name(of: source)) \(status.connectivity.connectivityState.rawValue)\(reason)"
    case .event(let node, let event):
      let (cluster, id) = (event.path.cluster, event.path.event)
      return "event \(name(of: node, event.path.endpoint)).\(ElementNames.cluster(cluster))."
        + ElementNames.event(id, of: cluster) + " " + event.text
    case .topology(let source, let endpoints, _): return "\(name(of: source)) has \(endpoints.count) endpoints"
    case .sourceAdded(let source, let device): return "\(name(ofDevice: device)) can be reached as \(routeName(source))"
    case .sourceRemoved(let source): return "\(routeName(source)) removed"
    case .deviceAdded(let id, let name, _, _): return "\(self.name(ofDevice: id)) added as \(name)"
    case .deviceRemoved(let id): return "\(name(ofDevice: id)) removed"
    case .deviceRenamed(let id, let name): return "\(self.name(ofDevice: id)) renamed to \(name)"
    case .deviceMoved(let id, let roomID): return "\(name(ofDevice: id)) moved to \(name(ofRoom: roomID))"
    case .roomAdded(let room): return "room \(room.name) added"
    case .roomRenamed(_, let name): return "a room renamed to \(name)"
    case .roomRemoved: return "a room removed"
    case .structureAdded(let structure): return "structure \(structure.name) added"
    case .structureRenamed(_, let name): return "a structure renamed to \(name)"
    case .structureRemoved: return "a structure removed"
    case .primaryStructureChosen(let id): return "structure \(state.structure(id)?.name ?? id) is the primary one"
    }
  }
}

extension AttributePlace {
  /// `onOff.onOff`, or with an endpoint `2.onOff.onOff`.
  var name: String {
    (endpoint.map { "\($0)." } ?? "")
      + "\(ElementNames.cluster(cluster)).\(ElementNames.attribute(attribute, of: cluster))"
  }

  /// The path for lookups that don't depend on the endpoint.
  var path: ConcreteAttributePath { ConcreteAttributePath(1, cluster, attribute) }

  func text(of value: [UInt8]) -> String {
    AttributeUnits.text(path, value, levels: levels) ?? ElementNames.schema(path).text(of: value)
  }
}
