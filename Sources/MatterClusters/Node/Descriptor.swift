public import MatterModel

/// Descriptor (0x001D). The device types, clusters and parts of an endpoint.
/// Matter Core § 9.5.
public enum Descriptor: Cluster {
  public static let id: ClusterID = 0x001D, revision: UInt16 = 3, name = "Descriptor"

  public static let tagListFeature = Feature(0, "TAGLIST", "TagList")
  public static let features: [Feature] = [tagListFeature]

  // MARK: Attributes

  public static let deviceTypeList = Attribute<Self, [DeviceTypeStruct]>(0x0000, "DeviceTypeList", quality: .fixed)
  public static let serverList = Attribute<Self, [ClusterID]>(0x0001, "ServerList", initial: [], quality: .fixed)
  public static let clientList = Attribute<Self, [ClusterID]>(0x0002, "ClientList", initial: [], quality: .fixed)
  public static let partsList = Attribute<Self, [EndpointID]>(0x0003, "PartsList", initial: [])
  public static let tagList = Attribute<Self, [SemanticTagStruct]>(
    0x0004, "TagList", quality: .fixed, conformance: .features(tagListFeature.mask), constraint: .entries(6))
  public static let endpointUniqueID = Attribute<Self, String>(
    0x0005, "EndpointUniqueID", quality: .fixed, conformance: .optional, constraint: .length(0...32))

  public static let elements: [any ClusterElement] = [
    deviceTypeList, serverList, clientList, partsList, tagList, endpointUniqueID,
  ]

  // MARK: Types

  /// Matter Core § 9.5.5.1.
  public struct DeviceTypeStruct: ModelStruct {
    public var deviceType: DeviceTypeID = 0
    public var revision: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "DeviceType", \.deviceType), .init(1, "Revision", \.revision)]

    public init() {}

    public init(deviceType: DeviceTypeID, revision: UInt16) {
      self.deviceType = deviceType
      self.revision = revision
    }
  }
}
