package import MatterClusters
package import MatterModel
internal import Synchronization

extension ClusterCatalogue {
  /// Adds a manufacturer's cluster, in place of one with the same id.
  /// - Returns: the type of the cluster.
  @discardableResult
  package static func add(_ cluster: MakersCluster) -> any Cluster.Type {
    declarations.withLock { declarations in
      if let type = self.cluster(cluster.id), declarations[ObjectIdentifier(type)] == cluster { return type }
      let type = Never.number(declarations.count + 1).cluster
      declarations[ObjectIdentifier(type)] = cluster
      add(type, id: cluster.id)
      return type
    }
  }

  /// Returns the declaration of a type that ``add(_:)`` returned.
  fileprivate static func declaration(of type: any Cluster.Type) -> MakersCluster? {
    declarations.withLock { $0[ObjectIdentifier(type)] }
  }

  /// The declarations of the added clusters by their types.
  private static let declarations = Mutex<[ObjectIdentifier: MakersCluster]>([:])
}

/// A number as a type: the bits of the number from the highest to the lowest, `One<Zero<One<Never>>>` for 5. The runtime
/// makes these types as needed.
private protocol NumberType: Sendable {
  static var twice: any NumberType.Type { get }
  static var twiceAndOne: any NumberType.Type { get }
  /// The type for the added cluster with this number.
  static var cluster: any Cluster.Type { get }
}

extension NumberType {
  static var twice: any NumberType.Type { Zero<Self>.self }
  static var twiceAndOne: any NumberType.Type { One<Self>.self }
  static var cluster: any Cluster.Type { AddedCluster<Self>.self }

  static func number(_ number: Int) -> any NumberType.Type {
    guard number > 0 else { return self }
    let half = Self.number(number / 2)
    return number.isMultiple(of: 2) ? half.twice : half.twiceAndOne
  }
}

extension Never: NumberType {}
private enum Zero<Half: NumberType>: NumberType {}
private enum One<Half: NumberType>: NumberType {}

/// A type for a cluster that is declared while the program runs.
private enum AddedCluster<Number: NumberType>: Cluster {
  private static var declaration: MakersCluster? { ClusterCatalogue.declaration(of: Self.self) }
  static var id: ClusterID { declaration?.id ?? 0 }
  static var revision: UInt16 { declaration?.revision ?? 0 }
  static var name: String { declaration?.name ?? "" }
  static var quality: Quality { declaration?.quality ?? [] }
  static var features: [Feature] { declaration?.features ?? [] }
  static var elements: [any ClusterElement] { declaration?.elements ?? [] }
}
