public import Glibc

/// A path of a socket may have 107 bytes only, and state directories can be longer: the directory is opened, and named by
/// its number. The socket's own name still has to fit.
public enum SocketPath {
  /// - Parameter body: gets a short path of the same socket, good until it returns.
  /// - Throws: ``NetworkError`` where there is no such directory or its name is too long, and what `body` throws.
  public static func withShort<R>(
    _ path: String, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
  ) async throws -> R {
    guard let directory = Directory(of: path) else { throw NetworkError.system(operation: path, code: errno) }
    defer { directory.close() }
    return try await body(directory.short)
  }

  /// Binds a socket to the path, and listens there.
  ///
  /// NIO can bind, too, but then removes at the end what the path leads to that it was given: a short path is another's by
  /// then, and so would the file be.
  /// - Parameter mode: who may connect.
  /// - Returns: a descriptor that is the caller's, who takes the path away in the end.
  /// - Throws: ``NetworkError`` where there is no such directory, its name is too long, or something is at the path.
  public static func listen(at path: String, mode: mode_t) throws(NetworkError) -> CInt {
    guard let directory = Directory(of: path) else { throw .system(operation: path, code: errno) }
    defer { directory.close() }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: directory.short.utf8.prefix($0.count - 1)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, chmod(directory.short, mode) == 0, Glibc.listen(descriptor, backlog) == 0 else {
      let failure = NetworkError.system(operation: "bind to \(path)", code: errno)
      _ = Glibc.close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// How many may wait to be let in.
  private static let backlog: CInt = 256

  /// The directory of a socket, open.
  public struct Directory: Sendable {
    private let descriptor: Int32
    /// The socket's path by way of it.
    public let short: String

    /// - Returns: nil where there is no such directory, or the socket's name is too long; `errno` says which.
    public init?(of path: String) {
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      descriptor = Glibc.open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      short = "/proc/self/fd/\(descriptor)\(path[slash...])"
      guard short.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
        _ = Glibc.close(descriptor)
        errno = ENAMETOOLONG
        return nil
      }
    }

    /// Lets go of the directory; sockets in it stay as they are.
    public func close() { _ = Glibc.close(descriptor) }
  }
}
