internal import Glibc

/// A path of a socket may have 107 bytes only, and state directories can be longer: the directory is opened, and named by
/// its number.
public enum SocketPath {
  /// - Parameter body: gets a short path of the same socket, good until it returns.
  /// - Throws: ``NetworkError`` where there is no such directory, and what `body` throws.
  public static func withShort<R>(
    _ path: String, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> R
  ) async throws -> R {
    guard let directory = Directory(of: path) else { throw NetworkError.system(operation: path, code: errno) }
    defer { directory.close() }
    return try await body(directory.short)
  }

  /// The directory of a socket, open.
  public struct Directory: Sendable {
    private let descriptor: Int32
    /// The socket's path by way of it.
    public let short: String

    /// - Returns: nil where there is no such directory.
    public init?(of path: String) {
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      descriptor = Glibc.open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      short = "/proc/self/fd/\(descriptor)\(path[slash...])"
    }

    public func close() { _ = Glibc.close(descriptor) }
  }
}
