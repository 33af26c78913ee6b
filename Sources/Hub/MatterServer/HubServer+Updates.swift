internal import HomeControl
package import HomeModel
internal import MatterClusters
package import MatterProtocol
internal import Runtime
internal import WebClient

/// The software images that clients of the Matter server can install on nodes.
package struct SoftwareUpdates: Sendable {
  /// Updates a node with an image, and returns when the node has its version.
  package typealias Installer =
    @Sendable (_ image: SoftwareImageHeader, _ node: NodeID) async throws -> Void

  let images: [SoftwareImageHeader]
  let install: Installer

  package init(_ images: [SoftwareImageHeader], install: @escaping Installer) {
    (self.images, self.install) = (images, install)
  }
}

// Software updates of nodes. Matter Core § 11.20.
extension HubServer {
  /// Returns the newest image for the node as a `MatterSoftwareVersion`, or null.
  func checkUpdate(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    if testNodes.all[node.rawValue] != nil { return .null }
    guard options.updates != nil else {
      throw MatterServerError(.updateCheckError, "the hub has no software images; start it with --updates FOLDER")
    }
    guard let images = images(for: node) else {
      throw MatterServerError(
        .updateCheckError, "node \(node.rawValue) has not reported its product and version yet; try again later")
    }
    return images.max { $0.softwareVersion < $1.softwareVersion }.map { Self.object($0) } ?? .null
  }

  /// Updates a node to a version, and returns the version when the node runs it.
  func update(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    let version: UInt32 =
      if let text = arguments("software_version")?.text, let number = UInt32(text) { number } else {
        try arguments.integer("software_version")
      }
    guard let updates = options.updates, let image = images(for: node)?.first(where: { $0.softwareVersion == version })
    else { throw Self.failed(node, "no image updates it to version \(version)") }
    guard projection.nodes[node]?.isAvailable == true else { throw Self.failed(node, "it is not available") }
    let update = state.values[node]?.value(OtaSoftwareUpdateRequestor.updateState, on: .root)
    guard update ?? .idle == .idle, updatingNodes.insert(node).inserted else {
      throw Self.failed(node, "an update is in progress")
    }
    defer { updatingNodes.remove(node) }
    do throws(HomeError) {
      try await exclusively(using: .softwareProvider) { () throws(HomeError) in
        guard !isEnding else { throw Self.ending }
        let task = controller.options.machine.task { () -> HomeError? in
          do { try await updates.install(image, node) } catch { return HomeError(error) }
          return nil
        }
        updateTask = task
        defer { updateTask = nil }
        if let error = await task.value { throw isEnding ? Self.ending : error }
      }
    } catch { throw Self.failed(node, "\(error)") }
    return Self.object(image)
  }

  private static func failed(_ node: NodeID, _ reason: String) -> MatterServerError {
    MatterServerError(.updateError, "node \(node.rawValue) can't be updated: \(reason)")
  }

  /// Returns the images for the product of the node that update its version; nil if there are no images, or the product
  /// is unknown.
  private func images(for node: NodeID) -> [SoftwareImageHeader]? {
    guard let images = options.updates?.images, let values = state.values[node],
      let vendor = values.value(BasicInformation.vendorID, on: .root),
      let product = values.value(BasicInformation.productID, on: .root),
      let version = values.value(BasicInformation.softwareVersion, on: .root)
    else { return nil }
    return images.filter {
      $0.vendorID == vendor.rawValue && $0.productID == product && $0.isApplicable(to: version)
    }
  }

  private static func object(_ image: SoftwareImageHeader) -> JSONValue {
    [
      "vid": .int(image.vendorID), "pid": .int(image.productID), "software_version": .int(image.softwareVersion),
      "software_version_string": .string(image.softwareVersionString), "firmware_information": .null,
      "min_applicable_software_version": .int(image.minimumApplicableVersion ?? 0),
      // An image is for older versions only.
      "max_applicable_software_version": .int(
        image.maximumApplicableVersion ?? image.softwareVersion.saturatingSubtract(1)),
      "release_notes_url": .optional(image.releaseNotesURL), "update_source": "local",
    ]
  }
}
