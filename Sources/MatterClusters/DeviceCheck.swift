internal import ClusterLanguage
public import MatterModel

/// Compares the attributes of a node with the declarations of its clusters and device types.
///
///     for finding in DeviceCheck(values).findings { print(finding) }
///     // endpoint 1, LevelControl: attribute RemainingTime (0x0001) is missing; mandatory with feature LT
///
/// Other revisions of a cluster or device type than the declared one may have other rules, so that their differences
/// are remarks and not violations. Clusters that are not declared are remarks also.
public struct DeviceCheck: Sendable {
  /// A difference to the standard, or a part that can't be checked.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    public var endpoint: EndpointID
    /// Nil: the endpoint.
    public var cluster: ClusterID?
    /// Nil: the cluster, or several elements.
    public var element: ElementID?
    /// Whether the standard forbids it. Otherwise it is a remark.
    public var isViolation: Bool
    /// `attribute MinLevel (0x0002) is missing; mandatory with feature LT`.
    public var message: String

    package init(
      endpoint: EndpointID, cluster: ClusterID? = nil, element: ElementID? = nil, isViolation: Bool, message: String
    ) {
      (self.endpoint, self.cluster, self.element) = (endpoint, cluster, element)
      (self.isViolation, self.message) = (isViolation, message)
    }

