internal import MatterModel
internal import MatterTLV

/// The attributes that definition files can give initial values to.
///
///     let catalogue = AttributeCatalogue(clusters: [OnOff.self, LevelControl.self])
public struct AttributeCatalogue: Sendable {
  private var clusters: [Entry] = []
  /// Whether integers have to fit their type. Otherwise they are checked with the device, which may limit them further.
  var checksIntegers = true
  /// Whether names of other clusters are refused.
  var isComplete = true
  /// The attributes that each cluster has besides its own.
  var globals: [AttributeInfo] = []

  private struct Entry: Sendable {
    let name: String
    let id: ClusterID
    let attributes: [(name: String, info: AttributeInfo)]

    init(_ cluster: any Cluster.Type) {
      (name, id) = (AttributeCatalogue.camelCase(cluster.name), cluster.id)
      attributes = cluster.attributes.map { (AttributeCatalogue.camelCase($0.name), $0) }
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
    entry(cluster).map { $0.attributes.map(\.name) + globals.map { Self.camelCase($0.name) } } ?? []
  }

  /// Returns the name with a lower-case first word; a leading acronym becomes lower case as a whole.
  static func camelCase(_ name: String) -> String {
    let characters = Array(name)
    var result = ""
    for (index, character) in characters.enumerated() {
      let isLeading = characters[..<index].allSatisfy(\.isUppercase)
      let startsWord = index > 0 && index + 1 < characters.count && characters[index + 1].isLowercase
      result += isLeading && !startsWord ? character.lowercased() : String(character)
    }
    return result
  }

  /// Finds an attribute by cluster and name, ignoring case.
  func find(cluster: String, attribute: String) -> (cluster: String, id: ClusterID, name: String, info: AttributeInfo)?
  {
    guard let entry = entry(cluster),
      let found = (entry.attributes + globals.map { (name: Self.camelCase($0.name), info: $0) }).first(where: {
        $0.name.lowercased() == attribute.lowercased()
      })
    else { return nil }
    return (entry.name, entry.id, found.name, found.info)
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
