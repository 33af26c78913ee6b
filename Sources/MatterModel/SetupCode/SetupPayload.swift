/// The onboarding data that a commissioner needs for the first session with a device. Matter Core § 5.1.1.
///
/// A QR code contains all of it; a manual pairing code contains the passcode, the upper four bits of the discriminator
/// and, in its long form, vendor and product.
///
/// ```swift
/// let payload = try SetupPayload(parsing: "MT:Y.K9042C00KA0648G00")
/// let payload = try SetupPayload(parsing: "3497-011-2332")
/// ```
public struct SetupPayload: Hashable, Sendable, Codable {
  /// The format of the payload; only 0 is defined.
  public var version: UInt8
  /// The vendor id, 0 if the code has none.
  public var vendorID: UInt16
  /// The product id, 0 if the code has none.
  public var productID: UInt16
  /// The steps required before commissioning.
  public var flow: CommissioningFlow
  /// How the device can be discovered; nil in a manual pairing code.
  public var discovery: DiscoveryCapabilities?
  /// Distinguishes the device from other commissionable devices.
  public var discriminator: SetupDiscriminator
  /// The passcode of the first session; see ``SetupPasscode``.
  public var passcode: UInt32
  /// The bytes after the fixed part of a QR code: one TLV structure, or empty. § 5.1.5.
  public var additionalData: [UInt8]

  public init(
    version: UInt8 = 0, vendorID: UInt16 = 0, productID: UInt16 = 0, flow: CommissioningFlow = .standard,
    discovery: DiscoveryCapabilities? = .onNetwork, discriminator: SetupDiscriminator, passcode: UInt32,
    additionalData: [UInt8] = []
  ) {
    self.version = version
    self.vendorID = vendorID
    self.productID = productID
    self.flow = flow
    self.discovery = discovery
    self.discriminator = discriminator
    self.passcode = passcode
    self.additionalData = additionalData
  }

  /// Parses one setup code: the text of a QR code (`MT:…`), or a manual pairing code of 11 or 21 digits, with dashes
  /// and spaces at any position.
  ///
  /// - Parameter allowingInvalidValues: accepts well-formed codes with values that devices must not use (a trivial
  ///   passcode, a reserved version), for inspection.
  /// - Throws: ``SetupCodeError/severalCodes(count:)`` for a QR code of more than one device; use
  ///   ``parseAll(_:allowingInvalidValues:)`` for those.
  public init(parsing code: String, allowingInvalidValues: Bool = false) throws(SetupCodeError) {
    let all = try Self.parseAll(code, allowingInvalidValues: allowingInvalidValues)
    guard all.count == 1, let only = all.first else { throw .severalCodes(count: all.count) }
    self = only
  }

  /// Parses a setup code for one or more devices: QR payloads are joined with `*` after one `MT:`. § 5.1.3.
  public static func parseAll(
    _ code: String, allowingInvalidValues: Bool = false
  ) throws(SetupCodeError) -> [SetupPayload] {
    let characters = Array(code)
    guard let start = characters.firstIndex(where: { !$0.isWhitespace }),
      let end = characters.lastIndex(where: { !$0.isWhitespace })
    else { throw .empty }
    let trimmed = characters[start...end]
    var payloads: [SetupPayload] = []
    if trimmed.starts(with: qrPrefix) {
      for part in trimmed.dropFirst(qrPrefix.count).split(separator: "*", omittingEmptySubsequences: false) {
        payloads.append(try SetupPayload(base38: part))
      }
    } else if trimmed.first?.isASCIIDigit == true {
      payloads.append(try SetupPayload(manual: trimmed))
    } else {
      throw .badPrefix(found: String(trimmed.prefix(qrPrefix.count)))
    }
    if !allowingInvalidValues {
      for payload in payloads { try payload.validate() }
    }
    return payloads
  }

  /// Checks the values of a well-formed code: version, passcode, vendor and product.
  public func validate() throws(SetupCodeError) {
    guard version == 0 else { throw .unknownVersion(version) }
    guard SetupPasscode.isValid(passcode) else { throw .invalidPasscode(passcode) }
    guard vendorID <= 0xFFF4 else { throw .invalidVendor(vendorID) }
    guard productID != 0 || vendorID == 0 else { throw .missingProduct(vendorID: vendorID) }
  }
}

/// The steps required before commissioning. Matter Core § 5.1.1.4, Custom Flow.
public enum CommissioningFlow: UInt8, Sendable, CaseIterable, Codable {
  /// Power on the device.
  case standard = 0
  /// Interact with the device, for example press a button.
  case userIntent = 1
  /// Follow the manufacturer's instructions.
  case custom = 2
}

/// How a commissionable device can be discovered. Matter Core § 5.1.1.5.
public struct DiscoveryCapabilities: OptionSet, Hashable, Sendable, Codable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A Wi-Fi access point of the device; removed from the standard, but still in use.
  public static let softAccessPoint = Self(rawValue: 1 << 0)
  /// Bluetooth Low Energy.
  public static let bluetooth = Self(rawValue: 1 << 1)
  /// The device is already on the network.
  public static let onNetwork = Self(rawValue: 1 << 2)
  /// Wi-Fi public action frames.
  public static let wiFiPublicActionFrame = Self(rawValue: 1 << 3)
  /// Near-field communication.
  public static let nearField = Self(rawValue: 1 << 4)

  /// All defined bits.
  public static let all: Self = [.softAccessPoint, .bluetooth, .onNetwork, .wiFiPublicActionFrame, .nearField]
}

/// The discriminator in a setup code: complete, or only its upper four bits. Matter Core § 5.1.1.6.
public enum SetupDiscriminator: Hashable, Sendable, Codable {
  /// All 12 bits, 0…4095.
  case long(UInt16)
  /// The upper 4 bits, 0…15, as in a manual pairing code.
  case short(UInt8)

  /// The upper four bits.
  public var shortValue: UInt8 {
    switch self {
    case .long(let value): UInt8(truncatingIfNeeded: (value >> 8) & 0xF)
    case .short(let value): value & 0xF
    }
  }

  /// All 12 bits, or nil if only four are known.
  public var longValue: UInt16? {
    if case .long(let value) = self { value } else { nil }
  }
}

/// The rules for passcodes. Matter Core § 5.1.7.
public enum SetupPasscode {
  /// Eight decimal digits, except 00000000 and 99999999.
  public static let range: ClosedRange<UInt32> = 1...99_999_998

  /// Whether `passcode` is in ``range`` and not trivial: eight equal digits, 12345678 or 87654321.
  public static func isValid(_ passcode: UInt32) -> Bool {
    range.contains(passcode) && passcode % 11_111_111 != 0 && passcode != 12_345_678 && passcode != 87_654_321
  }
}
