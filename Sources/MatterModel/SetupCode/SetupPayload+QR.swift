// The QR code's text: 84 bits, four bits of padding, and additional data. Matter Core § 5.1.3.

extension SetupPayload {
  static let qrPrefix = Array("MT:")
  /// The fixed part: 3 + 16 + 16 + 2 + 8 + 12 + 27 bits and 4 of padding.
  private static let fixedByteCount = 11

  /// The text of the device's QR code: `MT:` and base 38.
  ///
  /// - Throws: a ``SetupCodeError`` if a value is missing, out of range or not allowed.
  public var qrText: String {
    get throws(SetupCodeError) { try Self.qrText(of: [self]) }
  }

  /// Returns the text of one QR code for several devices, as sold in one package.
  public static func qrText(of payloads: [SetupPayload]) throws(SetupCodeError) -> String {
    var parts: [String] = []
    for payload in payloads {
      try payload.validate()
      if let unknown = payload.discovery?.subtracting(.all), !unknown.isEmpty {
        throw .unknownDiscovery(unknown.rawValue)
      }
      parts.append(Base38.encode(try payload.qrBytes()))
    }
    guard !parts.isEmpty else { throw .empty }
    return String(qrPrefix) + parts.joined(separator: "*")
  }

  /// Returns the bytes to encode in base 38, packed from the least significant bit; checks only that each value fits.
  func qrBytes() throws(SetupCodeError) -> [UInt8] {
    guard let discovery else { throw .missingDiscovery }
    guard let discriminator = discriminator.longValue else { throw .shortDiscriminator }
    guard discriminator <= 0xFFF else { throw .invalidDiscriminator(discriminator) }
    guard version < 8 else { throw .unknownVersion(version) }
    guard passcode < 1 << 27 else { throw .invalidPasscode(passcode) }
    var bits = BitPacker()
    bits.append(UInt32(version), bits: 3)
    bits.append(UInt32(vendorID), bits: 16)
    bits.append(UInt32(productID), bits: 16)
    bits.append(UInt32(flow.rawValue), bits: 2)
    bits.append(UInt32(discovery.rawValue), bits: 8)
    bits.append(UInt32(discriminator), bits: 12)
    bits.append(passcode, bits: 27)
    bits.append(0, bits: 4)
    return bits.bytes + additionalData
  }

  /// Parses one payload; `text` is the part after `MT:` or `*`.
  init(base38 text: ArraySlice<Character>) throws(SetupCodeError) {
    let bytes = try Base38.decode(text)
    guard bytes.count >= Self.fixedByteCount else {
      throw .wrongLength(found: text.count, expected: "at least 19 after “MT:”")
    }
    var bits = BitReader(bytes: bytes)
    let version = UInt8(truncatingIfNeeded: bits.read(3))
    let vendorID = UInt16(truncatingIfNeeded: bits.read(16))
    let productID = UInt16(truncatingIfNeeded: bits.read(16))
    let rawFlow = UInt8(truncatingIfNeeded: bits.read(2))
    guard let flow = CommissioningFlow(rawValue: rawFlow) else { throw .unknownFlow(rawFlow) }
    let discovery = DiscoveryCapabilities(rawValue: UInt8(truncatingIfNeeded: bits.read(8)))
    let discriminator = UInt16(truncatingIfNeeded: bits.read(12))
    let passcode = bits.read(27)
    let padding = UInt8(truncatingIfNeeded: bits.read(4))
    guard padding == 0 else { throw .nonzeroPadding(padding) }
    self.init(
      version: version, vendorID: vendorID, productID: productID, flow: flow, discovery: discovery,
      discriminator: .long(discriminator), passcode: passcode,
      additionalData: Array(bytes.dropFirst(Self.fixedByteCount)))
  }
}

/// Packs numbers bit by bit, least significant bit first.
private struct BitPacker {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func append(_ value: UInt32, bits: Int) {
    for bit in 0..<bits {
      if count % 8 == 0 { bytes.append(0) }
      bytes[count / 8] |= UInt8(truncatingIfNeeded: (value >> UInt32(bit)) & 1) << UInt8(count % 8)
      count += 1
    }
  }
}

/// Reads the output of ``BitPacker``.
private struct BitReader {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func read(_ bits: Int) -> UInt32 {
    var value: UInt32 = 0
    for bit in 0..<bits {
      value |= UInt32((bytes[position / 8] >> UInt8(position % 8)) & 1) << UInt32(bit)
      position += 1
    }
    return value
  }
}
