import Foundation
import HearthHome
import Hub
import MatterModel
import MatterProtocol

/// A folder with software images, the files with the extension `ota`.
struct SoftwareFolder: Sendable {
  /// The files by the headers of their images.
  private let files: [SoftwareImageHeader: String]

  /// Reads the headers, and checks the images.
  init(_ path: String) throws {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw HomeError(.notFound, "--updates: \(path) is not a readable folder", cause: error)
    }
    let paths = names.filter { $0.hasSuffix(".ota") }.sorted().map { "\(path)/\($0)" }
    let pairs = try paths.map { (try NamedFile.image($0).header, $0) }
    files = Dictionary(pairs) { $1 }
  }

  /// Returns the images for the hub of a home.
  func updates(_ options: some HomeOpening & Sendable, in session: Home) -> SoftwareUpdates {
    SoftwareUpdates(Array(files.keys)) { [files] header, node in
      let device = await session.registry.devices.first { $0.nodeID == node && !$0.isBridged }
      guard let device, let file = files[header] else {
        throw HomeError(.notFound, "node \(node.rawValue) or its image was removed")
      }
      let image = try NamedFile.image(file)
      guard image.header == header else { throw HomeError(.badDefinition, "\(file) was replaced; restart the hub") }
      _ = try await ProviderDevice.update(device, with: image, options, in: session)
    }
  }
}
