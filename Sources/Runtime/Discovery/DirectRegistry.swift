internal import Glibc
internal import MatterCrypto
internal import MatterProtocol
internal import Synchronization

/// The registry of processes on this host that can be queried directly: a directory with one file for each process,
/// which holds its addresses, one a line, and is locked while the process lives. A file without a lock is stale. A
/// process that receives multicast adds a line that says so: other such processes need not send to it directly.
final class DirectRegistry: Sendable {
  private let directory: String
  private let name: String
  private let file: OpenFile
  private static let maximumPeers = 64
  private static let multicast = "multicast"

  /// The processes, when the directory had changed last, and when it was read, in seconds since 1970.
  private let known = Mutex<(peers: [Peer], changed: timespec, read: Int)?>(nil)

  /// A live process.
  struct Peer: Hashable {
    var addresses: [MatterProtocol.SocketAddress]
    var hasMulticast: Bool
  }

  init(directory: String, addresses: [MatterProtocol.SocketAddress]) throws(StoreError) {
    self.directory = directory
    try OpenFile.makeDirectories(directory)
    var random = SystemRandomSource()
    name = "\(getpid())-" + String(random.next(), radix: 16)
    // The file gets its final name once it is locked and written, so that no process takes it for a stale one.
    let hidden = directory + "/." + name
    let file = try OpenFile(hidden, O_RDWR | O_CREAT | O_EXCL)
    self.file = file
    guard try file.lock() else { throw StoreError(.inUse, path: hidden) }
    try file.append(Array(addresses.map { "\($0.ip) \($0.port)\n" }.joined().utf8))
    guard rename(hidden, directory + "/" + name) == 0 else { throw file.failure("rename") }
  }

  /// Notes that this process receives multicast.
  func noteMulticast() {
    try? file.append(Array("\(Self.multicast)\n".utf8))
    // Other processes look at the files again when the directory has changed.
    utimensat(AT_FDCWD, directory, nil, 0)
  }

  /// Returns each live process, including this one, and removes stale files. Reads the files only if the directory has
  /// changed, or after ten seconds: they are needed for each message.
  func peers() -> [Peer] {
    var (status, now) = (stat(), timespec())
    guard stat(directory, &status) == 0 else { return [] }
    clock_gettime(CLOCK_REALTIME, &now)
    let changed = status.st_mtim
    if let recent = known.withLock({ $0 }), recent.changed.tv_sec == changed.tv_sec,
      recent.changed.tv_nsec == changed.tv_nsec, (0..<10).contains(now.tv_sec - recent.read)
    {
      return recent.peers
    }
    guard let peers = readPeers() else { return [] }
    // The time of a further change within the same second could be the same on some file systems.
    known.withLock { $0 = now.tv_sec - changed.tv_sec > 1 ? (peers, changed, now.tv_sec) : nil }
    return peers
  }

  /// - Returns: nil if the directory can't be read.
  private func readPeers() -> [Peer]? {
    guard let listing = opendir(directory) else { return nil }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    var peers: [Peer] = []
    for name in names.sorted() where peers.count < Self.maximumPeers {
      if let peer = peer(in: directory + "/" + name) { peers.append(peer) }
    }
    return peers
  }

  private func peer(in path: String) -> Peer? {
    do throws(StoreError) {
      let file = try OpenFile(path, O_RDWR)
      if try file.lock() {
        unlink(path)
        return nil
      }
      let lines = String(decoding: try file.readAll().prefix(1024), as: UTF8.self).split(separator: "\n")
      let addresses = lines.compactMap { line -> MatterProtocol.SocketAddress? in
        let parts = line.split(separator: " ")
        guard parts.count == 2, let ip = IPAddress(String(parts[0])), ip.isLoopback, let port = UInt16(parts[1]) else {
          return nil
        }
        return MatterProtocol.SocketAddress(ip, port: port)
      }
      return addresses.isEmpty ? nil : Peer(addresses: addresses, hasMulticast: lines.contains { $0 == Self.multicast })
    } catch {
      return nil
    }
  }

  func close() { unlink(directory + "/" + name) }
}
