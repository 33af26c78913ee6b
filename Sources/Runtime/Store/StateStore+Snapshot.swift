internal import Glibc
public import MatterProtocol

extension StateStore {
  /// The state as of the last commit, without opening the store: nothing is locked and nothing is mended, so it can be read
  /// while another process has it. Empty where there is none.
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
      // Another process is about to write it.
      if bytes.isEmpty { return [:] }
      guard let replayed = Journal.replay(bytes) else { throw StoreError(.notAJournal, path: path) }
      guard let damage = replayed.damage else { return replayed.state }
      // The owner may have taken back a commit and written another while the file was read.
      attempts += 1
      if attempts == 3 { throw StoreError(.damaged(at: damage), path: path) }
    }
  }
}
