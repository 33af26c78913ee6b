/// A snapshot of the traits of a device, or of one of its endpoints, in the order of endpoints and clusters.
///
/// They are keyed by endpoint and cluster: a speaker that is also a dimmable light has two On/Off traits and two Level
/// Control traits.
public struct TraitCollection: Sendable, Sequence, CustomStringConvertible {
  package let device: HomeDevice
  /// Nil: all endpoints.
  package let endpoint: EndpointID?

  private var endpoints: [DeviceEndpoint] {
    guard let endpoint else { return device.endpoints }
    return device.endpoint(endpoint).map { [$0] } ?? []
  }

  public func makeIterator() -> IndexingIterator<[AnyTrait]> {
    endpoints.flatMap { endpoint in endpoint.servers.sorted().compactMap { device.trait(endpoint.id, $0) } }
      .makeIterator()
  }

  /// The number of traits of all endpoints.
  public var count: Int { endpoints.reduce(0) { $0 + $1.servers.count } }
  /// Whether no trait of the device is known yet.
  public var isEmpty: Bool { count == 0 }
  /// The ids of the traits.
  public var ids: [TraitID] { map(\.id) }
  /// `[0/basicInformation, 1/onOff]`.
  public var description: String {
    "[\(ids.map { "\($0.endpoint)/\(ElementNames.cluster($0.cluster))" }.joined(separator: ", "))]"
  }

  /// The trait of this type on the first endpoint that has it; nil if there is none.
  public subscript<C>(_: Trait<C>.Type) -> Trait<C>? { endpoints.lazy.compactMap { find(in: $0) }.first }

  /// The trait of this type on an endpoint; nil if there is none.
  public subscript<C>(_: Trait<C>.Type, on endpoint: EndpointID) -> Trait<C>? {
    endpoints.first { $0.id == endpoint }.flatMap { find(in: $0) }
  }

  /// Returns the traits of this type, in the order of endpoints.
  public func all<C>(_: Trait<C>.Type) -> [Trait<C>] { endpoints.compactMap { find(in: $0) } }

  /// Whether there is a trait of this type.
  public func contains<C>(_: Trait<C>.Type) -> Bool {
    endpoints.contains { $0.servers.contains(where: Trait<C>.isServed) }
  }

  /// Whether there is a trait of this cluster.
  public func contains(_ cluster: ClusterID) -> Bool { endpoints.contains { $0.servers.contains(cluster) } }

  private func find<C>(in endpoint: DeviceEndpoint) -> Trait<C>? {
    guard let cluster = endpoint.servers.first(where: Trait<C>.isServed) else { return nil }
    return device.trait(endpoint.id, cluster).flatMap { Trait($0) }
  }
}
