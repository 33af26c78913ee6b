package import HearthHome
internal import MatterClusters
package import MatterModel

/// Something that may hold of a device: `onOff=true`, `levelControl.currentLevel=40%`, `connectivity=online`.
package struct DeviceCondition: Sendable {
  package enum Kind: Hashable, Sendable {
    case connectivity(ConnectivityState)
    /// That lasted for the home's grace time.
    case settledConnectivity(ConnectivityState)
    case locality(DataSourceLocality)
    /// - Parameters:
    ///   - by: the way to the device that numbers its endpoints so.
    ///   - hasUnit: whether it is the value for people that counts, which stands for several of the wire's.
    case attribute(ConcreteAttributePath, by: SourceID, value: [UInt8], hasUnit: Bool)
  }

  /// What was found when it was looked.
  package struct Finding: Sendable {
    package var holds: Bool
    /// What is the case.
    package var actual: String
    /// What was wanted, in the words of ``actual``; nil: as it was written.
    package var wanted: String?

    package init(_ holds: Bool, _ actual: String, wanted: String? = nil) {
      (self.holds, self.actual, self.wanted) = (holds, actual, wanted)
    }
  }

  package var kind: Kind
  /// As it was written.
  package var name: String
  package var value: String

  package init(_ kind: Kind, _ name: String, is value: String) {
    (self.kind, self.name, self.value) = (kind, name, value)
  }

  /// - Throws: ``HomeError`` `badArguments` or `notFound` with what may have been meant.
  package init(parsing text: String, of target: Target, in registry: HomeRegistry) throws(HomeError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw HomeError(.badArguments, "“\(text)” is not a condition; write name=value, as in onOff=true")
    }
    try self.init(
      String(text[..<equals]), is: String(text[text.index(after: equals)...]), of: target, in: registry)
  }

  /// - Throws: ``HomeError`` `badArguments` or `notFound` with what may have been meant.
  package init(_ name: String, is value: String, of target: Target, in registry: HomeRegistry) throws(HomeError) {
    (self.name, self.value) = (name, value)
    switch name.lowercased() {
    case "connectivity": kind = .connectivity(try Self.one(of: ConnectivityState.allCases, value, "connectivity"))
    case "settledconnectivity":
      kind = .settledConnectivity(try Self.one(of: ConnectivityState.allCases, value, "connectivity"))
    case "locality":
      switch value.lowercased() {
      case "direct": kind = .locality(.direct)
      case "localpeer": kind = .locality(.localPeer)
      default: kind = .locality(try Self.one(of: DataSourceLocality.allCases, value, "locality"))
      }
    default: kind = try Self.attribute(name, value, target)
    }
  }

  private static func one<T: RawRepresentable<String>>(
    of all: [T], _ text: String, _ name: String
  ) throws(HomeError) -> T {
    if let found = all.first(where: { $0.rawValue.lowercased() == text.lowercased() }) { return found }
    throw HomeError(
      .badArguments, "“\(text)” is not a \(name); expected \(all.map(\.rawValue).joined(separator: ", "))")
  }

  private static func attribute(
    _ name: String, _ value: String, _ target: Target
  ) throws(HomeError) -> Kind {
    let full = name.contains(".") ? name : "\(try cluster(having: name, target)).\(name)"
    let path = try HomeRegistry.path(full, of: target)
    guard let endpoint = path.endpoint, let cluster = path.cluster, let element = path.element
    else { throw HomeError(.badArguments, "“\(name)”: expected one attribute, without wildcards") }
    let concrete = ConcreteAttributePath(endpoint, cluster, AttributeID(element))
    let expected = try AttributeUnits.parse(
      value, cluster: cluster, attribute: concrete.attribute, raw: false, named: name)
    let hasUnit = Int(value) == nil && AttributeUnits.text(concrete, expected) != nil
    return .attribute(concrete, by: path.target.device.way, value: expected, hasUnit: hasUnit)
  }

  /// The one cluster of a device that has an attribute of this name.
  private static func cluster(having name: String, _ target: Target) throws(HomeError) -> String {
    let endpoints = target.device.endpoints.filter { target.endpoint == nil || $0.id == target.endpoint }
    var found: [String] = []
    var names: [String] = []
    for id in Set(endpoints.flatMap(\.servers)).sorted() {
      guard let cluster = ClusterCatalogue.cluster(id) else { continue }
      if cluster.attributes.contains(where: { NormalizedName($0.name) == NormalizedName(name) }) {
        found.append(camelCase(cluster.name))
      }
      names += cluster.attributes.map { camelCase($0.name) }
    }
    if found.count == 1, let only = found.first { return only }
    if found.isEmpty {
      throw HomeError(
        .notFound, "no attribute “\(name)”", device: target.device.name,
        candidates: NearestName.suggestions(for: name, in: names + ["connectivity", "settledConnectivity", "locality"]))
    }
    throw HomeError(
      .ambiguousTarget, "“\(name)” matches \(found.count) attributes; name one of them",
      device: target.device.name, candidates: found.map { "\($0).\(name)" })
  }

  // MARK: Looking

  /// What is the case, condition by condition.
  package static func check(
    _ conditions: [DeviceCondition], of device: String, in session: Home
  ) async -> [Finding] {
    let entry = await session.backend.device(device)
    let state = await session.state
    return conditions.map { $0.check(entry, state) }
  }

  /// Whether it holds, and what is the case.
  package func check(_ device: HomeDevice?, _ state: HomeState) -> Finding {
    guard let device, device.source != nil else { return Finding(false, "gone") }
    let connectivity = device.sourceConnectivity
    switch kind {
    case .connectivity(let wanted):
      let now = connectivity.connectivityState
      return Finding(now == wanted, now.rawValue + (device.offlineReason.map { " (\($0.text))" } ?? ""))
    case .settledConnectivity(let wanted):
      let now = device.settledConnectivity.connectivityState
      return Finding(now == wanted, now.rawValue)
    case .locality(let wanted):
      let now = connectivity.dataSourceLocality
      // What was near before it went away is not there.
      let isOffline = connectivity.connectivityState == .offline
      return Finding(now == wanted && !isOffline, isOffline ? "that of an offline device" : now.rawValue)
    case .attribute(let asked, let way, let wanted, let hasUnit):
      let cluster = ClusterPath(asked.endpoint, asked.cluster)
      // By another source it has another endpoint, or none.
      guard let (source, places) = try? state.place(of: [(cluster, asked.attribute)], of: device.entry, by: way),
        let place = places.first
      else { return Finding(false, "not known by any source") }
      let path = ConcreteAttributePath(place.endpoint, place.cluster, asked.attribute)
      guard let value = state.value(source.id.node, path) else { return Finding(false, "not known") }
      // A part of it may be away that its bridge does not reach.
      let own = source.connectivity(of: path.endpoint, state.values[source.id.node] ?? NodeValues()).connectivityState
      let levels = state.levels(of: source.id.node, on: path.endpoint)
      let told = AttributeUnits.told(wanted, beside: value, path, levels: levels)
      guard own == .online else {
        return Finding(false, "(\(told.actual)), stale, device is \(own.rawValue)", wanted: told.wanted)
      }
      let schema = ElementNames.schema(path)
      let holds =
        hasUnit
        ? AttributeUnits.text(path, value, levels: levels) == AttributeUnits.text(path, wanted)
        : schema.json(of: value) == schema.json(of: wanted)
      return Finding(holds, told.actual, wanted: told.wanted)
    }
  }
}
