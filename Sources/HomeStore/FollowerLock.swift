internal import Glibc
package import HomeModel
internal import MatterProtocol

/// A right that one process at a time has, as the one to follow the devices of a home and to say how they are. Given up when
/// it is let go, or at the process's end, so that another may take over.
package final class FollowerLock: Sendable {
  /// Nil where nobody else could have it.
  private let descriptor: Int32?

  /// Of a home whose files no other process has.
  package static let undisputed = FollowerLock(nil)

  private init(_ descriptor: Int32?) { self.descriptor = descriptor }

  deinit {
    guard let descriptor else { return }
    // Said, and not left to the closing: a process that is being started has the descriptor, too, until it becomes another
    // program, and would keep the right for so long.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func path(_ state: StateDirectory) -> String { state.home + "/follower" }

  /// - Returns: nil where another process has it.
  package static func acquire(_ state: StateDirectory) throws(HomeError) -> FollowerLock? {
    try Files.makeDirectory(state.home)
    return try acquire(path(state))
  }

  /// The same with a file of another right; its directory has to be there.
  package static func acquire(_ path: String) throws(HomeError) -> FollowerLock? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(path) can't be opened: \(systemError())") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    let lock = FollowerLock(descriptor)
    lock.refresh()
    return lock
  }

  /// For how many seconds a process that has the right need not say that it is there. From one that is suspended nobody can take it,
  /// but what it said counts for nothing any more.
  private static let timeout: Int64 = 30

  /// Says that this process, which has the right, is there.
  package func refresh() { if let descriptor { futimens(descriptor, nil) } }

  /// Whether a process has it now, and is there.
  /// - Parameter now: by the host's clock, in microseconds since 1970.
  package static func isAlive(_ state: StateDirectory, at now: Int64) -> Bool {
    var status = stat()
    guard isHeld(state), stat(path(state), &status) == 0 else { return false }
    return (now / 1_000_000).saturatingSubtract(Int64(status.st_mtim.tv_sec)) < timeout
  }

  /// Whether a process has it now.
  package static func isHeld(_ state: StateDirectory) -> Bool { isHeld(path(state)) }

  /// The same of the file of another right.
  package static func isHeld(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
    return false
  }
}
