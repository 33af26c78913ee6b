package import HearthHome
internal import MatterClusters

/// A condition on a device: `onOff=true`, `levelControl.currentLevel=40%`, `connectivity=online`.
package struct DeviceCondition: Sendable {
  package enum Kind: Hashable, Sendable {
    case connectivity(ConnectivityState)
    /// Connectivity that lasted for the home's grace time.
    case settledConnectivity(ConnectivityState)
    case locality(DataSourceLocality)
    /// - Parameters:
    ///   - by: the source that the path belongs to.
    ///   - hasUnit: whether the texts with units are compared: different encoded values may have the same text.
    case attribute(ConcreteAttributePath, by: SourceID, value: [UInt8], hasUnit: Bool)
  }

  /// The result of a check.
  package struct Finding: Sendable {
    package var holds: Bool
    /// The actual value.
    package var actual: String
    /// The expected value in the same format as ``actual``; nil: as it was written.
    package var wanted: String?

    package init(_ holds: Bool, _ actual: String, wanted: String? = nil) {
      (self.holds, self.actual, self.wanted) = (holds, actual, wanted)
    }
  }

  package var kind: Kind
  /// The name and the value as they were written.
  package var name: String
  package var value: String

  package init(_ kind: Kind, _ name: String, is value: String) {
    (self.kind, self.name, self.value) = (kind, name, value)
  }

  /// Parses `name=value`.
  /// - Throws: ``HomeError`` `badArguments`, or `notFound` with similar names.
  package init(parsing text: String, of target: Target) throws(HomeError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw HomeError(.badArguments, "“\(text)” is not a condition; write name=value, as in onOff=true")
    }
    (name, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
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
    return .attribute(concrete, by: path.target.device.source.id, value: expected, hasUnit: hasUnit)
  }

  /// Returns the name of the only cluster of a device that has an attribute of this name.
  private static func cluster(having name: String, _ target: Target) throws(HomeError) -> String {
    let endpoints = target.device.endpoints.filter { target.endpoint == nil || $0.id == target.endpoint }
    var found: [String] = []
    var names: [String] = []
    for id in Set(endpoints.flatMap(\.servers)).sorted() {
      guard let cluster = ClusterCatalogue.cluster(id) else { continue }
      if cluster.attributes.contains(where: { NormalizedName($0.name) == NormalizedName(name) }) {
        found.append(NormalizedName.camelCase(cluster.name))
      }
      names += cluster.attributes.map { NormalizedName.camelCase($0.name) }
    }
    if found.count == 1, let only = found.first { return only }
    if found.isEmpty {
      throw HomeError.unknown(
        "no attribute “\(name)”", name, in: names + ["connectivity", "settledConnectivity", "locality"],
        device: target.device.name)
    }
    throw HomeError(
      .ambiguousTarget, "“\(name)” matches \(found.count) attributes; name one of them",
      device: target.device.name, candidates: found.map { "\($0).\(name)" })
  }

  // MARK: Checking

  /// Checks the condition.
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
      // The locality of an offline device is stale.
      let isOffline = connectivity.connectivityState == .offline
      return Finding(now == wanted && !isOffline, isOffline ? "that of an offline device" : now.rawValue)
    case .attribute(let asked, let original, let wanted, let hasUnit):
      let cluster = ClusterPath(asked.endpoint, asked.cluster)
      // The source of the trait may have other endpoints.
      guard let (source, places) = try? state.place(of: [(cluster, asked.attribute)], of: device.entry, by: original),
        let place = places.first
      else { return Finding(false, "not known by any source") }
      let path = ConcreteAttributePath(place.endpoint, place.cluster, asked.attribute)
      guard let value = state.value(source.id.node, path) else { return Finding(false, "not known") }
      // A bridged device may be offline while its bridge is online.
      let own = source.connectivity(of: path.endpoint, state.values[source.id.node] ?? NodeValues()).connectivityState
      let levels = state.levels(of: source.id.node, on: path.endpoint)
      let texts = AttributeUnits.texts(wanted: wanted, actual: value, path, levels: levels)
      guard own == .online else {
        return Finding(false, "(\(texts.actual)), stale, device is \(own.rawValue)", wanted: texts.wanted)
      }
      let schema = ElementNames.schema(path)
      let holds =
        hasUnit
        ? AttributeUnits.text(path, value, levels: levels) == AttributeUnits.text(path, wanted)
        : schema.json(of: value) == schema.json(of: wanted)
      return Finding(holds, texts.actual, wanted: texts.wanted)
    }
  }
}

/// The conditions that one device of a command has to meet.
package struct DeviceConditions: Sendable {
  package var target: Target
  package var conditions: [DeviceCondition]

  package var device: DeviceRecord { target.device }

  /// Checks the conditions of several devices on one state of the home.
  package static func check(_ all: [DeviceConditions], in session: Home) async -> [[DeviceCondition.Finding]] {
    var devices: [String: HomeDevice] = [:]
    if all.count == 1, let id = all.first?.device.id {
      devices[id] = await session.backend.device(id)
    } else {
      for device in await session.backend.devices { devices[device.id] = device }
    }
    let state = await session.state
    return all.map { one in one.conditions.map { $0.check(devices[one.device.id], state) } }
  }
}

extension HomeRegistry {
  /// Parses the conditions for each target, without duplicate targets. Of a wildcard, a room or a group, only devices
  /// that have the attributes are targets.
  /// - Throws: ``HomeError`` `notFound` if a named device, or each device of a room, lacks an attribute.
  package func conditions(_ texts: [String], of targets: [String]) throws(HomeError) -> [DeviceConditions] {
    var all: [DeviceConditions] = []
    for text in targets {
      let selection = try select(text)
      var fitting: [DeviceConditions] = []
      var failure: HomeError?
      for target in selection.targets {
        do throws(HomeError) {
          let conditions = try texts.map { text throws(HomeError) in try DeviceCondition(parsing: text, of: target) }
          fitting.append(DeviceConditions(target: target, conditions: conditions))
        } catch {
          guard selection.isSeveral, error.code == .notFound else { throw error }
          failure = failure ?? error
        }
      }
      if fitting.isEmpty, let failure { throw failure }
      all += fitting
    }
    return unique(all) { $0.target }
  }
}
