internal import MatterClusters
internal import MatterModel
internal import MatterTLV

/// The attributes that definition files can give initial values to.
///
///     let catalogue = AttributeCatalogue(clusters: [OnOff.self, LevelControl.self])
public struct AttributeCatalogue: Sendable {
  private var clusters: [any Cluster.Type] = []
  private var byName: [NormalizedName: any Cluster.Type] = [:]
  /// Whether integers have to fit their type. Otherwise they are checked with the device, which may limit them further.
  var checksIntegers = true
  /// Whether the global attributes are among the attributes of each cluster.
  var hasGlobals = false

  /// - Parameter clusters: the clusters whose attributes can get initial values.
  init(clusters: [any Cluster.Type]) { clusters.forEach { add($0) } }

  /// Adds a manufacturer's cluster.
  mutating func add(_ cluster: any Cluster.Type) {
    clusters.append(cluster)
    let name = NormalizedName(cluster.name)
    if byName[name] == nil { byName[name] = cluster }
  }

  /// The names in the spelling of the files: `levelControl`.
  var clusterNames: [String] { clusters.map { NormalizedName.camelCase($0.name) } }

  /// Returns the names in the spelling of the files: `currentLevel`. Empty for an unknown cluster.
  func attributeNames(of cluster: String) -> [String] {
    attributes(of: cluster).map { NormalizedName.camelCase($0.name) }
  }

  func hasCluster(_ name: String) -> Bool { byName[NormalizedName(name)] != nil }

  /// Finds an attribute by the names of the cluster and of the attribute, in any spelling.
  func find(cluster: String, attribute: String) -> (cluster: String, id: ClusterID, name: String, info: AttributeInfo)?
  {
    let name = NormalizedName(attribute)
    guard let found = byName[NormalizedName(cluster)],
      let info = attributes(of: cluster).first(where: { NormalizedName($0.name) == name })
    else { return nil }
    return (NormalizedName.camelCase(found.name), found.id, NormalizedName.camelCase(info.name), info)
  }

  private func attributes(of cluster: String) -> [AttributeInfo] {
    guard let cluster = byName[NormalizedName(cluster)] else { return [] }
    return hasGlobals ? cluster.allAttributes : cluster.attributes
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
