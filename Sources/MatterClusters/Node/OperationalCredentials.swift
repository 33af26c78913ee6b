public import MatterModel

/// Operational Credentials (0x003E). The fabrics of the node, its operational certificates, and device attestation.
/// Matter Core § 11.18.
public enum OperationalCredentials: Cluster {
  public static let id: ClusterID = 0x003E, revision: UInt16 = 2, name = "OperationalCredentials"

  // MARK: Attributes

  public static let nocs = Attribute<Self, [NOCStruct]>(
    0x0000, "NOCs", initial: [], quality: [.nonVolatile, .changesOmitted, .fabricScoped], read: .administer)
  public static let fabrics = Attribute<Self, [FabricDescriptorStruct]>(
    0x0001, "Fabrics", initial: [], quality: [.nonVolatile, .fabricScoped])
  public static let supportedFabrics = Attribute<Self, UInt8>(
    0x0002, "SupportedFabrics", quality: .fixed, constraint: .range(5...254))
  public static let commissionedFabrics = Attribute<Self, UInt8>(0x0003, "CommissionedFabrics", quality: .nonVolatile)
  public static let trustedRootCertificates = Attribute<Self, [OctetString]>(
    0x0004, "TrustedRootCertificates", initial: [], quality: [.nonVolatile, .changesOmitted])
  public static let currentFabricIndex = Attribute<Self, FabricIndex>(0x0005, "CurrentFabricIndex", initial: 0)

  // MARK: Commands

  public static let attestationRequest = Command<Self, AttestationRequest, AttestationResponse>(
    0x00, "AttestationRequest", response: 0x01, privilege: .administer)
  public static let certificateChainRequest = Command<Self, CertificateChainRequest, CertificateChainResponse>(
    0x02, "CertificateChainRequest", response: 0x03, privilege: .administer)
  public static let csrRequest = Command<Self, CSRRequest, CSRResponse>(
    0x04, "CSRRequest", response: 0x05, privilege: .administer)
  public static let addNOC = Command<Self, AddNOCRequest, NOCResponse>(
    0x06, "AddNOC", response: 0x08, privilege: .administer)
  public static let updateNOC = Command<Self, UpdateNOCRequest, NOCResponse>(
    0x07, "UpdateNOC", response: 0x08, privilege: .administer, quality: .fabricScoped)
  public static let updateFabricLabel = Command<Self, UpdateFabricLabelRequest, NOCResponse>(
    0x09, "UpdateFabricLabel", response: 0x08, privilege: .administer, quality: .fabricScoped)
  public static let removeFabric = Command<Self, RemoveFabricRequest, NOCResponse>(
    0x0A, "RemoveFabric", response: 0x08, privilege: .administer)
  public static let addTrustedRootCertificate = Command<Self, AddTrustedRootCertificateRequest, NoFields>(
    0x0B, "AddTrustedRootCertificate", privilege: .administer)
  public static let setVIDVerificationStatement = Command<Self, SetVIDVerificationStatementRequest, NoFields>(
    0x0C, "SetVIDVerificationStatement", privilege: .administer, quality: .fabricScoped)
  public static let signVIDVerificationRequest = Command<Self, SignVIDVerificationRequest, SignVIDVerificationResponse>(
    0x0D, "SignVIDVerificationRequest", response: 0x0E, privilege: .administer)

  public static let elements: [any ClusterElement] = [
    nocs, fabrics, supportedFabrics, commissionedFabrics, trustedRootCertificates, currentFabricIndex,
    attestationRequest, certificateChainRequest, csrRequest, addNOC, updateNOC, updateFabricLabel, removeFabric,
    addTrustedRootCertificate, setVIDVerificationStatement, signVIDVerificationRequest,
  ]

  // MARK: Types