    public var description: String {
      let name = cluster.map { id in ", " + (ClusterCatalogue.cluster(id)?.name ?? "cluster \(id)") }
      return "endpoint \(endpoint)\(name ?? ""): \(message)"
    }
  }

  /// In the order of endpoints and clusters.
  public private(set) var findings: [Finding] = []
  private var clusters: [ClusterPath: [AttributeID: [UInt8]]] = [:]
  private var endpoints: [EndpointID] = []

  /// - Parameter values: the encoded values of all attributes of the checked endpoints.
  public init(_ values: [ConcreteAttributePath: [UInt8]]) {
    for (path, value) in values {
      clusters[ClusterPath(path.endpoint, path.cluster), default: [:]][path.attribute] = value
    }
    endpoints = Set(clusters.keys.map(\.endpoint)).sorted()
    for endpoint in endpoints {
      checkDescriptor(endpoint)
      for path in clusters.keys.filter({ $0.endpoint == endpoint }).sorted() { checkCluster(path) }
    }
  }

  private mutating func report(
    _ endpoint: EndpointID, _ cluster: ClusterID?, element: ElementID? = nil, isViolation: Bool = true,
    _ message: String
  ) {
    findings.append(
      Finding(endpoint: endpoint, cluster: cluster, element: element, isViolation: isViolation, message: message))
  }

  // MARK: Endpoints

  private mutating func checkDescriptor(_ endpoint: EndpointID) {
    guard let descriptor = clusters[ClusterPath(endpoint, Descriptor.id)] else {
      return report(endpoint, nil, "cluster Descriptor is missing")
    }
    func list<Value: ModelValue>(_ attribute: Attribute<Descriptor, [Value]>) -> [Value]? {
      descriptor[attribute.id].flatMap { try? [Value](tlv: $0) }
    }
    // Missing and malformed lists are findings of the cluster.
    let servers = list(Descriptor.serverList).map { Set($0) }
    if let servers {
      let read = Set(clusters.keys.filter { $0.endpoint == endpoint }.map(\.cluster))
      for id in servers.subtracting(read).sorted() {
        report(endpoint, id, "is in ServerList, but has no readable attribute")
      }
      for id in read.subtracting(servers).sorted() { report(endpoint, id, "is missing from ServerList") }
    }
    guard let types = list(Descriptor.deviceTypeList) else { return }
    if types.isEmpty { report(endpoint, nil, "has no device type") }
    if types.contains(where: { $0.deviceType == DeviceTypes.rootNode.id }) != (endpoint == .root) {
      report(endpoint, nil, endpoint == .root ? "is not a Root Node" : "is a Root Node; expected endpoint 0 only")
    }
    let clients = list(Descriptor.clientList).map { Set($0) }
    for (index, type) in types.enumerated()
    where !types[..<index].contains(where: { $0.deviceType == type.deviceType }) {
      check(type, endpoint, servers, clients)
    }
  }

  private mutating func check(
    _ entry: DeviceTypeStruct, _ endpoint: EndpointID, _ servers: Set<ClusterID>?, _ clients: Set<ClusterID>?
  ) {
    guard let type = DeviceTypes.named(entry.deviceType) else {
      return report(endpoint, nil, isViolation: false, "device type \(entry.deviceType) is unknown; not checked")
    }
    let isSame = entry.revision == type.revision
    if !isSame {
      report(
        endpoint, nil, isViolation: false,
        "device type \(type.name) has revision \(entry.revision); checked against \(type.revision)")
    }
    for (required, present, noun) in [(type.servers, servers, "cluster"), (type.clients, clients, "client cluster")] {
      guard let present else { continue }
      for id in required where !present.contains(id) {
        let name = ClusterCatalogue.cluster(id)?.name ?? "\(id)"
        report(endpoint, nil, isViolation: isSame, "\(noun) \(name) is missing; mandatory for \(type.name)")
      }
    }
    for id in type.servers {
      guard let names = type.elements[id], let cluster = ClusterCatalogue.cluster(id),
        let values = clusters[ClusterPath(endpoint, id)]
      else { continue }
      let facts = cluster.facts(about: Self.served(values))
      for name in names {
        guard let required = try? Conformance(name, features: cluster.features),
          required.decision(facts).requirement == .notAllowed
        else { continue }
        report(endpoint, id, isViolation: isSame, "\(name) is missing; mandatory for \(type.name)")
      }
    }
  }

  // MARK: Clusters

  private mutating func checkCluster(_ path: ClusterPath) {
    guard let values = clusters[path] else { return }
    guard let cluster = ClusterCatalogue.cluster(path.cluster) else {
      return report(path.endpoint, path.cluster, isViolation: false, "is unknown; not checked")
    }
    let globals = cluster.globalAttributes
    for info in globals where values[info.id] == nil {
      let element = ElementID.attribute(info.id)
      report(path.endpoint, path.cluster, element: element, "\(element.text(name: info.name)) is missing; mandatory")
    }
    let revision = Self.value(UInt16.self, of: GlobalAttribute.clusterRevision, in: values)
    let isSame = revision == cluster.revision
    if let revision, !isSame {
      report(
        path.endpoint, path.cluster, isViolation: false, "has revision \(revision); checked against \(cluster.revision)"
      )
    }
    checkAttributeList(path, cluster, values)
    for violation in cluster.violations(of: Self.served(values)) {
      report(path.endpoint, path.cluster, element: violation.element, isViolation: isSame, violation.description)
    }
    if path.cluster == Thermostat.id,
      let problem = Thermostat.deadBandProblem(features: Self.served(values).features, { values[$0] })
    {
      report(path.endpoint, path.cluster, isViolation: isSame, "expected \(problem)")
    }
    for info in cluster.attributes + globals {
      guard let value = values[info.id], let problem = info.problem(of: value) else { continue }
      let element = ElementID.attribute(info.id)
      report(
        path.endpoint, path.cluster, element: element, isViolation: isSame,
        "\(element.text(name: info.name)) \(problem)")
    }
  }

  private mutating func checkAttributeList(
    _ path: ClusterPath, _ cluster: any Cluster.Type, _ values: [AttributeID: [UInt8]]
  ) {
    guard let list = Self.value([AttributeID].self, of: GlobalAttribute.attributeList, in: values) else { return }
    let (listed, read) = (Set(list), Set(values.keys))
    for id in listed.symmetricDifference(read).sorted() {
      let element = ElementID.attribute(id)
      let info = cluster.attribute(id)
      // A node omits attributes from the report for which the reader lacks a privilege.
      let isHidden = !read.contains(id) && info.map { $0.read != .view } == true
      report(
        path.endpoint, path.cluster, element: element, isViolation: !isHidden,
        element.text(name: info?.name)
          + (read.contains(id) ? " is missing from AttributeList" : " is in AttributeList, but not readable"))
    }
  }

  /// Returns the elements that a cluster has according to its global attributes.
  private static func served(_ values: [AttributeID: [UInt8]]) -> ServedElements {
    let attributes = Set(values.keys).union(
      value([AttributeID].self, of: GlobalAttribute.attributeList, in: values) ?? [])
    return ServedElements(
      features: value(UInt32.self, of: GlobalAttribute.featureMap, in: values) ?? 0,
      // The standard reserves these numbers for global attributes. Matter Core § 7.19.2.
      attributes: attributes.filter { !(0xF000...0xFFFE).contains($0.rawValue) },
      commands: Set(value([CommandID].self, of: GlobalAttribute.acceptedCommandList, in: values) ?? []),
      responses: value([CommandID].self, of: GlobalAttribute.generatedCommandList, in: values).map { Set($0) },
      values: values)
  }

  private static func value<Value: ModelValue>(
    _: Value.Type, of attribute: AttributeID, in values: [AttributeID: [UInt8]]
  ) -> Value? {
    values[attribute].flatMap { try? Value(tlv: $0) }
  }
}
