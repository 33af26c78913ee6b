public import MatterModel

/// The traits of a device, or of one of its endpoints, as they were at one moment; in the order of endpoints and clusters.
///
/// They are keyed by endpoint and cluster: a speaker that is a dimmable light as well has two of On/Off and two of Level
/// Control.
public struct TraitCollection: Sendable, Sequence {
  let device: HomeDevice
  /// Nil: all.
  let endpoint: EndpointID?

  private var endpoints: [DeviceEndpoint] {
    guard let source = device.source else { return [] }
    guard let endpoint else { return source.endpoints.sorted { $0.id < $1.id } }
    return source.endpoint(endpoint).map { [$0] } ?? []
  }

  public func makeIterator() -> IndexingIterator<[AnyTrait]> {
    endpoints.flatMap { endpoint in endpoint.servers.sorted().compactMap { device.trait(endpoint.id, $0) } }
      .makeIterator()
  }

  /// Traits of all endpoints together.
  public var count: Int { endpoints.reduce(0) { $0 + $1.servers.count } }
  /// Whether the device has not told any trait yet.
  public var isEmpty: Bool { count == 0 }
  /// What tells each of them from the others.
  public var ids: [TraitID] { map(\.id) }

  /// The trait of this type; of a device with several, that of the first endpoint. Nil if there is none.
  public subscript<T: MatterTrait>(_: T.Type) -> T? {
    for endpoint in endpoints {
      if let trait: T = find(in: endpoint) { return trait }
    }
    return nil
  }

  /// The trait of this type on an endpoint, nil if there is none.
  public subscript<T: MatterTrait>(_ type: T.Type, on endpoint: EndpointID) -> T? {
    endpoints.first { $0.id == endpoint }.flatMap { find(in: $0) }
  }

  /// All traits of this type, one for each endpoint that has it, in the order of endpoints.
  public func all<T: MatterTrait>(_: T.Type) -> [T] { endpoints.compactMap { find(in: $0) } }

  /// Whether there is a trait of this type.
  public func contains<T: MatterTrait>(_: T.Type) -> Bool {
    endpoints.contains { $0.servers.contains(where: T.isServed) }
  }

  /// Whether there is a trait of this cluster.
  public func contains(_ cluster: ClusterID) -> Bool { endpoints.contains { $0.servers.contains(cluster) } }

  private func find<T: MatterTrait>(in endpoint: DeviceEndpoint) -> T? {
    guard let cluster = endpoint.servers.first(where: T.isServed) else { return nil }
    return device.trait(endpoint.id, cluster).flatMap { T($0) }
  }
}
