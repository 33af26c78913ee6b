internal import Glibc
internal import Synchronization

/// The journals of a process that were used last, kept open: opening a journal takes longer than writing to it, but a
/// process may have more nodes than open files.
enum RecentJournals {
  private static let limit = 128
  /// The last one was used last.
  private static let recent = Mutex<[(store: UInt64, file: OpenFile)]>([])
  private static let lastNumber = Atomic<UInt64>(0)

  /// Returns a number for a store, which no other store gets.
  static func newNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  static func keep(_ file: OpenFile, of store: UInt64) {
    recent.withLock { recent in
      recent.append((store, file))
      if recent.count > limit { recent.removeFirst() }
    }
  }

  static func forget(_ store: UInt64) { recent.withLock { $0.removeAll { $0.store == store } } }

  /// Returns the journal of a store, and opens it if it isn't open.
  static func open(_ path: @autoclosure () -> String, of store: UInt64) throws(StoreError) -> OpenFile {
    let known = recent.withLock { recent -> OpenFile? in
      guard let position = recent.lastIndex(where: { $0.store == store }) else { return nil }
      if position < recent.count - 1 { recent.append(recent.remove(at: position)) }
      return recent.last?.file
    }
    if let known { return known }
    let file = try open(path(), O_RDWR | O_APPEND)
    keep(file, of: store)
    return file
  }

  /// Opens a file, in place of the journals if the process has no other descriptor.
  static func open(_ path: String, _ flags: CInt) throws(StoreError) -> OpenFile {
    do throws(StoreError) { return try OpenFile(path, flags) } catch {
      guard error.isLackOfDescriptors else { throw error }
      recent.withLock { $0 = [] }
      return try OpenFile(path, flags)
    }
  }
}
