internal import Glibc

/// An open file whose errors name its path. Closed on deinitialization.
final class OpenFile: Sendable {
  let path: String
  let descriptor: CInt

  init(_ path: String, _ flags: CInt, mode: mode_t = 0o600) throws(StoreError) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw StoreError(.system(operation: "open", code: errno), path: path) }
  }

  deinit {
    // Unlocks explicitly rather than by closing: a child process between fork and exec has the descriptor as well, and
    // would hold the lock until it executes another program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func failure(_ operation: String) -> StoreError { StoreError(.system(operation: operation, code: errno), path: path) }

  /// Takes an exclusive lock and returns whether that succeeded.
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

  /// Appends all bytes, with one system call unless the system accepts only a part of them.
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

  /// Waits until the file's contents and length are on the disk.
  func synchronizeData() throws(StoreError) {
    guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
  }

  /// Creates a directory and its parents, accessible by the user only.
  /// - Returns: the directories with a new entry.
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

/// Small files that only the user can read.
package enum SecretFile {
  /// Replaces a file atomically: a reader sees the old or the new contents, and other users can't read it at any time.
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

/// Checks which other users can change the contents of a directory.
package enum DirectoryCheck {
  /// Rejects a directory that belongs to another user or is writable by all: another user could replace the keys in it.
  /// A missing directory passes, and so does one with the sticky bit, such as `/tmp`, for the directories below it.
  /// - Returns: whether the group can write to the directory.
  /// - Throws: `insecure`.
  @discardableResult
  package static func check(_ path: String) throws(StoreError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    // Files of root are as safe as the system.
    guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
      throw StoreError(.insecure("it belongs to another user"), path: path)
    }
    guard status.st_mode & S_ISVTX == 0 else { return false }
    guard status.st_mode & S_IWOTH == 0 else {
      throw StoreError(.insecure("all users can write to it; run chmod o-w on it"), path: path)
    }
    return status.st_mode & S_IWGRP != 0
  }
}
