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

  /// Replaces a file in one step with one that only the user may read, and waits until it is on the disk.
  package static func replace(_ path: String, withSecret data: Data) throws(HomeError) {
    try makeDirectory((path as NSString).deletingLastPathComponent)
    do throws(StoreError) {
      try SecretFile.replace(path, with: [UInt8](data), isDurable: true)
    } catch {
      throw HomeError(error)
    }
  }

  /// Runs the body while no other process runs one for this directory; without a lock if there is no such directory.
  package static func locked<R>(_ directory: String, _ body: () throws(HomeError) -> R) throws(HomeError) -> R {
    let file = try? OpenFile(directory, O_RDONLY | O_DIRECTORY)
    try? file?.waitForLock(LOCK_EX)
    defer { file?.unlock() }
    return try body()
  }

  /// Creates a directory that only the user may read, if it is missing, and waits until it is on the disk.
  package static func makeDirectory(_ path: String) throws(HomeError) {
    do throws(StoreError) { try SecretFile.makeDirectory(path) } catch {
      throw HomeError(.internalError, "\(error); choose another --state", cause: error)
    }
  }
}
