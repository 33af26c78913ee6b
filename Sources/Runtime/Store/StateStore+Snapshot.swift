internal import Glibc
public import MatterProtocol

extension StateStore {
  /// Reads the state as of the last commit without locking or repairing the store, so that it can be read while another
  /// process has it open. Empty if there is no journal.
  /// - Throws: `notAJournal`, `damaged`, or the system's error.
  public static func snapshot(of directory: String) throws(StoreError) -> StoredState {
    let path = directory + "/journal"
    let file: OpenFile
    do throws(StoreError) {
      file = try OpenFile(path, O_RDONLY)
    } catch {
      guard case .system(_, ENOENT) = error.code else { throw error }
      if access(path + damagedSuffix, F_OK) == 0 { throw StoreError(.damaged(at: nil), path: path) }
      return [:]
    }
    var attempts = 0
    while true {
      let bytes = try file.readAll()
      // Another process has just created it.
      if bytes.isEmpty { return [:] }
      guard let replayed = Journal.replay(bytes) else { throw StoreError(.notAJournal, path: path) }
      guard let damage = replayed.damage else { return replayed.state }
      // The owner may have rolled back a commit and written another during the read.
      attempts += 1
      if attempts == 3 { throw StoreError(.damaged(at: damage, isSetAside: false), path: path) }
    }
  }
}
