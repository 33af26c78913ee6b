internal import Foundation
internal import Glibc
internal import Runtime

/// Small files that are read whole and replaced whole.
package enum Files {
  /// The file's bytes, nil if there is none.
  static func read(_ path: String) throws(HomeError) -> Data? {
    do {
      return try Data(contentsOf: URL(filePath: path))
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    } catch {
      throw HomeError(.internalError, "\(path) can't be read: \(error.localizedDescription)", cause: error)
    }
  }

  /// Replaces the file: whoever reads it sees the old bytes or the new ones, also after a kill at any moment.
  static func replace(_ path: String, with data: Data) throws(HomeError) {
    do {
      try makeDirectory((path as NSString).deletingLastPathComponent)
      try data.write(to: URL(filePath: path), options: .atomic)
    } catch let error as HomeError {
      throw error
    } catch {
      throw HomeError(.internalError, "\(path) can't be written: \(error.localizedDescription)", cause: error)
    }
  }

  /// The same for what only the user may read, from the first byte on.
  static func replace(_ path: String, withSecret data: Data) throws(HomeError) {
    try makeDirectory((path as NSString).deletingLastPathComponent)
    let new = "\(path).\(getpid()).new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(new) can't be made: \(systemError())") }
    let written = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    guard written == data.count, rename(new, path) == 0 else {
      unlink(new)
      throw HomeError(.internalError, "\(path) can't be written: \(systemError())")
    }
  }

  package static func makeDirectory(_ path: String) throws(HomeError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw HomeError(
        .internalError, "\(path) can't be made: \(error.localizedDescription); choose another directory with --state",
        cause: error)
    }
  }
}

/// The right to change a home: one process at a time has it. Given up at `release()` or the process's end.
public struct HomeLock: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Waits for the lock.
  /// - Throws: `timedOut` when another process keeps it longer than `patience`.
  public static func acquire(_ state: StateDirectory, patience: Duration = .seconds(5)) async throws(HomeError)
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
      guard errno == EWOULDBLOCK || errno == EINTR, waited < patience, !Task.isCancelled else {
        close(descriptor)
        throw HomeError(
          .timedOut,
          "another hearth is changing the home in \(state.root); wait for it to end, or choose another --state")
      }
      wait = wait ?? Waits.begin("another hearth to be done with changing the home")
      try? await Task.sleep(for: pause)
      waited += pause
    }
    return HomeLock(descriptor: descriptor)
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Whether a process has it now.
  static func isHeld(_ state: StateDirectory) -> Bool { FollowerLock.isHeld(state.home + "/lock") }

  deinit {
    // See FollowerLock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

func systemError() -> String { strerror(errno).map { String(cString: $0) } ?? "error \(errno)" }
