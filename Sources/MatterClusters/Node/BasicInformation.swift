public import MatterModel

/// Basic Information (0x0028). Vendor, product and versions of the node. Matter Core § 11.1.
public enum BasicInformation: Cluster {
  public static let id: ClusterID = 0x0028, revision: UInt16 = 5, name = "BasicInformation"

  // MARK: Attributes

  public static let dataModelRevision = Attribute<Self, UInt16>(0x0000, "DataModelRevision", quality: .fixed)
  public static let vendorName = Attribute<Self, String>(
    0x0001, "VendorName", quality: .fixed, constraint: .length(0...32))
  public static let vendorID = Attribute<Self, VendorID>(0x0002, "VendorID", quality: .fixed)
  public static let productName = Attribute<Self, String>(
    0x0003, "ProductName", quality: .fixed, constraint: .length(0...32))
  public static let productID = Attribute<Self, UInt16>(0x0004, "ProductID", quality: .fixed)
  public static let nodeLabel = Attribute<Self, String>(
    0x0005, "NodeLabel", quality: .nonVolatile, write: .manage, constraint: .length(0...32))
  public static let location = Attribute<Self, String>(
    0x0006, "Location", initial: "XX", quality: .nonVolatile, write: .administer, constraint: .length(2...2))
  public static let hardwareVersion = Attribute<Self, UInt16>(0x0007, "HardwareVersion", initial: 0, quality: .fixed)
  public static let hardwareVersionString = Attribute<Self, String>(
    0x0008, "HardwareVersionString", quality: .fixed, constraint: .length(1...64))
  public static let softwareVersion = Attribute<Self, UInt32>(0x0009, "SoftwareVersion", initial: 0, quality: .fixed)
  public static let softwareVersionString = Attribute<Self, String>(
    0x000A, "SoftwareVersionString", quality: .fixed, constraint: .length(1...64))
  public static let manufacturingDate = Attribute<Self, String>(
    0x000B, "ManufacturingDate", quality: .fixed, conformance: .optional, constraint: .length(8...16))
  public static let partNumber = Attribute<Self, String>(
    0x000C, "PartNumber", quality: .fixed, conformance: .optional, constraint: .length(0...32))
  public static let productURL = Attribute<Self, String>(
    0x000D, "ProductURL", quality: .fixed, conformance: .optional, constraint: .length(0...256))
  public static let productLabel = Attribute<Self, String>(
    0x000E, "ProductLabel", quality: .fixed, conformance: .optional, constraint: .length(0...64))
  public static let serialNumber = Attribute<Self, String>(
    0x000F, "SerialNumber", quality: .fixed, conformance: .optional, constraint: .length(0...32))
  public static let localConfigDisabled = Attribute<Self, Bool>(
    0x0010, "LocalConfigDisabled", initial: false, quality: .nonVolatile, write: .manage, conformance: .optional)
  public static let reachable = Attribute<Self, Bool>(0x0011, "Reachable", initial: true, conformance: .optional)
  public static let uniqueID = Attribute<Self, String>(0x0012, "UniqueID", quality: .fixed, constraint: .length(0...32))
  public static let capabilityMinima = Attribute<Self, CapabilityMinimaStruct>(
    0x0013, "CapabilityMinima", quality: .fixed)
  public static let productAppearance = Attribute<Self, ProductAppearanceStruct>(
    0x0014, "ProductAppearance", quality: .fixed, conformance: .optional)
  public static let specificationVersion = Attribute<Self, UInt32>(
    0x0015, "SpecificationVersion", initial: 0, quality: .fixed)
  public static let maxPathsPerInvoke = Attribute<Self, UInt16>(
    0x0016, "MaxPathsPerInvoke", initial: 1, quality: .fixed, constraint: .range(1...65535))
  public static let configurationVersion = Attribute<Self, UInt32>(
    0x0018, "ConfigurationVersion", initial: 1, quality: [.nonVolatile, .provisional],
    constraint: .range(1...4294967295))

  // MARK: Events

  public static let startUp = Event<Self, StartUpEvent>(0x00, "StartUp", priority: .critical)
  public static let shutDown = Event<Self, NoFields>(0x01, "ShutDown", priority: .critical, conformance: .optional)
  public static let leave = Event<Self, LeaveEvent>(0x02, "Leave", conformance: .optional)
  public static let reachableChanged = Event<Self, ReachableChangedEvent>(
    0x03, "ReachableChanged", conformance: .optional)

