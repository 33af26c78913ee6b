internal import MatterCrypto
public import MatterModel
public import MatterTLV

/// An error of a software image file.
public enum SoftwareImageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file does not begin with the identifier of the format.
  case notAnImage
  /// The file is shorter than its header states.
  case truncated
  /// The file is longer than its header states.
  case trailingBytes
  /// The header is longer than 1024 bytes.
  case headerTooLong
  /// The header can't be decoded.
  case malformedHeader(TLVError)
  /// The field violates the format.
  case invalidField(String)
  /// The algorithm of the digest is not implemented.
  case unsupportedDigest(UInt8)
  /// The payload does not have the digest of the header.
  case digestMismatch

  public var description: String {
    switch self {
    case .notAnImage: "not a software image of Matter"
    case .truncated: "the image is truncated"
    case .trailingBytes: "bytes follow the image"
    case .headerTooLong: "the header is longer than \(SoftwareImage.maximumHeaderSize) bytes"
    case .malformedHeader(let error): "the header is malformed: \(error)"
    case .invalidField(let name): "the header has an invalid \(name)"
    case .unsupportedDigest(let type): "digest type \(type) is not supported"
    case .digestMismatch: "the digest of the payload is wrong"
    }
  }
}

/// The header of a software image. Matter Core § 11.21.2.4.
public struct SoftwareImageHeader: ModelStruct {
  /// The manufacturer of the devices that the image is for.
  public var vendorID: UInt16 = 0
  /// The product that the image is for.
  public var productID: UInt16 = 0
  /// The version, which increases with each release.
  public var softwareVersion: UInt32 = 0
  /// 1 to 64 bytes.
  public var softwareVersionString = ""
  /// In bytes.
  public var payloadSize: UInt64 = 0
  /// The lowest installed version that can be updated; nil for any.
  public var minimumApplicableVersion: UInt32?
  /// The highest installed version that can be updated; nil for any.
  public var maximumApplicableVersion: UInt32?
  /// At most 256 bytes.
  public var releaseNotesURL: String?
  /// The algorithm of the digest, see `SoftwareImage.sha256`.
  public var digestType: UInt8 = 0
  /// The digest of the payload.
  public var digest: OctetString = []

  public init() {}

  public static let fields: [Field<Self>] = [
    .init(0, "VendorID", \.vendorID), .init(1, "ProductID", \.productID),
    .init(2, "SoftwareVersion", \.softwareVersion), .init(3, "SoftwareVersionString", \.softwareVersionString),
    .init(4, "PayloadSize", \.payloadSize), .init(5, "MinApplicableSoftwareVersion", \.minimumApplicableVersion),
    .init(6, "MaxApplicableSoftwareVersion", \.maximumApplicableVersion),
    .init(7, "ReleaseNotesURL", \.releaseNotesURL), .init(8, "ImageDigestType", \.digestType),
    .init(9, "ImageDigest", \.digest),
  ]

  /// Returns whether the image updates a device with this version.
  public func isApplicable(to version: UInt32) -> Bool {
    softwareVersion > version && version >= minimumApplicableVersion ?? 0
      && version <= maximumApplicableVersion ?? .max
  }
}

/// A software image in the format of Matter: a fixed part, a header in TLV and a payload. Matter Core § 11.21.
public struct SoftwareImage: Hashable, Sendable {
  /// The first four bytes of a file, in little-endian order.
  static let identifier: UInt32 = 0x1BEE_F11E
  static let fixedSize = 16, maximumHeaderSize = 1024
  /// The digest type of SHA-256, which new images have.
  package static let sha256: UInt8 = 1
  /// The sizes of SHA-256 and its truncations by digest type.
  private static let digestSizes: [UInt8: Int] = [1: 32, 2: 16, 3: 15, 4: 12, 5: 8, 6: 4]

  public var header: SoftwareImageHeader
  /// The software itself, in a form that only the device knows.
  public var payload: [UInt8]

  /// Creates an image, with the size and the digest of the payload in its header.
  public init(_ header: SoftwareImageHeader, payload: [UInt8]) {
    (self.header, self.payload) = (header, payload)
    self.header.payloadSize = UInt64(payload.count)
    self.header.digestType = Self.sha256
    self.header.digest = OctetString(Hash.sha256(payload))
  }

  /// Decodes a file without checking its digest, see ``verify()``.
  public init(decoding bytes: [UInt8]) throws(SoftwareImageError) {
    let start: Int
    (header, start) = try Self.header(of: bytes)
    payload = Array(bytes[start...])
    guard payload.count >= header.payloadSize else { throw .truncated }
    guard payload.count == header.payloadSize else { throw .trailingBytes }
  }

  /// Decodes the header of a file, of which the payload may be missing.
  /// - Returns: The header and the offset of the payload.
  package static func header(
    of bytes: [UInt8]
  ) throws(SoftwareImageError) -> (header: SoftwareImageHeader, payload: Int) {
    var reader = LittleEndianReader(bytes)
    guard let found = reader.u32() else { throw .truncated }
    guard found == identifier else { throw .notAnImage }
    guard let total = reader.u64(), let size = reader.u32() else { throw .truncated }
    guard size <= maximumHeaderSize else { throw .headerTooLong }
    let start = fixedSize + Int(size)
    guard bytes.count >= start else { throw .truncated }
    let header: SoftwareImageHeader
    do throws(TLVError) {
      header = try SoftwareImageHeader(tlv: Array(bytes[fixedSize..<start]))
    } catch { throw .malformedHeader(error) }
    guard 1...64 ~= header.softwareVersionString.utf8.count else { throw .invalidField("SoftwareVersionString") }
    guard header.releaseNotesURL?.utf8.count ?? 0 <= 256 else { throw .invalidField("ReleaseNotesURL") }
    let (sum, isTooLarge) = header.payloadSize.addingReportingOverflow(UInt64(start))
    guard !isTooLarge, sum == total else { throw .invalidField("PayloadSize") }
    return (header, start)
  }

  /// The bytes of the file.
  public var encoded: [UInt8] {
    let header = header.tlv
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Self.identifier)
    bytes.append(littleEndian: UInt64(Self.fixedSize + header.count + payload.count))
    bytes.append(littleEndian: UInt32(clamping: header.count))
    return bytes + header + payload
  }

  /// Checks the digest of the payload: SHA-256 or one of its truncations.
  /// - Throws: `digestMismatch`, or `unsupportedDigest` for another algorithm.
  public func verify() throws(SoftwareImageError) {
    guard let size = Self.digestSizes[header.digestType] else { throw .unsupportedDigest(header.digestType) }
    guard Array(Hash.sha256(payload).prefix(size)) == header.digest.bytes else { throw .digestMismatch }
  }
}
