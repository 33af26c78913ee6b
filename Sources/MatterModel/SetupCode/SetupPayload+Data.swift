public import MatterTLV

// Additional data in a QR code: one TLV structure. Matter Core § 5.1.5.

extension SetupPayload {
  /// A member of the additional data.
  public struct ExtraMember: Hashable, Sendable {
    /// 0 to 127 are defined by the standard, 128 to 255 by the manufacturer.
    public var tag: UInt8
    public var value: TLVElement.Value

    public init(tag: UInt8, value: TLVElement.Value) { (self.tag, self.value) = (tag, value) }

    /// The tag of the device's serial number.
    public static let serialNumberTag: UInt8 = 0

    /// The name in the standard; nil for manufacturer-specific and unknown tags.
    public var name: String? {
      switch tag {
      case 0: "serial number"
      case 1: "PBKDF iterations"
      case 2: "PBKDF salt"
      case 3: "number of devices"
      case 4: "commissioning timeout"
      default: nil
      }
    }

    /// Whether the tag is manufacturer-specific.
    public var isMakers: Bool { tag >= 128 }
  }

  /// The members of the additional data in order; empty without data or if it cannot be decoded.
  public var extraMembers: [ExtraMember] {
    guard let element = try? TLVElement(decoding: additionalData), case .structure(let members) = element.value else {
      return []
    }
    return members.compactMap { member in
      if case .context(let tag) = member.tag { ExtraMember(tag: tag, value: member.value) } else { nil }
    }
  }

  /// The device's serial number, a text or a number, if the code contains it.
  public var serialNumber: String? {
    switch extraMembers.first(where: { $0.tag == ExtraMember.serialNumberTag })?.value {
    case .string(let text): text
    case .unsigned(let number): "\(number)"
    default: nil
    }
  }

  /// Encodes members for ``additionalData``, ordered by tag; returns no bytes if there are none.
  public static func additionalData(_ members: [ExtraMember]) -> [UInt8] {
    if members.isEmpty { return [] }
    let elements = members.sorted { $0.tag < $1.tag }.map { TLVElement($0.value, tag: .context($0.tag)) }
    return TLVElement(.structure(elements)).encoded
  }
}
