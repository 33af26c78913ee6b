/// What a commissioner must know of a device before it can talk to it. Matter Core § 5.1.1.
///
/// A QR code carries all of it; a manual pairing code carries the passcode, the upper four bits of the discriminator
/// and, in its long form, vendor and product.
///
/// ```swift
/// let payload = try SetupPayload(parsing: "MT:Y.K9042C00KA0648G00")
/// let payload = try SetupPayload(parsing: "3497-011-2332")
/// ```
public struct SetupPayload: Hashable, Sendable {
  /// The format of the payload; only 0 is defined.
  public var version: UInt8
  /// The maker, 0 where the code does not say.
  public var vendorID: UInt16
  /// The product, 0 where the code does not say.
  public var productID: UInt16
  /// What has to be done before the device can be commissioned.
  public var flow: CommissioningFlow
  /// How the device can be found; nil where the code does not say, as in a manual pairing code.
  public var discovery: DiscoveryCapabilities?
  /// Which of the devices that can be found it is.
  public var discriminator: SetupDiscriminator
  /// The secret that starts the first session; see ``SetupPasscode``.
  public var passcode: UInt32
  /// The bytes behind the fixed part of a QR code: one TLV structure, empty where there is none. § 5.1.5.
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

  /// Reads one setup code of either kind: the text of a QR code (`MT:…`), or a manual pairing code of 11 or 21 digits
  /// with dashes and spaces wherever the writer liked them.
  ///
  /// - Parameter allowingInvalidValues: Reads a code that is well formed but that no device may use (a trivial
  ///   passcode, a reserved version), to show what is in it.
  /// - Throws: ``SetupCodeError/severalCodes(count:)`` for a QR code of more than one device: that is for
  ///   ``parseAll(_:allowingInvalidValues:)``.
  public init(parsing code: String, allowingInvalidValues: Bool = false) throws(SetupCodeError) {
    let all = try Self.parseAll(code, allowingInvalidValues: allowingInvalidValues)
    guard all.count == 1, let only = all.first else { throw .severalCodes(count: all.count) }
    self = only
  }

  /// Reads a setup code that may be for several devices: QR codes are joined with `*` behind one `MT:`. § 5.1.3.
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

  /// Checks the rules that a well-formed code can still break: the version, the passcode, and vendor with product.
  public func validate() throws(SetupCodeError) {
    guard version == 0 else { throw .unknownVersion(version) }
    guard SetupPasscode.isValid(passcode) else { throw .invalidPasscode(passcode) }
    guard vendorID <= 0xFFF4 else { throw .invalidVendor(vendorID) }
    guard productID != 0 || vendorID == 0 else { throw .missingProduct(vendorID: vendorID) }
  }
}

/// What has to be done before a device can be commissioned. Matter Core § 5.1.1.4, Custom Flow.
public enum CommissioningFlow: UInt8, Sendable, CaseIterable {
  /// Power it on.
  case standard = 0
  /// Do something on the device, such as pressing a button.
  case userIntent = 1
  /// Follow the maker's instructions.
  case custom = 2
}

/// How a device that wants to be commissioned can be found. Matter Core § 5.1.1.5.
public struct DiscoveryCapabilities: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Its own Wi-Fi access point; withdrawn from the standard, but still seen.
  public static let softAccessPoint = Self(rawValue: 1 << 0)
  /// Bluetooth Low Energy.
  public static let bluetooth = Self(rawValue: 1 << 1)
  /// It is on the network already.
  public static let onNetwork = Self(rawValue: 1 << 2)
  /// Wi-Fi public action frames.
  public static let wiFiPublicActionFrame = Self(rawValue: 1 << 3)
  /// Near-field communication.
  public static let nearField = Self(rawValue: 1 << 4)

  /// Every bit that has a meaning.
  public static let all: Self = [.softAccessPoint, .bluetooth, .onNetwork, .wiFiPublicActionFrame, .nearField]
}

/// A device's discriminator as its code tells it: whole, or only the upper four bits. Matter Core § 5.1.1.6.
public enum SetupDiscriminator: Hashable, Sendable {
  /// All 12 bits, 0…4095.
  case long(UInt16)
  /// The upper 4 bits, 0…15, which is all that a manual pairing code holds.
  case short(UInt8)

  /// The upper four bits.
  public var shortValue: UInt8 {
    switch self {
    case .long(let value): UInt8(truncatingIfNeeded: (value >> 8) & 0xF)
    case .short(let value): value & 0xF
    }
  }

  /// All 12 bits, or nil where only four are known.
  public var longValue: UInt16? {
    if case .long(let value) = self { value } else { nil }
  }

  /// Whether a device that advertises the 12-bit `discriminator` can be the one that is meant.
  public func matches(_ discriminator: UInt16) -> Bool {
    switch self {
    case .long(let value): value == discriminator
    case .short(let value): UInt16(value) == discriminator >> 8
    }
  }
}

/// The rules for passcodes. Matter Core § 5.1.7.
public enum SetupPasscode {
  /// What fits: eight decimal digits, but neither 00000000 nor 99999999.
  public static let range: ClosedRange<UInt32> = 1...99_999_998

  /// Whether `passcode` is in ``range`` and not one of the values that anybody would try first: eight times the same
  /// digit, 12345678 and 87654321.
  public static func isValid(_ passcode: UInt32) -> Bool {
    range.contains(passcode) && passcode % 11_111_111 != 0 && passcode != 12_345_678 && passcode != 87_654_321
  }
}
