internal import Foundation
internal import Glibc
package import HomeModel
internal import Runtime

/// The exclusive right of one process to the files of a home. Released when the value is released, or when the process ends.
package final class OwnerLock: Sendable {
  /// Nil if no other process can use the files.
  private let descriptor: Int32?

  /// The lock of a home whose files are not shared with other processes.
  package static let unshared = OwnerLock(nil)

  private init(_ descriptor: Int32?) { self.descriptor = descriptor }

  deinit {
    guard let descriptor else { return }
    // Unlocked explicitly: a child process has the descriptor until its exec, and closing it here would not unlock it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Acquires the lock, without waiting, and stores the id of this process in its file.
  /// - Returns: nil if another owner holds it.
  package static func acquire(_ state: StateDirectory) throws(HomeError) -> OwnerLock? {
    try Files.makeDirectory(state.home)
    let path = state.ownerLock
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(path) can't be opened: \(systemError())") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    let text = Array("\(getpid())\n".utf8)
    // The number is only for messages.
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    return OwnerLock(descriptor)
  }

  /// Waits until no owner holds the lock. Another process may acquire it first.
  package static func waitUntilFree(_ state: StateDirectory) async throws(HomeError) {
    let path = state.ownerLock
    let process = owner(state).map { "process \($0)" } ?? "another process"
    let wait = PendingWork.begin("\(process), which owns the home in \(state.root), to end")
    defer { wait?.end() }
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(path) can't be opened: \(systemError())") }
    // In a thread of its own, because the call blocks without a limit.
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
        close(descriptor)
        continuation.resume()
      }
    }
  }

  /// Returns the id of the process that holds the lock, or held it last; nil if unknown.
  package static func owner(_ state: StateDirectory) -> Int32? {
    guard let data = (try? Files.read(state.ownerLock)) ?? nil else { return nil }
    return Int32(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace })
  }

  /// Returns the error of a process that can't use the home because another one owns it.
  package static func held(_ state: StateDirectory) -> HomeError {
    let process = owner(state).map { "process \($0)" } ?? "another process"
    return HomeError(
      .unreachable,
      "\(process), which owns the home in \(state.root), does not answer; end it, or choose another --state"
    )
  }
}
