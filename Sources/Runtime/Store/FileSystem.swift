internal import Glibc
package import Logging
internal import Synchronization

/// A completed operation on the file or directory at a path, as tests observe it.
enum FileOperation: Hashable, Sendable {
  case append(String)
  case fdatasync(String)
  case fsync(String)
  case rename(String, to: String)
}

/// An open file whose errors name its path. Unlocked and closed on deinitialization.
package final class OpenFile: Sendable {
  /// Called after each operation; nil except in tests.
  @TaskLocal static var observer: (@Sendable (FileOperation) -> Void)?

  let path: String
  let descriptor: CInt

  /// - Parameter flags: the flags of `open`; a created file is accessible only by the user.
  package init(_ path: String, _ flags: CInt) throws(StoreError) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(.system(operation: "open", code: errno), path: path) }
  }

  deinit {
    unlock()
    close(descriptor)
  }

  func failure(_ operation: String) -> StoreError { StoreError(.system(operation: operation, code: errno), path: path) }

  /// Takes an exclusive lock and returns whether that succeeded.
  package func lock() throws(StoreError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      if errno != EINTR { throw failure("flock") }
    }
    return true
  }

  /// Waits for a lock without a time limit.
  /// - Parameter kind: `LOCK_EX` or `LOCK_SH`.
  package func waitForLock(_ kind: CInt) throws(StoreError) {
    while flock(descriptor, kind) != 0 {
      if errno != EINTR { throw failure("flock") }
    }
  }

  /// Releases the lock explicitly rather than by closing: a child process between fork and exec has the descriptor as
  /// well, and would hold the lock until it executes another program.
  package func unlock() { flock(descriptor, LOCK_UN) }

  /// Takes an exclusive lock of one byte and returns whether that succeeded. It belongs to the open file, not to the
  /// process.
  func lock(_ byte: off_t) throws(StoreError) -> Bool {
    while !set(F_WRLCK, byte) {
      if errno == EAGAIN || errno == EACCES { return false }
      if errno != EINTR { throw failure("lock") }
    }
    return true
  }

  func unlock(_ byte: off_t) { _ = set(F_UNLCK, byte) }

  private func set(_ kind: CInt, _ byte: off_t) -> Bool {
    var range = Glibc.flock()
    (range.l_type, range.l_whence, range.l_start, range.l_len) = (Int16(kind), Int16(SEEK_SET), byte, 1)
    return fcntl(descriptor, SystemNumber.setFileLock, &range) == 0
  }

  func readAll() throws(StoreError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
    var bytes = [UInt8](repeating: 0, count: max(0, Int(status.st_size)))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(filled))
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }

  /// Appends all bytes, with one system call unless the system accepts only a part of them.
  package func append(_ bytes: [UInt8]) throws(StoreError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      written += count
    }
    Self.observer?(.append(path))
  }

  package func truncate(to length: Int) throws(StoreError) {
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
  }

  func synchronize() throws(StoreError) {
    guard fsync(descriptor) == 0 else { throw failure("fsync") }
    Self.observer?(.fsync(path))
  }

  /// Waits until the file's contents and length are on the disk.
  func synchronizeData() throws(StoreError) {
    guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
    Self.observer?(.fdatasync(path))
  }

  /// Renames a file, replacing the file at the new path if there is one.
  static func move(_ path: String, to new: String) throws(StoreError) {
    guard rename(path, new) == 0 else { throw StoreError(.system(operation: "rename", code: errno), path: new) }
    observer?(.rename(path, to: new))
  }

  /// Waits until the entries of a directory are on the disk.
  static func synchronizeDirectory(_ path: String) throws(StoreError) {
    try RecentJournals.open(path, O_RDONLY | O_DIRECTORY).synchronize()
  }

  /// Returns the directory of a path; nil for a name without one.
  fileprivate static func parent(_ path: String) -> String? {
    path.dropLast(path.hasSuffix("/") ? 1 : 0).lastIndex(of: "/").map { slash in
      slash > path.startIndex ? String(path[..<slash]) : "/"
    }
  }

  /// Creates a directory and its parents, accessible by the user only.
  /// - Returns: the directories with a new entry.
  @discardableResult
  static func makeDirectories(_ path: String) throws(StoreError) -> [String] {
    let parent = Self.parent(path)
    if mkdir(path, 0o700) == 0 { return [parent ?? "."] }
    if errno == EEXIST { return [] }
    let code = errno
    if code == ENOENT, let parent, parent != "/" {
      let changed = try makeDirectories(parent)
      if mkdir(path, 0o700) == 0 { return changed + [parent] }
      if errno == EEXIST { return changed }
    }
    throw StoreError(.system(operation: "mkdir", code: code), path: path)
  }
}

