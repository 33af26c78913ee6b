import MatterClusters
import MatterModel
public import MatterProtocol

/// A software image that a provider offers.
public struct ProvidedImage: Hashable, Sendable {
  /// The name in the address of the image.
  public let name: String
  public let header: SoftwareImageHeader
  /// The whole file.
  public let bytes: [UInt8]

  /// Creates an image from a file.
  /// - Throws: An error if the file is malformed, or its digest is wrong.
  public init(_ bytes: [UInt8]) throws(SoftwareImageError) {
    let image = try SoftwareImage(decoding: bytes)
    try image.verify()
    self.init(image)
  }

  /// Creates an image whose digest is not checked.
  public init(_ image: SoftwareImage) {
    (header, bytes) = (image.header, image.encoded)
    name = "\(header.vendorID)-\(header.productID)-\(header.softwareVersion).ota"
  }
}

/// The OTA Software Update Provider server, which offers images to the nodes of its fabrics. Matter Core § 11.20.6.
public enum SoftwareProviderServer {
  private typealias Provider = OtaSoftwareUpdateProvider

  /// The time after which a busy provider may be asked again, in seconds.
  private static let busyDelay: UInt32 = 120

  /// Creates the server. A query gets the newest image for its product that is newer than its software.
  public static func make(_ images: [ProvidedImage]) -> ClusterServer {
    ClusterServer(Provider.self)
      .answer(Provider.queryImage) { context, request in query(&context, request, images) }
      .answer(Provider.applyUpdateRequest) { context, request in
        let fault = context.node.hooks.update
        note(&context, "asks to apply version \(request.newVersion)")
        // A token is not stored, so that an update can be applied after a restart of the provider.
        let isKnown = images.contains { $0.header.softwareVersion == request.newVersion }
        guard isKnown, fault != .refused else { return .init(action: .discontinue, delayedActionTime: 0) }
        return fault == .delayed
          ? .init(action: .awaitNextAction, delayedActionTime: busyDelay)
          : .init(action: .proceed, delayedActionTime: 0)
      }
      .on(Provider.notifyUpdateApplied) { context, request throws(StatusError) in
        note(&context, "runs version \(request.softwareVersion) now")
      }
      .onFileRequest { context, name in
        guard let image = images.first(where: { Array($0.name.utf8) == name }) else { return nil }
        note(&context, "downloads \(image.name)")
        var bytes = image.bytes
        if context.node.hooks.update == .digest, let last = bytes.indices.last { bytes[last] ^= 0xFF }
        return bytes
      }
  }

  private static func note(_ context: inout ServerContext, _ text: String) {
    context.report(.note("software update: node \(context.subject.node.rawValue) \(text)"))
  }

  private static func query(
    _ context: inout ServerContext, _ request: Provider.QueryImageRequest, _ images: [ProvidedImage]
  ) -> Provider.QueryImageResponse {
    note(&context, "has version \(request.softwareVersion) and asks for a newer one")
    let fault = context.node.hooks.update
    if fault == .busy { return .init(status: .busy, delayedActionTime: busyDelay) }
    let image = images.filter { image in
      image.header.vendorID == request.vendorID.rawValue && image.header.productID == request.productID
        && image.header.isApplicable(to: request.softwareVersion)
    }.max { $0.header.softwareVersion < $1.header.softwareVersion }
    guard let image, fault != .unavailable, let node = context.ownNode else { return .init(status: .notAvailable) }
    guard request.protocolsSupported.contains(.bdxSynchronous) else {
      return .init(status: .downloadProtocolNotSupported)
    }
    return .init(
      status: .updateAvailable, imageURI: "\(BulkDataURI(node: node, file: image.name))",
      softwareVersion: image.header.softwareVersion, softwareVersionString: image.header.softwareVersionString,
      updateToken: OctetString(context.randomBytes(16)), userConsentNeeded: false)
  }
}

extension ServerContext {
  /// The node id of the device on the subject's fabric.
  fileprivate var ownNode: NodeID? {
    node.commissioning.fabrics.first { $0.index == subject.fabric }?.nodeID
  }
}
