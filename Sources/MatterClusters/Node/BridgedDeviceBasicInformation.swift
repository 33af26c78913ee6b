public import MatterModel

/// Bridged Device Basic Information (0x0039). Description and reachability of a bridged device.
/// Matter Core § 9.13.
public enum BridgedDeviceBasicInformation: Cluster {
  public static let id: ClusterID = 0x0039, revision: UInt16 = 5, name = "BridgedDeviceBasicInformation"

  public static let bridgedICDSupport = Feature(20, "BIS", "BridgedICDSupport")
  public static let features: [Feature] = [bridgedICDSupport]

  // MARK: Attributes

  public static let vendorName = Attribute<Self, String>(
    0x0001, "VendorName", quality: .fixed, conformance: .optional, constraint: .length(0...32))
  public static let vendorID = Attribute<Self, VendorID>(0x0002, "VendorID", quality: .fixed, conformance: .optional)
  public static let productName = Attribute<Self, String>(
    0x0003, "ProductName", quality: .fixed, conformance: .optional, constraint: .length(0...32))
  public static let productID = Attribute<Self, UInt16>(0x0004, "ProductID", quality: .fixed, conformance: .optional)
  public static let nodeLabel = Attribute<Self, String>(
    0x0005, "NodeLabel", quality: .nonVolatile, write: .manage, conformance: .optional, constraint: .length(0...32))
  public static let hardwareVersion = Attribute<Self, UInt16>(
    0x0007, "HardwareVersion", initial: 0, quality: .fixed, conformance: .optional)
  public static let hardwareVersionString = Attribute<Self, String>(
    0x0008, "HardwareVersionString", quality: .fixed, conformance: .optional, constraint: .length(1...64))
  public static let softwareVersion = Attribute<Self, UInt32>(
    0x0009, "SoftwareVersion", initial: 0, quality: .fixed, conformance: .optional)
  public static let softwareVersionString = Attribute<Self, String>(
    0x000A, "SoftwareVersionString", quality: .fixed, conformance: .optional, constraint: .length(1...64))
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
  public static let reachable = Attribute<Self, Bool>(0x0011, "Reachable", initial: true)
  public static let uniqueID = Attribute<Self, String>(0x0012, "UniqueID", quality: .fixed, constraint: .length(0...32))
  public static let productAppearance = Attribute<Self, ProductAppearanceStruct>(
    0x0014, "ProductAppearance", quality: .fixed, conformance: .optional)
  public static let configurationVersion = Attribute<Self, UInt32>(
    0x0018, "ConfigurationVersion", initial: 1, quality: [.nonVolatile, .provisional], conformance: .optional,
    constraint: .range(1...4294967295))

  // MARK: Commands

  public static let keepActive = Command<Self, KeepActiveRequest, NoFields>(
    0x80, "KeepActive", conformance: .features(bridgedICDSupport.mask))

  // MARK: Events

  public static let startUp = Event<Self, StartUpEvent>(0x00, "StartUp", priority: .critical, conformance: .optional)
  public static let shutDown = Event<Self, NoFields>(0x01, "ShutDown", priority: .critical, conformance: .optional)
  public static let leave = Event<Self, NoFields>(0x02, "Leave", conformance: .optional)
  public static let reachableChanged = Event<Self, ReachableChangedEvent>(0x03, "ReachableChanged")
  public static let activeChanged = Event<Self, ActiveChangedEvent>(
    0x80, "ActiveChanged", conformance: .features(bridgedICDSupport.mask))

  public static let elements: [any ClusterElement] = [
    vendorName, vendorID, productName, productID, nodeLabel, hardwareVersion, hardwareVersionString, softwareVersion,
    softwareVersionString, manufacturingDate, partNumber, productURL, productLabel, serialNumber, reachable, uniqueID,
    productAppearance, configurationVersion, keepActive, startUp, shutDown, leave, reachableChanged, activeChanged,
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

  // MARK: Fields of commands and events

  /// Matter Core § 9.13.6.1.
  public struct KeepActiveRequest: ModelStruct {
    public var stayActiveDuration: UInt32 = 0
    public var timeoutMs: UInt32 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "StayActiveDuration", \.stayActiveDuration), .init(1, "TimeoutMs", \.timeoutMs),
    ]

    public init() {}

    public init(stayActiveDuration: UInt32, timeoutMs: UInt32) {
      self.stayActiveDuration = stayActiveDuration
      self.timeoutMs = timeoutMs
    }
  }

  /// Matter Core § 9.13.7.
  public struct StartUpEvent: ModelStruct {
    public var softwareVersion: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "SoftwareVersion", \.softwareVersion)]

    public init() {}

    public init(softwareVersion: UInt32) { self.softwareVersion = softwareVersion }
  }

  /// Matter Core § 9.13.7.2.
  public struct ReachableChangedEvent: ModelStruct {
    public var reachableNewValue: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "ReachableNewValue", \.reachableNewValue)]

    public init() {}

    public init(reachableNewValue: Bool) { self.reachableNewValue = reachableNewValue }
  }

  /// Matter Core § 9.13.7.3.
  public struct ActiveChangedEvent: ModelStruct {
    public var promisedActiveDuration: UInt32 = 0
    public static let fields: [Field<Self>] = [.init(0, "PromisedActiveDuration", \.promisedActiveDuration)]

    public init() {}

    public init(promisedActiveDuration: UInt32) { self.promisedActiveDuration = promisedActiveDuration }
  }
}
