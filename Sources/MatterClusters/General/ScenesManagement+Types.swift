public import MatterModel

// The types of Scenes Management. Application Clusters § 1.4.

extension ScenesManagement {
  /// Application Clusters § 1.4.7.1.
  public struct CopyMode: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let copyAllScenes = Self(rawValue: 1 << 0)
    public static let names: [Int: String] = [0: "CopyAllScenes"]
  }

  /// Application Clusters § 1.4.7.2.
  public struct SceneInfoStruct: FabricScoped {
    public var sceneCount: UInt8 = 0
    public var currentScene: UInt8 = 0
    public var currentGroup: GroupID = 0
    public var sceneValid: Bool = false
    public var remainingCapacity: UInt8 = 0
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "SceneCount", \.sceneCount), .init(1, "CurrentScene", \.currentScene),
      .init(2, "CurrentGroup", \.currentGroup), .init(3, "SceneValid", \.sceneValid),
      .init(4, "RemainingCapacity", \.remainingCapacity), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      sceneCount: UInt8, currentScene: UInt8, currentGroup: GroupID, sceneValid: Bool, remainingCapacity: UInt8,
      fabricIndex: FabricIndex = .none
    ) {
      self.sceneCount = sceneCount
      self.currentScene = currentScene
      self.currentGroup = currentGroup
      self.sceneValid = sceneValid
      self.remainingCapacity = remainingCapacity
      self.fabricIndex = fabricIndex
    }
  }

  /// Application Clusters § 1.4.7.3.
  public struct AttributeValuePairStruct: ModelStruct {
    public var attributeID: AttributeID = 0
    public var valueUnsigned8: UInt8?
    public var valueSigned8: Int8?
    public var valueUnsigned16: UInt16?
    public var valueSigned16: Int16?
    public var valueUnsigned32: UInt32?
    public var valueSigned32: Int32?
    public var valueUnsigned64: UInt64?
    public var valueSigned64: Int64?
    public static let fields: [Field<Self>] = [
      .init(0, "AttributeID", \.attributeID), .init(1, "ValueUnsigned8", \.valueUnsigned8),
      .init(2, "ValueSigned8", \.valueSigned8), .init(3, "ValueUnsigned16", \.valueUnsigned16),
      .init(4, "ValueSigned16", \.valueSigned16), .init(5, "ValueUnsigned32", \.valueUnsigned32),
      .init(6, "ValueSigned32", \.valueSigned32), .init(7, "ValueUnsigned64", \.valueUnsigned64),
      .init(8, "ValueSigned64", \.valueSigned64),
    ]

    public init() {}

    public init(
      attributeID: AttributeID, valueUnsigned8: UInt8? = nil, valueSigned8: Int8? = nil,
      valueUnsigned16: UInt16? = nil, valueSigned16: Int16? = nil, valueUnsigned32: UInt32? = nil,
      valueSigned32: Int32? = nil, valueUnsigned64: UInt64? = nil, valueSigned64: Int64? = nil
    ) {
      self.attributeID = attributeID
      self.valueUnsigned8 = valueUnsigned8
      self.valueSigned8 = valueSigned8
      self.valueUnsigned16 = valueUnsigned16
      self.valueSigned16 = valueSigned16
      self.valueUnsigned32 = valueUnsigned32
      self.valueSigned32 = valueSigned32
      self.valueUnsigned64 = valueUnsigned64
      self.valueSigned64 = valueSigned64
    }
  }

  /// Application Clusters § 1.4.7.4.
  public struct ExtensionFieldSetStruct: ModelStruct {
    public var clusterID: ClusterID = 0
    public var attributeValueList: [AttributeValuePairStruct] = []
    public static let fields: [Field<Self>] = [
      .init(0, "ClusterID", \.clusterID), .init(1, "AttributeValueList", \.attributeValueList),
    ]

    public init() {}

    public init(clusterID: ClusterID, attributeValueList: [AttributeValuePairStruct]) {
      self.clusterID = clusterID
      self.attributeValueList = attributeValueList
    }
  }
}
