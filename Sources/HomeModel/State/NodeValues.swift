/// The last known attributes of one cluster of one endpoint.
///
/// A sorted table instead of a dictionary, because a home has tens of thousands of them, most with a few entries.
package struct ClusterValues: Hashable, Sendable {
  /// An attribute and its last value.
  package struct Entry: Hashable, Sendable {
    package var attribute: AttributeID
    /// The value, as one TLV element with an anonymous tag.
    package var value: [UInt8]
  }

  /// The entries, in the order of their ids.
  package private(set) var entries: [Entry] = []

  package init() {}

  /// The value of an attribute, as one TLV element with an anonymous tag; nil if unknown.
  package subscript(attribute: AttributeID) -> [UInt8]? {
    get {
      let index = position(of: attribute)
      return index < entries.count && entries[index].attribute == attribute ? entries[index].value : nil
    }
    set {
      let index = position(of: attribute)
      let exists = index < entries.count && entries[index].attribute == attribute
      switch (newValue, exists) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): entries.insert(Entry(attribute: attribute, value: value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// The index of the attribute, or its insertion point.
  private func position(of attribute: AttributeID) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].attribute < attribute { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The last known attributes of a node, by endpoint and cluster.
public struct NodeValues: Hashable, Sendable {
  private var endpoints: [EndpointID: [ClusterID: ClusterValues]] = [:]

  public init() {}

  /// Whether no attribute of the node is known.
  package var isEmpty: Bool { endpoints.isEmpty }

  /// The value of an attribute, as one TLV element with an anonymous tag; nil if unknown.
  public subscript(path: ConcreteAttributePath) -> [UInt8]? {
    get { endpoints[path.endpoint]?[path.cluster]?[path.attribute] }
    set {
      guard let newValue else {
        guard var values = self[path.endpoint, path.cluster] else { return }
        values[path.attribute] = nil
        // Removes empty containers, so that equality depends on the values only.
        self[path.endpoint, path.cluster] = values.entries.isEmpty ? nil : values
        return
      }
      endpoints[path.endpoint, default: [:]][path.cluster, default: ClusterValues()][path.attribute] = newValue
    }
  }

  /// The known attributes of a cluster; nil if there are none.
  package subscript(endpoint: EndpointID, cluster: ClusterID) -> ClusterValues? {
    get { endpoints[endpoint]?[cluster] }
    set {
      endpoints[endpoint, default: [:]][cluster] = newValue
      if endpoints[endpoint]?.isEmpty == true { endpoints[endpoint] = nil }
    }
  }

  /// The clusters of an endpoint with known attributes.
  package subscript(endpoint: EndpointID) -> [ClusterID: ClusterValues] { endpoints[endpoint] ?? [:] }

  /// The endpoints with known attributes, in order.
  package var endpointIDs: [EndpointID] { endpoints.keys.sorted() }

  /// The known attributes with their values, in the order of their paths.
  package var all: [(path: ConcreteAttributePath, value: [UInt8])] {
    endpointIDs.flatMap { endpoint in
      self[endpoint].sorted { $0.key < $1.key }.flatMap { cluster, values in
        values.entries.map { (.init(endpoint, cluster, $0.attribute), $0.value) }
      }
    }
  }

  /// Returns an attribute by its declaration; nil if it is unknown or of another type.
  public func value<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, on endpoint: EndpointID) -> Value?
  {
    self[attribute.path(on: endpoint)].flatMap { try? Value(tlv: $0) }
  }

  package mutating func remove(_ endpoint: EndpointID) { endpoints[endpoint] = nil }
}