/// Small files that only the user can read.
package enum SecretFile {
  /// Replaces a file atomically: a reader sees the old or the new contents, and other users can't read it at any time.
  /// - Parameter isDurable: whether the call waits for the disk, so that the file survives a loss of power.
  package static func replace(_ path: String, with bytes: [UInt8], isDurable: Bool = false) throws(StoreError) {
    let new = "\(path).\(getpid()).new"
    unlink(new)
    do throws(StoreError) {
      let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL)
      try file.append(bytes)
      if isDurable { try file.synchronize() }
      try OpenFile.move(new, to: path)
      if isDurable { try OpenFile.synchronizeDirectory(OpenFile.parent(path) ?? ".") }
    } catch {
      unlink(new)
      throw error
    }
  }

  /// Creates a directory for secrets and its parents, if they are missing, and waits until they are on the disk.
  package static func makeDirectory(_ path: String) throws(StoreError) {
    for changed in try OpenFile.makeDirectories(path) { try OpenFile.synchronizeDirectory(changed) }
    // Fails if a file has the name.
    _ = try OpenFile(path, O_RDONLY | O_DIRECTORY)
  }
}

/// Checks which other users can change the contents of a directory.
package enum DirectoryCheck {
  /// The result for one directory, with a reason and a remedy.
  package enum Judgment: Hashable, Sendable {
    case safe
    case warning(String)
    case insecure(String)
  }

  /// The warnings that this process has logged.
  private static let logged = Mutex<Set<String>>([])

  /// Judges a directory by its owner and permissions. Files of root are as safe as the system.
  /// - Parameters:
  ///   - uid: the owner of the directory.
  ///   - mode: the permissions, `st_mode`.
  ///   - euid: the user of this process.
  ///   - isParent: whether only directories below it are checked for contents, such as `/tmp`, where the sticky bit
  ///     prevents other users from replacing them.
  package static func judge(uid: UInt32, mode: UInt32, euid: UInt32, isParent: Bool = false) -> Judgment {
    let isForeign = uid != euid && uid != 0
    if isForeign, euid != 0 { return .insecure("it belongs to another user") }
    let (isSticky, isWritableByAll) = (mode & S_ISVTX != 0, mode & S_IWOTH != 0)
    if isWritableByAll, !isSticky { return .insecure("all users can write to it; run chmod o-w on it") }
    if isForeign { return .warning("it belongs to another user, who can replace its files; run chown root on it") }
    if isParent, isSticky { return .safe }
    if isWritableByAll { return .warning("all users can create files in it; run chmod o-w on it") }
    return mode & S_IWGRP != 0 ? .warning("the group can replace its files; run chmod g-w on it") : .safe
  }

  /// Checks the directory at a path. A missing directory passes.
  /// - Parameter logger: logs a warning, once for each directory in this process.
  /// - Throws: `insecure`.
  package static func check(
    _ path: String, isParent: Bool = false, logger: Logger? = nil
  ) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    switch judge(uid: status.st_uid, mode: status.st_mode, euid: geteuid(), isParent: isParent) {
    case .safe: break
    case .warning(let text):
      guard let logger, logged.withLock({ $0.insert(path).inserted }) else { return }
      logger.warning("\(path): \(text)")
    case .insecure(let reason): throw StoreError(.insecure(reason), path: path)
    }
  }
}

/// The start of the machine, after which it has not lost power.
package enum MachineStart {
  /// Returns whether the contents of a file were last changed after the start; false if unknown.
  package static func isEarlier(thanChangeOf path: String) -> Bool {
    var (status, now, running) = (stat(), timespec(), timespec())
    guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0,
      clock_gettime(CLOCK_BOOTTIME, &running) == 0
    else { return false }
    return status.st_mtim.tv_sec >= now.tv_sec - running.tv_sec
  }
}
