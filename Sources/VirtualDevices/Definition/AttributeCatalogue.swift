internal import MatterClusters
internal import MatterModel
internal import MatterTLV

/// The attributes that definition files can give initial values to.
///
///     let catalogue = AttributeCatalogue(clusters: [OnOff.self, LevelControl.self])
public struct AttributeCatalogue: Sendable {
  private var clusters: [Entry] = []
  /// Whether integers have to fit their type. Otherwise they are checked with the device, which may limit them further.
  var checksIntegers = true
  /// Whether the global attributes are among the attributes of each cluster.
  var hasGlobals = false

  private struct Entry: Sendable {
    let name: String
    let id: ClusterID
    let attributes: [(name: String, info: AttributeInfo)]
    let cluster: any Cluster.Type

    init(_ cluster: any Cluster.Type) {
      (name, id) = (NormalizedName.camelCase(cluster.name), cluster.id)
      attributes = cluster.attributes.map { (NormalizedName.camelCase($0.name), $0) }
      self.cluster = cluster
    }
  }

  /// - Parameter clusters: the clusters whose attributes can get initial values.
  init(clusters: [any Cluster.Type]) {
    self.clusters = clusters.map(Entry.init)
  }

  /// Adds a manufacturer's cluster.
  mutating func add(_ cluster: any Cluster.Type) { clusters.append(Entry(cluster)) }

  /// The names in the spelling of the files: `levelControl`.
  var clusterNames: [String] { clusters.map(\.name) }

  /// Returns the names in the spelling of the files: `currentLevel`. Empty for an unknown cluster.
  func attributeNames(of cluster: String) -> [String] {
    entry(cluster).map { attributes(of: $0).map(\.name) } ?? []
  }

  /// Finds an attribute by cluster and name, ignoring case.
  func find(cluster: String, attribute: String) -> (cluster: String, id: ClusterID, name: String, info: AttributeInfo)?
  {
    guard let entry = entry(cluster),
      let found = attributes(of: entry).first(where: { $0.name.lowercased() == attribute.lowercased() })
    else { return nil }
    return (entry.name, entry.id, found.name, found.info)
  }

  private func attributes(of entry: Entry) -> [(name: String, info: AttributeInfo)] {
    guard hasGlobals else { return entry.attributes }
    return entry.attributes + entry.cluster.globalAttributes.map { (NormalizedName.camelCase($0.name), $0) }
  }

  func hasCluster(_ name: String) -> Bool { entry(name) != nil }

  private func entry(_ cluster: String) -> Entry? {
    clusters.first { $0.name.lowercased() == cluster.lowercased() }
  }
}

extension InitialValue {
  /// The value as one TLV element with an anonymous tag, in the attribute's type; nil without a catalogue, or if it is
  /// not a value of the type.
  public var tlv: [UInt8]? {
    guard mismatch == nil, let schema = target?.schema else { return nil }
    return value.tlv(as: schema)
  }
}

extension InitialValue.Value {
  /// Returns the value as one TLV element with an anonymous tag, in the type of an attribute.
  func tlv(as schema: Schema) -> [UInt8] {
    var schema = schema
    if case .nullable(let inner) = schema { schema = inner }
    var writer = TLVWriter()
    switch (self, schema) {
    case (.null, _): writer.writeNull()
    case (.boolean(let value), _): writer.write(value)
    case (.integer(let value), .signed): writer.write(value)
    case (.integer(let value), _): writer.write(UInt64(clamping: value))
    case (.real(let value), .float): writer.write(Float(value))
    case (.real(let value), _): writer.write(value)
    case (.text(let value), _): writer.write(value)
    case (.octets(let value), _): writer.write(octets: value)
    }
    return writer.bytes
  }
}
