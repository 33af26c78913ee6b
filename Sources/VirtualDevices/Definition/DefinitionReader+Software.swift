internal import MatterDevice
internal import MatterProtocol
internal import Yams

// The key `images` of a provider of software.
extension DefinitionReader {
  private static let imageKeys = ["version", "text", "type", "vendor", "product", "size", "from", "to"]
  /// The payload of an image without the key `size`, and the largest one, in bytes.
  private static let usualSize: Int64 = 16_384, largestSize: Int64 = 16 << 20
  private static let imageLimit = 64

  /// Returns the images of a provider, whose payload is made up.
  mutating func readImages(_ fields: [String: Node], of kind: DeviceKind?) -> [ProvidedImage] {
    guard let node = fields["images"], isPlaced(node, "images", kind, in: [.otaProvider]) else { return [] }
    guard case .sequence(let sequence) = node, sequence.count <= Self.imageLimit else {
      report(node, expected: "a list of at most \(Self.imageLimit) images such as { version: 2, type: dimmable light }")
      return []
    }
    return sequence.compactMap { readImage($0) }
  }

  private mutating func readImage(_ node: Node) -> ProvidedImage? {
    guard let fields = fields(of: node, known: Self.imageKeys, what: "an image") else { return nil }
    let versions = 0...Int64(UInt32.max)
    let range = "a number from 0 to \(UInt32.max)"
    var header = SoftwareImageHeader()
    guard let versionNode = fields["version"] else {
      report(node, expected: "an image with “version:”")
      return nil
    }
    guard let version = number(versionNode, in: 1...versions.upperBound, expected: "a number from 1 to \(UInt32.max)")
    else { return nil }
    header.softwareVersion = UInt32(clamping: version.value)
    header.softwareVersionString = "\(version.value).0"
    if let text = fields["text"] {
      guard let scalar = text.scalar, !text.isNull, 1...64 ~= scalar.string.utf8.count else {
        report(text, expected: "a text of 1 to 64 bytes")
        return nil
      }
      header.softwareVersionString = scalar.string
    }
    let vendor = number(fields["vendor"], in: 1...0xFFF4, expected: "a vendor id from 0x0001 to 0xFFF4")
    header.vendorID = vendor.map { UInt16(clamping: $0.value) } ?? DeviceDefinition.defaultVendor
    switch (fields["type"], fields["product"]) {
    case (let type?, nil):
      guard let kind = readKind(type) else { return nil }
      header.productID = kind.productID
    case (nil, let product?):
      let product = number(product, in: 1...0xFFFF, expected: "a product id from 0x0001 to 0xFFFF")
      header.productID = product.map { UInt16(clamping: $0.value) } ?? 0
    default:
      report(node, expected: "an image with either “type:” or “product:”")
      return nil
    }
    let from = number(fields["from"], in: versions, expected: range)
    let to = number(fields["to"], in: versions, expected: range)
    if let node = fields["from"], let from, from.value >= version.value {
      report(node, expected: "a version below \(version.value), which the image can update")
    } else if let node = fields["to"], let from, let to, to.value < from.value {
      report(node, expected: "a version from \(from.value), the lowest one that the image can update")
    }
    header.minimumApplicableVersion = from.map { UInt32(clamping: $0.value) }
    header.maximumApplicableVersion = to.map { UInt32(clamping: $0.value) }
    let size =
      number(fields["size"], in: 0...Self.largestSize, expected: "a number of bytes from 0 to \(Self.largestSize)")?
      .value
      ?? Self.usualSize
    let payload = (0..<Int(size)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(header.softwareVersion)) }
    return ProvidedImage(SoftwareImage(header, payload: payload))
  }
}
