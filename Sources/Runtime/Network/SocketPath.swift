internal import Glibc

/// Works around the limit of 107 bytes on Unix socket paths, which state directories can exceed: opens the directory
/// and names it by its descriptor. The socket's own name still has to fit.
public enum SocketPath {
  /// Calls `body` with a short path of the same socket.
  /// - Parameter body: receives the path, which is valid until it returns.
  /// - Throws: ``NetworkError`` if the directory doesn't exist or the socket's name is too long, and the errors of
  ///   `body`.
  public static func withShort<R>(
    _ path: String, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
  ) async throws -> R {
    guard let directory = Directory(of: path) else { throw NetworkError.system(operation: path, code: errno) }
    defer { directory.close() }
    return try await body(directory.short)
  }

  /// Binds a Unix socket to the path and listens on it.
  ///
  /// NIO can bind as well, but removes the file at the given path when it closes; by that time the short path may lead
  /// to another file.
  /// - Parameter mode: the permissions of the socket.
  /// - Returns: a descriptor that the caller owns; the caller also removes the file.
  /// - Throws: ``NetworkError`` if the directory doesn't exist, the socket's name is too long, or the path exists.
  public static func listen(at path: String, mode: UInt32) throws(NetworkError) -> CInt {
    try open(path, to: "bind to") { descriptor, address, length, short in
      bind(descriptor, address, length) == 0 && chmod(short, mode) == 0 && Glibc.listen(descriptor, backlog) == 0
    }
  }

  /// Connects to the Unix socket at the path.
  /// - Returns: a descriptor that the caller owns.
  /// - Throws: ``NetworkError`` if the directory doesn't exist, the socket's name is too long, or no process listens.
  public static func connect(to path: String) throws(NetworkError) -> CInt {
    try open(path, to: "connect to") { descriptor, address, length, _ in
      Glibc.connect(descriptor, address, length) == 0
    }
  }

  /// Opens a socket for an operation, which gets the address of the socket and its short path.
  private static func open(
    _ path: String, to operation: String, _ body: (CInt, UnsafePointer<sockaddr>, socklen_t, String) -> Bool
  ) throws(NetworkError) -> CInt {
    guard let directory = Directory(of: path) else { throw .system(operation: path, code: errno) }
    defer { directory.close() }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: directory.short.utf8.prefix($0.count - 1)) }
    let isDone = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size), directory.short)
      }
    }
    guard isDone else {
      let failure = NetworkError.system(operation: "\(operation) \(path)", code: errno)
      _ = Glibc.close(descriptor)
      throw failure
    }
    return descriptor
  }

  private static let backlog: CInt = 256

  /// The open directory of a socket.
  public struct Directory: Sendable {
    private let descriptor: Int32
    /// The path of the socket through the directory's descriptor.
    public let short: String

    /// - Returns: nil if the directory doesn't exist or the socket's name is too long; `errno` holds the reason.
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

    /// Closes the directory; the sockets in it are not affected.
    public func close() { _ = Glibc.close(descriptor) }
  }
}
