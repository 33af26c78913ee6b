package import Foundation
internal import Glibc
package import HomeModel
internal import Runtime

/// Small files that are read whole and replaced whole.
package enum Files {
  /// The file's bytes, nil if there is none.
  package static func read(_ path: String) throws(HomeError) -> Data? {
    do {
      return try Data(contentsOf: URL(filePath: path))
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    } catch {
      throw HomeError(.internalError, "\(path) can't be read: \(error.localizedDescription)", cause: error)
    }
  }

  /// Replaces a file in one step with one that only the user may read.
  package static func replace(_ path: String, withSecret data: Data) throws(HomeError) {
    try makeDirectory((path as NSString).deletingLastPathComponent)
    do throws(StoreError) {
      try SecretFile.replace(path, with: [UInt8](data))
    } catch {
      throw HomeError(error)
    }
  }

  package static func makeDirectory(_ path: String) throws(HomeError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw HomeError(
        .internalError, "\(path) can't be created: \(error.localizedDescription); choose another --state",
        cause: error)
    }
  }
}

package func systemError() -> String { strerror(errno).map { String(cString: $0) } ?? "error \(errno)" }
