/// What to look for with DNS-SD. Matter Core § 4.3.
public enum DiscoveryQuery: Hashable, Sendable {
  /// Which commissionable nodes. § 4.3.1.
  public enum CommissionableFilter: Hashable, Sendable {
    /// All of them, whether or not in commissioning mode.
    case any
    /// Those in commissioning mode.
    case inCommissioningMode
    /// The full 12-bit discriminator, as in a QR code.
    case longDiscriminator(UInt16)
    /// Its upper four bits, as in a manual code.
    case shortDiscriminator(UInt8)
    /// Of this maker, by its id.
    case vendor(UInt16)
    /// Of this device type, by its id.
    case deviceType(UInt32)
    /// One instance, known by its name.
    case instance(UInt64)
  }

  /// Nodes that can be commissioned.
  case commissionable(CommissionableFilter = .any)
  /// Commissioned nodes: all, those of a fabric, or one.
  case operational(compressedFabricID: UInt64?, nodeID: UInt64?)
  /// Commissioners.
  case commissioner

  /// The name whose PTR records list what is looked for, or the one instance that is.
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
        MatterServiceNames.subtype("_I" + MatterService.hexadecimal(fabric), of: MatterServiceNames.operational))
    case .operational(nil, _): return .pointers(MatterServiceNames.operational)
    case .commissioner: return .pointers(MatterServiceNames.commissioner)
    }
  }

  /// Whether a service is one of those looked for.
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
