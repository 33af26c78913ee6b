internal import Glibc
public import MatterProtocol

extension StateStore {
  /// The state as of the last commit, without opening the store: nothing is locked and nothing is mended, so it can be read
  /// while another process has it. Empty where there is none.
  /// - Throws: `notAJournal`, or what the system says.
  public static func snapshot(of directory: String) throws(StoreError) -> StoredState {
    let path = directory + "/journal"
    let file: OpenFile
    do throws(StoreError) {
      file = try OpenFile(path, O_RDONLY)
    } catch {
      if case .system(_, ENOENT) = error.code { return [:] }
      throw error
    }
    let bytes = try file.readAll()
    // Somebody is just making it.
    if bytes.isEmpty { return [:] }
    guard let replayed = Journal.replay(bytes) else { throw StoreError(.notAJournal, path: path) }
    return replayed.state
  }
}
