package import Foundation
internal import Glibc
public import HomeModel
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

/// An exclusive lock for changing a home. Released by `release()`, or when the process ends.
public struct HomeLock: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Waits for the lock.
  /// - Throws: `timedOut` if another process holds it longer than `timeout`.
  public static func acquire(_ state: StateDirectory, timeout: Duration = .seconds(5)) async throws(HomeError)
    -> HomeLock
  {
    try Files.makeDirectory(state.home)
    let path = state.home + "/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(path) can't be opened: \(systemError())") }
    let pause = Duration.milliseconds(50)
    var waited = Duration.zero
    var wait: Wait?
    defer { wait?.end() }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, waited < timeout, !Task.isCancelled else {
        close(descriptor)
        throw HomeError(
          .timedOut,
          "another hearth is changing the home in \(state.root); wait for it to end, or choose another --state")
      }
      wait = wait ?? PendingWork.begin("another hearth to be done with changing the home")
      try? await Task.sleep(for: pause)
      waited += pause
    }
    return HomeLock(descriptor: descriptor)
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Whether a process has it now.
  package static func isHeld(_ state: StateDirectory) -> Bool { FollowerLock.isHeld(state.home + "/lock") }

  deinit {
    // See FollowerLock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

package func systemError() -> String { strerror(errno).map { String(cString: $0) } ?? "error \(errno)" }
