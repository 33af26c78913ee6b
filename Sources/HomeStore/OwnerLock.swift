internal import Foundation
internal import Glibc
package import HomeModel
internal import Runtime

/// The exclusive right of one process to the files of a home. Released when the value is released, or when the process ends.
package final class OwnerLock: Sendable {
  /// Nil if no other process can use the files.
  private let file: OpenFile?

  /// The lock of a home whose files are not shared with other processes.
  package static let unshared = OwnerLock(nil)

  private init(_ file: OpenFile?) { self.file = file }

  /// Acquires the lock, without waiting, and stores the id of this process in its file.
  /// - Returns: nil if another owner holds it.
  package static func acquire(_ state: StateDirectory) throws(HomeError) -> OwnerLock? {
    try Files.makeDirectory(state.home)
    do throws(StoreError) {
      let file = try OpenFile(state.ownerLock, O_RDWR | O_CREAT)
      guard try file.lock() else { return nil }
      // The number is only for messages.
      try? file.truncate(to: 0)
      try? file.append(Array("\(getpid())\n".utf8))
      return OwnerLock(file)
    } catch {
      throw HomeError(error)
    }
  }

  /// Whether an owner holds the lock.
  package static func isHeld(_ state: StateDirectory) -> Bool {
    guard let file = try? OpenFile(state.ownerLock, O_RDWR) else { return false }
    defer { file.unlock() }
    return (try? file.lock()) == false
  }

  /// Waits until no owner holds the lock. Another process may acquire it first.
  package static func waitUntilFree(_ state: StateDirectory) async throws(HomeError) {
    let wait = PendingWork.begin("\(process(state)), which owns the home in \(state.root), to end")
    defer { wait?.end() }
    let file: OpenFile
    do throws(StoreError) { file = try OpenFile(state.ownerLock, O_RDWR | O_CREAT) } catch { throw HomeError(error) }
    // In a thread of its own, because the call blocks without a limit.
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        try? file.waitForLock(LOCK_SH)
        // The owner that starts now must not find this lock.
        file.unlock()
        continuation.resume()
      }
    }
  }

  /// Returns the id of the process that holds the lock, or held it last; nil if unknown.
  package static func owner(_ state: StateDirectory) -> Int32? {
    guard let data = (try? Files.read(state.ownerLock)) ?? nil else { return nil }
    return Int32(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace })
  }

  private static func process(_ state: StateDirectory) -> String {
    owner(state).map { "process \($0)" } ?? "another process"
  }

  /// Returns the error of a process that can't use the home because another one owns it.
  package static func held(_ state: StateDirectory) -> HomeError {
    HomeError(
      .unreachable,
      "\(process(state)), which owns the home in \(state.root), does not answer; end it, or choose another --state")
  }
}
