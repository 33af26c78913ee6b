public import MatterModel

/// Binding (0x001E). The nodes and groups that the endpoint's client clusters control. Matter Core § 9.6.
public enum Binding: Cluster {
  public static let id: ClusterID = 0x001E, revision: UInt16 = 1, name = "Binding"

  // MARK: Attributes

  public static let binding = Attribute<Self, [TargetStruct]>(
    0x0000, "Binding", initial: [], quality: [.nonVolatile, .fabricScoped], write: .manage)

  public static let elements: [any ClusterElement] = [binding]

  // MARK: Types

  /// Matter Core § 9.6.5.1.
  public struct TargetStruct: FabricScoped {
    public var node: NodeID?
    public var group: GroupID?
    public var endpoint: EndpointID?
    public var cluster: ClusterID?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "Node", \.node), .init(2, "Group", \.group), .init(3, "Endpoint", \.endpoint),
      .init(4, "Cluster", \.cluster), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      node: NodeID? = nil, group: GroupID? = nil, endpoint: EndpointID? = nil, cluster: ClusterID? = nil,
      fabricIndex: FabricIndex = .none
    ) {
      self.node = node
      self.group = group
      self.endpoint = endpoint
      self.cluster = cluster
      self.fabricIndex = fabricIndex
    }
  }
}
