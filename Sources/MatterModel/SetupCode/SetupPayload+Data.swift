public import MatterTLV

// What a maker adds to a QR code: one TLV structure. Matter Core § 5.1.5.

extension SetupPayload {
  /// One member of what the maker adds.
  public struct ExtraMember: Hashable, Sendable {
    /// 0 to 127 are the standard's, 128 to 255 the maker's own.
    public var tag: UInt8
    public var value: TLVElement.Value

    public init(tag: UInt8, value: TLVElement.Value) { (self.tag, self.value) = (tag, value) }

    /// The tag of the device's serial number.
    public static let serialNumberTag: UInt8 = 0

    /// What the standard calls it; nil for a maker's own and for what is not known.
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

    /// Whether the tag is one of those that every maker gives a meaning of its own.
    public var isMakers: Bool { tag >= 128 }
  }

  /// What the maker added, in the code's order; empty where there is nothing, or nothing that can be read.
  public var extraMembers: [ExtraMember] {
    guard let element = try? TLVElement(decoding: additionalData), case .structure(let members) = element.value else {
      return []
    }
    return members.compactMap { member in
      if case .context(let tag) = member.tag { ExtraMember(tag: tag, value: member.value) } else { nil }
    }
  }

  /// The device's serial number, a text or a number, where the code tells it.
  public var serialNumber: String? {
    switch extraMembers.first(where: { $0.tag == ExtraMember.serialNumberTag })?.value {
    case .string(let text): text
    case .unsigned(let number): "\(number)"
    default: nil
    }
  }

  /// Members as ``additionalData`` has them, by tag; none are no bytes at all.
  public static func additionalData(_ members: [ExtraMember]) -> [UInt8] {
    if members.isEmpty { return [] }
    let elements = members.sorted { $0.tag < $1.tag }.map { TLVElement($0.value, tag: .context($0.tag)) }
    return TLVElement(.structure(elements)).encoded
  }
}
