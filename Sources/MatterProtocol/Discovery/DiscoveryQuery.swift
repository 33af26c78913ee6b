internal import MatterModel

/// A DNS-SD search for Matter services. Matter Core § 4.3.
public enum DiscoveryQuery: Hashable, Sendable, Codable {
  /// A filter for commissionable nodes. § 4.3.1.
  public enum CommissionableFilter: Hashable, Sendable, Codable {
    /// All nodes, in commissioning mode or not.
    case any
    /// Nodes in commissioning mode.
    case inCommissioningMode
    /// Nodes with a 12-bit discriminator, as in a QR code.
    case longDiscriminator(UInt16)
    /// Nodes with the upper four bits of a discriminator, as in a manual code.
    case shortDiscriminator(UInt8)
    /// Nodes of a vendor.
    case vendor(UInt16)
    /// Nodes of a device type.
    case deviceType(UInt32)
    /// The instance with a known name.
    case instance(UInt64)
  }

  /// Commissionable nodes.
  case commissionable(CommissionableFilter = .any)
  /// Commissioned nodes: all, those of a fabric, or one.
  case operational(compressedFabricID: UInt64?, nodeID: UInt64?)
  /// Commissioners.
  case commissioner

  /// The name of the PTR records to query, or the single instance.
  enum Target: Hashable, Sendable {
    case pointers(DNSName)
    case instance(MatterService.Kind)
  }

  var target: Target {
    let subtype = { (label: String) in
      Target.pointers(MatterServiceNames.subtype(label, of: MatterServiceNames.commissionable))
    }
    switch self {
    case .commissionable(.any): return .pointers(MatterServiceNames.commissionable)
    case .commissionable(.inCommissioningMode): return subtype("_CM")
    case .commissionable(.longDiscriminator(let value)): return subtype("_L\(value)")
    case .commissionable(.shortDiscriminator(let value)): return subtype("_S\(value)")
    case .commissionable(.vendor(let value)): return subtype("_V\(value)")
    case .commissionable(.deviceType(let value)): return subtype("_T\(value)")
    case .commissionable(.instance(let value)): return .instance(.commissionable(instance: value))
    case .operational(let fabric?, let node?):
      return .instance(.operational(compressedFabricID: fabric, nodeID: node))
    case .operational(let fabric?, nil):
      return .pointers(
        MatterServiceNames.subtype("_I" + fabric.hexadecimal(16), of: MatterServiceNames.operational))
    case .operational(nil, _): return .pointers(MatterServiceNames.operational)
    case .commissioner: return .pointers(MatterServiceNames.commissioner)
    }
  }

  /// Whether a service matches the query.
  public func matches(_ service: MatterService) -> Bool {
    switch (self, service.kind) {
    case (.commissionable(let filter), .commissionable(let instance)):
      switch filter {
      case .any: true
      case .inCommissioningMode: service.commissioningMode != 0
      case .longDiscriminator(let value): service.discriminator == value
      case .shortDiscriminator(let value): service.shortDiscriminator == value
      case .vendor(let value): service.vendorID == value
      case .deviceType(let value): service.deviceType == value
      case .instance(let value): instance == value
      }
    case (.operational(let fabric, let node), .operational(let itsFabric, let itsNode)):
      (fabric ?? itsFabric) == itsFabric && (node ?? itsNode) == itsNode
    case (.commissioner, .commissioner): true
    default: false
    }
  }
}
