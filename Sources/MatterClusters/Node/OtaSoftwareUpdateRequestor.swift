public import MatterModel

/// OTA Software Update Requestor (0x002A). Downloads and applies software updates.
/// Matter Core § 11.20.7.
public enum OtaSoftwareUpdateRequestor: Cluster {
  public static let id: ClusterID = 0x002A, revision: UInt16 = 1, name = "OtaSoftwareUpdateRequestor"

  // MARK: Attributes

  public static let defaultOTAProviders = Attribute<Self, [ProviderLocation]>(
    0x0000, "DefaultOTAProviders", initial: [], quality: [.nonVolatile, .fabricScoped], write: .administer)
  public static let updatePossible = Attribute<Self, Bool>(0x0001, "UpdatePossible", initial: true)
  public static let updateState = Attribute<Self, UpdateState>(0x0002, "UpdateState", initial: .unknown)
  public static let updateStateProgress = Attribute<Self, Nullable<UInt8>>(
    0x0003, "UpdateStateProgress", initial: .null, quality: .quieter, constraint: .range(0...100))

  // MARK: Commands

  public static let announceOTAProvider = Command<Self, AnnounceOTAProviderRequest, NoFields>(
    0x00, "AnnounceOTAProvider", privilege: .administer, conformance: .optional)

  // MARK: Events

  public static let stateTransition = Event<Self, StateTransitionEvent>(0x00, "StateTransition")
  public static let versionApplied = Event<Self, VersionAppliedEvent>(0x01, "VersionApplied", priority: .critical)
  public static let downloadError = Event<Self, DownloadErrorEvent>(0x02, "DownloadError")

  public static let elements: [any ClusterElement] = [
    defaultOTAProviders, updatePossible, updateState, updateStateProgress, announceOTAProvider, stateTransition,
    versionApplied, downloadError,
  ]

  // MARK: Types

  /// Matter Core § 11.20.7.4.1.
  public struct AnnouncementReason: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let simpleAnnouncement = Self(0), updateAvailable = Self(1), urgentUpdateAvailable = Self(2)
    public static let names: [UInt64: String] = [
      0: "SimpleAnnouncement", 1: "UpdateAvailable", 2: "UrgentUpdateAvailable",
    ]
  }

  /// Matter Core § 11.20.7.4.2.
  public struct UpdateState: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), idle = Self(1), querying = Self(2), delayedOnQuery = Self(3)
    public static let downloading = Self(4), applying = Self(5), delayedOnApply = Self(6), rollingBack = Self(7)
    public static let delayedOnUserConsent = Self(8)
    public static let names: [UInt64: String] = [
      0: "Unknown", 1: "Idle", 2: "Querying", 3: "DelayedOnQuery", 4: "Downloading", 5: "Applying",
      6: "DelayedOnApply", 7: "RollingBack", 8: "DelayedOnUserConsent",
    ]
  }

  /// Matter Core § 11.20.7.4.3.
  public struct ChangeReason: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unknown = Self(0), success = Self(1), failure = Self(2), timeOut = Self(3)
    public static let delayByProvider = Self(4)
    public static let names: [UInt64: String] = [
      0: "Unknown", 1: "Success", 2: "Failure", 3: "TimeOut", 4: "DelayByProvider",
    ]
  }

  /// Matter Core § 11.20.7.4.4.
  public struct ProviderLocation: FabricScoped {
    public var providerNodeID: NodeID = 0
    public var endpoint: EndpointID = 0
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "ProviderNodeID", \.providerNodeID), .init(2, "Endpoint", \.endpoint),
      .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(providerNodeID: NodeID, endpoint: EndpointID, fabricIndex: FabricIndex = .none) {
      self.providerNodeID = providerNodeID
      self.endpoint = endpoint
      self.fabricIndex = fabricIndex
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.20.7.6.1.
  public struct AnnounceOTAProviderRequest: FabricScoped {
    public var providerNodeID: NodeID = 0
    public var vendorID: VendorID = 0
    public var announcementReason: AnnouncementReason = .simpleAnnouncement
    public var metadataForNode: OctetString?
    public var endpoint: EndpointID = 0
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "ProviderNodeID", \.providerNodeID), .init(1, "VendorID", \.vendorID),
      .init(2, "AnnouncementReason", \.announcementReason), .init(3, "MetadataForNode", \.metadataForNode),
      .init(4, "Endpoint", \.endpoint), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      providerNodeID: NodeID, vendorID: VendorID, announcementReason: AnnouncementReason,
      metadataForNode: OctetString? = nil, endpoint: EndpointID, fabricIndex: FabricIndex = .none
    ) {
      self.providerNodeID = providerNodeID
      self.vendorID = vendorID
      self.announcementReason = announcementReason
      self.metadataForNode = metadataForNode
      self.endpoint = endpoint
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.20.7.7.1.
  public struct StateTransitionEvent: ModelStruct {
    public var previousState: UpdateState = .unknown
    public var newState: UpdateState = .unknown
    public var reason: ChangeReason = .unknown
    public var targetSoftwareVersion: Nullable<UInt32> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "PreviousState", \.previousState), .init(1, "NewState", \.newState), .init(2, "Reason", \.reason),
      .init(3, "TargetSoftwareVersion", \.targetSoftwareVersion),
    ]

    public init() {}

    public init(
      previousState: UpdateState, newState: UpdateState, reason: ChangeReason, targetSoftwareVersion: Nullable<UInt32>
    ) {
      self.previousState = previousState
      self.newState = newState
      self.reason = reason
      self.targetSoftwareVersion = targetSoftwareVersion
    }
  }

  /// Matter Core § 11.20.7.7.2.
  public struct VersionAppliedEvent: ModelStruct {
    public var softwareVersion: UInt32 = 0
    public var productID: UInt16 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "SoftwareVersion", \.softwareVersion), .init(1, "ProductID", \.productID),
    ]

    public init() {}

    public init(softwareVersion: UInt32, productID: UInt16) {
      self.softwareVersion = softwareVersion
      self.productID = productID
    }
  }

  /// Matter Core § 11.20.7.7.3.
  public struct DownloadErrorEvent: ModelStruct {
    public var softwareVersion: UInt32 = 0
    public var bytesDownloaded: UInt64 = 0
    public var progressPercent: Nullable<UInt8> = .null
    public var platformCode: Nullable<Int64> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "SoftwareVersion", \.softwareVersion), .init(1, "BytesDownloaded", \.bytesDownloaded),
      .init(2, "ProgressPercent", \.progressPercent), .init(3, "PlatformCode", \.platformCode),
    ]

    public init() {}

    public init(
      softwareVersion: UInt32, bytesDownloaded: UInt64, progressPercent: Nullable<UInt8>,
      platformCode: Nullable<Int64>
    ) {
      self.softwareVersion = softwareVersion
      self.bytesDownloaded = bytesDownloaded
      self.progressPercent = progressPercent
      self.platformCode = platformCode
    }
  }
}
