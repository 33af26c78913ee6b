internal import Glibc
internal import Synchronization

/// An exclusive lock of a directory, among all processes. Released on deinitialization.
///
/// It takes no descriptor of its own, since a process may have more nodes than open files: it is a lock of one byte in a
/// file beside the directory, whose position is the number of the directory's inode. The number is divided among several
/// such files, since the system searches the locks of a file one after the other.
final class DirectoryLock: Sendable {
  /// Identifies a lock file, whatever path leads to it.
  private struct FileID: Hashable {
    let device: dev_t
    /// The inode of the folder.
    let folder: ino_t
    let number: ino_t
  }

  private struct LockFile {
    let file: OpenFile
    /// The bytes that this process has locked. The system would grant them again to the process itself.
    var locked: Set<off_t> = []
  }

  /// The lock files that this process has open.
  private static let files = Mutex<[FileID: LockFile]>([:])
  private static let fileCount: ino_t = 16

  private let id: FileID
  private let byte: off_t

  /// Locks a directory that exists.
  /// - Throws: `inUse` if it is locked, or the system's error.
  init(_ directory: String) throws(StoreError) {
    let inode = try Self.status(directory).st_ino
    // Relative to the directory itself, which may be a link in another folder.
    let path = directory + "/../.locks"
    try OpenFile.makeDirectories(path)
    let folder = try Self.status(path)
    let id = FileID(device: folder.st_dev, folder: folder.st_ino, number: inode % Self.fileCount)
    let byte = off_t(inode / Self.fileCount)
    let isLocked = try Self.files.withLock { files throws(StoreError) in
      var lockFile =
        if let open = files[id] { open } else { LockFile(file: try OpenFile("\(path)/\(id.number)", O_RDWR | O_CREAT)) }
      guard !lockFile.locked.contains(byte), try lockFile.file.lock(byte) else { return false }
      lockFile.locked.insert(byte)
      files[id] = lockFile
      return true
    }
    guard isLocked else { throw StoreError(.inUse, path: directory) }
    // Only now: the deinitializer of a complete lock would unlock the byte of another one.
    (self.id, self.byte) = (id, byte)
  }

  deinit {
    Self.files.withLock { files in
      guard var lockFile = files.removeValue(forKey: id) else { return }
      lockFile.file.unlock(byte)
      lockFile.locked.remove(byte)
      if !lockFile.locked.isEmpty { files[id] = lockFile }
    }
  }

  private static func status(_ path: String) throws(StoreError) -> stat {
    var status = stat()
    guard stat(path, &status) == 0 else { throw StoreError(.system(operation: "stat", code: errno), path: path) }
    return status
  }
}