  public static let elements: [any ClusterElement] = [
    dataModelRevision, vendorName, vendorID, productName, productID, nodeLabel, location, hardwareVersion,
    hardwareVersionString, softwareVersion, softwareVersionString, manufacturingDate, partNumber, productURL,
    productLabel, serialNumber, localConfigDisabled, reachable, uniqueID, capabilityMinima, productAppearance,
    specificationVersion, maxPathsPerInvoke, configurationVersion, startUp, shutDown, leave, reachableChanged,
  ]

  // MARK: Types

  /// Matter Core § 11.1.4.1.
  public struct ProductFinish: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let other = Self(0), matte = Self(1), satin = Self(2), polished = Self(3), rugged = Self(4)
    public static let fabric = Self(5)
    public static let names: [UInt64: String] = [
      0: "Other", 1: "Matte", 2: "Satin", 3: "Polished", 4: "Rugged", 5: "Fabric",
    ]
  }

  /// Matter Core § 11.1.4.2.
  public struct Color: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let black = Self(0), navy = Self(1), green = Self(2), teal = Self(3), maroon = Self(4)
    public static let purple = Self(5), olive = Self(6), gray = Self(7), blue = Self(8), lime = Self(9)
    public static let aqua = Self(10), red = Self(11), fuchsia = Self(12), yellow = Self(13), white = Self(14)
    public static let nickel = Self(15), chrome = Self(16), brass = Self(17), copper = Self(18), silver = Self(19)
    public static let gold = Self(20)
    public static let names: [UInt64: String] = [
      0: "Black", 1: "Navy", 2: "Green", 3: "Teal", 4: "Maroon", 5: "Purple", 6: "Olive", 7: "Gray", 8: "Blue",
      9: "Lime", 10: "Aqua", 11: "Red", 12: "Fuchsia", 13: "Yellow", 14: "White", 15: "Nickel", 16: "Chrome",
      17: "Brass", 18: "Copper", 19: "Silver", 20: "Gold",
    ]
  }

  /// Matter Core § 11.1.4.3.
  public struct ProductAppearanceStruct: ModelStruct {
    public var finish: ProductFinish = .other
    public var primaryColor: Nullable<Color> = .null
    public static let fields: [Field<Self>] = [.init(0, "Finish", \.finish), .init(1, "PrimaryColor", \.primaryColor)]

    public init() {}

    public init(finish: ProductFinish, primaryColor: Nullable<Color>) {
      self.finish = finish
      self.primaryColor = primaryColor
    }
  }

  /// Matter Core § 11.1.4.4.
  public struct CapabilityMinimaStruct: ModelStruct {
    public var caseSessionsPerFabric: UInt16 = 0
    public var subscriptionsPerFabric: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "CaseSessionsPerFabric", \.caseSessionsPerFabric),
      .init(1, "SubscriptionsPerFabric", \.subscriptionsPerFabric),
    ]

    public init() {}

    public init(caseSessionsPerFabric: UInt16, subscriptionsPerFabric: UInt16) {
      self.caseSessionsPerFabric = caseSessionsPerFabric
      self.subscriptionsPerFabric = subscriptionsPerFabric
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.1.6.1.
  public struct StartUpEvent: ModelStruct {
    public var softwareVersion: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "SoftwareVersion", \.softwareVersion)]

    public init() {}

    public init(softwareVersion: UInt32) { self.softwareVersion = softwareVersion }
  }

  /// Matter Core § 11.1.6.3.
  public struct LeaveEvent: ModelStruct {
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [.init(0, "FabricIndex", \.fabricIndex)]

    public init() {}

    public init(fabricIndex: FabricIndex) { self.fabricIndex = fabricIndex }
  }

  /// Matter Core § 11.1.6.4.
  public struct ReachableChangedEvent: ModelStruct {
    public var reachableNewValue: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "ReachableNewValue", \.reachableNewValue)]

    public init() {}

    public init(reachableNewValue: Bool) { self.reachableNewValue = reachableNewValue }
  }
}
