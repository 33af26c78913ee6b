internal import Glibc

/// A file that is open, with the errors that name it. Closed when it goes away.
final class OpenFile: Sendable {
  let path: String
  let descriptor: CInt

  init(_ path: String, _ flags: CInt, mode: mode_t = 0o600) throws(StoreError) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw StoreError(.system(operation: "open", code: errno), path: path) }
  }

  deinit {
    // A lock is given back, and not left to the closing: a process that is being started has the descriptor, too, until it
    // becomes another program, and would keep the lock for so long.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func failure(_ operation: String) -> StoreError { StoreError(.system(operation: operation, code: errno), path: path) }

  /// Whether nobody else has a lock on it; from now on we have.
  func lock() throws(StoreError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      if errno != EINTR { throw failure("flock") }
    }
    return true
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

  /// Appends all of the bytes, with one system call unless the system takes only a part of them.
  func append(_ bytes: [UInt8]) throws(StoreError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      written += count
    }
  }

  func truncate(to length: Int) throws(StoreError) {
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
  }

  func synchronize() throws(StoreError) {
    guard fsync(descriptor) == 0 else { throw failure("fsync") }
  }

  /// PendingWork until the file's contents and length are on the disk.
  func synchronizeData() throws(StoreError) {
    guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
  }

  /// Makes a directory and those above it, for the user alone.
  /// - Returns: the directories that got a new entry.
  @discardableResult
  static func makeDirectories(_ path: String) throws(StoreError) -> [String] {
    let parent = path.dropLast(path.hasSuffix("/") ? 1 : 0).lastIndex(of: "/").map { slash in
      slash > path.startIndex ? String(path[..<slash]) : "/"
    }
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

/// Small files that only the user may read.
package enum SecretFile {
  /// Replaces a file in one step: a reader sees the old bytes or the new ones, and nobody else can read it at any moment.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(StoreError) {
    let new = "\(path).\(getpid()).new"
    unlink(new)
    do throws(StoreError) {
      let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL)
      try file.append(bytes)
      guard rename(new, path) == 0 else { throw StoreError(.system(operation: "rename", code: errno), path: path) }
    } catch {
      unlink(new)
      throw error
    }
  }
}

/// Who else can change what a directory holds.
package enum DirectoryCheck {
  /// Refuses a directory that belongs to another user or that everybody can write to: another user could replace the keys in it.
  /// A directory that is not there passes. One with the sticky bit, as `/tmp`, passes for what is below it.
  /// - Returns: whether the group can write to it.
  /// - Throws: `insecure`.
  @discardableResult
  package static func check(_ path: String) throws(StoreError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    // What belongs to the system's administrator is as safe as the system.
    guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
      throw StoreError(.insecure("it belongs to another user"), path: path)
    }
    guard status.st_mode & S_ISVTX == 0 else { return false }
    guard status.st_mode & S_IWOTH == 0 else {
      throw StoreError(.insecure("everybody can write to it; run chmod o-w on it"), path: path)
    }
    return status.st_mode & S_IWGRP != 0
  }
}