  /// Matter Core § 11.18.4.2.
  public struct CertificateChainType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let dacCertificate = Self(1), paiCertificate = Self(2)
    public static let names: [UInt64: String] = [1: "DACCertificate", 2: "PAICertificate"]
  }

  /// Matter Core § 11.18.4.3.
  public struct NodeOperationalCertStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ok = Self(0), invalidPublicKey = Self(1), invalidNodeOpId = Self(2), invalidNOC = Self(3)
    public static let missingCsr = Self(4), tableFull = Self(5), invalidAdminSubject = Self(6)
    public static let fabricConflict = Self(9), labelConflict = Self(10), invalidFabricIndex = Self(11)
    public static let names: [UInt64: String] = [
      0: "OK", 1: "InvalidPublicKey", 2: "InvalidNodeOpId", 3: "InvalidNOC", 4: "MissingCsr", 5: "TableFull",
      6: "InvalidAdminSubject", 9: "FabricConflict", 10: "LabelConflict", 11: "InvalidFabricIndex",
    ]
  }

  /// Matter Core § 11.18.4.4.
  public struct NOCStruct: FabricScoped {
    public var noc: OctetString = []
    public var icac: Nullable<OctetString> = .null
    public var vvsc: OctetString?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "NOC", \.noc), .init(2, "ICAC", \.icac), .init(3, "VVSC", \.vvsc), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      noc: OctetString, icac: Nullable<OctetString>, vvsc: OctetString? = nil, fabricIndex: FabricIndex = .none
    ) {
      self.noc = noc
      self.icac = icac
      self.vvsc = vvsc
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.18.4.5.
  public struct FabricDescriptorStruct: FabricScoped {
    public var rootPublicKey: OctetString = []
    public var vendorID: VendorID = 0
    public var fabricID: FabricID = 0
    public var nodeID: NodeID = 0
    public var label: String = ""
    public var vidVerificationStatement: OctetString?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "RootPublicKey", \.rootPublicKey), .init(2, "VendorID", \.vendorID), .init(3, "FabricID", \.fabricID),
      .init(4, "NodeID", \.nodeID), .init(5, "Label", \.label),
      .init(6, "VIDVerificationStatement", \.vidVerificationStatement), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      rootPublicKey: OctetString, vendorID: VendorID, fabricID: FabricID, nodeID: NodeID, label: String,
      vidVerificationStatement: OctetString? = nil, fabricIndex: FabricIndex = .none
    ) {
      self.rootPublicKey = rootPublicKey
      self.vendorID = vendorID
      self.fabricID = fabricID
      self.nodeID = nodeID
      self.label = label
      self.vidVerificationStatement = vidVerificationStatement
      self.fabricIndex = fabricIndex
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.18.6.1.
  public struct AttestationRequest: ModelStruct {
    public var attestationNonce: OctetString = []
    public static let fields: [Field<Self>] = [.init(0, "AttestationNonce", \.attestationNonce)]

    public init() {}

    public init(attestationNonce: OctetString) { self.attestationNonce = attestationNonce }
  }

  /// Matter Core § 11.18.6.2.
  public struct AttestationResponse: ModelStruct {
    public var attestationElements: OctetString = []
    public var attestationSignature: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "AttestationElements", \.attestationElements), .init(1, "AttestationSignature", \.attestationSignature),
    ]

    public init() {}

    public init(attestationElements: OctetString, attestationSignature: OctetString) {
      self.attestationElements = attestationElements
      self.attestationSignature = attestationSignature
    }
  }

  /// Matter Core § 11.18.6.3.
  public struct CertificateChainRequest: ModelStruct {
    public var certificateType: CertificateChainType = .dacCertificate
    public static let fields: [Field<Self>] = [.init(0, "CertificateType", \.certificateType)]

    public init() {}

    public init(certificateType: CertificateChainType) { self.certificateType = certificateType }
  }

  /// Matter Core § 11.18.6.4.
  public struct CertificateChainResponse: ModelStruct {
    public var certificate: OctetString = []
    public static let fields: [Field<Self>] = [.init(0, "Certificate", \.certificate)]

    public init() {}

    public init(certificate: OctetString) { self.certificate = certificate }
  }

  /// Matter Core § 11.18.6.5.
  public struct CSRRequest: ModelStruct {
    public var csrNonce: OctetString = []
    public var isForUpdateNOC: Bool?
    public static let fields: [Field<Self>] = [
      .init(0, "CSRNonce", \.csrNonce), .init(1, "IsForUpdateNOC", \.isForUpdateNOC),
    ]

    public init() {}

    public init(csrNonce: OctetString, isForUpdateNOC: Bool? = nil) {
      self.csrNonce = csrNonce
      self.isForUpdateNOC = isForUpdateNOC
    }
  }

  /// Matter Core § 11.18.6.6.
  public struct CSRResponse: ModelStruct {
    public var nocsrElements: OctetString = []
    public var attestationSignature: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "NOCSRElements", \.nocsrElements), .init(1, "AttestationSignature", \.attestationSignature),
    ]

    public init() {}

    public init(nocsrElements: OctetString, attestationSignature: OctetString) {
      self.nocsrElements = nocsrElements
      self.attestationSignature = attestationSignature
    }
  }

  /// Matter Core § 11.18.6.8.
  public struct AddNOCRequest: ModelStruct {
    public var nocValue: OctetString = []
    public var icacValue: OctetString?
    public var ipkValue: OctetString = []
    public var caseAdminSubject: NodeID = 0
    public var adminVendorId: VendorID = 0
    public static let fields: [Field<Self>] = [
      .init(0, "NOCValue", \.nocValue), .init(1, "ICACValue", \.icacValue), .init(2, "IPKValue", \.ipkValue),
      .init(3, "CaseAdminSubject", \.caseAdminSubject), .init(4, "AdminVendorId", \.adminVendorId),
    ]

    public init() {}

    public init(
      nocValue: OctetString, icacValue: OctetString? = nil, ipkValue: OctetString, caseAdminSubject: NodeID,
      adminVendorId: VendorID
    ) {
      self.nocValue = nocValue
      self.icacValue = icacValue
      self.ipkValue = ipkValue
      self.caseAdminSubject = caseAdminSubject
      self.adminVendorId = adminVendorId
    }
  }

  /// Matter Core § 11.18.6.10.
  public struct NOCResponse: ModelStruct {
    public var statusCode: NodeOperationalCertStatus = .ok
    public var fabricIndex: FabricIndex?
    public var debugText: String?
    public static let fields: [Field<Self>] = [
      .init(0, "StatusCode", \.statusCode), .init(1, "FabricIndex", \.fabricIndex), .init(2, "DebugText", \.debugText),
    ]

    public init() {}

    public init(statusCode: NodeOperationalCertStatus, fabricIndex: FabricIndex? = nil, debugText: String? = nil) {
      self.statusCode = statusCode
      self.fabricIndex = fabricIndex
      self.debugText = debugText
    }
  }

  /// Matter Core § 11.18.6.9.
  public struct UpdateNOCRequest: FabricScoped {
    public var nocValue: OctetString = []
    public var icacValue: OctetString?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "NOCValue", \.nocValue), .init(1, "ICACValue", \.icacValue), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(nocValue: OctetString, icacValue: OctetString? = nil, fabricIndex: FabricIndex = .none) {
      self.nocValue = nocValue
      self.icacValue = icacValue
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.18.6.11.
  public struct UpdateFabricLabelRequest: FabricScoped {
    public var label: String = ""
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [.init(0, "Label", \.label), .init(fabricIndex: \.fabricIndex)]

    public init() {}

    public init(label: String, fabricIndex: FabricIndex = .none) {
      self.label = label
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.18.6.12.
  public struct RemoveFabricRequest: ModelStruct {
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [.init(0, "FabricIndex", \.fabricIndex)]

    public init() {}

    public init(fabricIndex: FabricIndex) { self.fabricIndex = fabricIndex }
  }

  /// Matter Core § 11.18.6.13.
  public struct AddTrustedRootCertificateRequest: ModelStruct {
    public var rootCACertificate: OctetString = []
    public static let fields: [Field<Self>] = [.init(0, "RootCACertificate", \.rootCACertificate)]

    public init() {}

    public init(rootCACertificate: OctetString) { self.rootCACertificate = rootCACertificate }
  }

  /// Matter Core § 11.18.6.14.
  public struct SetVIDVerificationStatementRequest: ModelStruct {
    public var vendorID: VendorID?
    public var vidVerificationStatement: OctetString?
    public var vvsc: OctetString?
    public static let fields: [Field<Self>] = [
      .init(0, "VendorID", \.vendorID), .init(1, "VIDVerificationStatement", \.vidVerificationStatement),
      .init(2, "VVSC", \.vvsc),
    ]

    public init() {}

    public init(vendorID: VendorID? = nil, vidVerificationStatement: OctetString? = nil, vvsc: OctetString? = nil) {
      self.vendorID = vendorID
      self.vidVerificationStatement = vidVerificationStatement
      self.vvsc = vvsc
    }
  }

  /// Matter Core § 11.18.6.15.
  public struct SignVIDVerificationRequest: ModelStruct {
    public var fabricIndex: FabricIndex = .none
    public var clientChallenge: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "FabricIndex", \.fabricIndex), .init(1, "ClientChallenge", \.clientChallenge),
    ]

    public init() {}

    public init(fabricIndex: FabricIndex, clientChallenge: OctetString) {
      self.fabricIndex = fabricIndex
      self.clientChallenge = clientChallenge
    }
  }

  /// Matter Core § 11.18.6.16.
  public struct SignVIDVerificationResponse: ModelStruct {
    public var fabricIndex: FabricIndex = .none
    public var fabricBindingVersion: UInt8 = 0
    public var signature: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "FabricIndex", \.fabricIndex), .init(1, "FabricBindingVersion", \.fabricBindingVersion),
      .init(2, "Signature", \.signature),
    ]

    public init() {}

    public init(fabricIndex: FabricIndex, fabricBindingVersion: UInt8, signature: OctetString) {
      self.fabricIndex = fabricIndex
      self.fabricBindingVersion = fabricBindingVersion
      self.signature = signature
    }
  }
}
