import Foundation
import Glibc
import Logging
import NIOCore
import NIOPosix

/// A named pipe for commands can't be created or opened.
public struct AppPipeError: Error, Sendable, CustomStringConvertible {
  /// The path of the pipe.
  public var path: String
  /// The problem, for the message.
  public var reason: String
  public var description: String { "\(path): \(reason); choose another path with --app-pipe" }
}

/// Reads commands from a named pipe, as the test scripts of the Matter SDK write them to its example apps: one JSON
/// object in each line. A line that can't be performed is logged as an error.
final class AppPipe: Sendable {
  typealias Perform = @Sendable (PipeCommand) -> EventLoopFuture<ControlReply>

  private let channel: any Channel
  private let path: String
  /// Whether the pipe did not exist before.
  private let isOwn: Bool

  private init(_ channel: any Channel, _ path: String, isOwn: Bool) {
    (self.channel, self.path, self.isOwn) = (channel, path, isOwn)
  }

  /// Opens a pipe, and creates it if it does not exist.
  static func open(
    _ path: String, on loop: any EventLoop, logger: Logger, performing perform: @escaping Perform
  ) async throws -> AppPipe {
    let isOwn = mkfifo(path, 0o600) == 0
    guard isOwn || errno == EEXIST else { throw AppPipeError(path: path, reason: String(cString: strerror(errno))) }
    // Opened for writing as well, so that it does not end with a writer.
    let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw AppPipeError(path: path, reason: String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      Glibc.close(descriptor)
      throw AppPipeError(path: path, reason: "not a named pipe")
    }
    do {
      let channel = try await NIOPipeBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AppPipeHandler(logger, perform))
          }
        }
        .takingOwnershipOfDescriptor(input: descriptor).get()
      return AppPipe(channel, path, isOwn: isOwn)
    } catch {
      Glibc.close(descriptor)
      if isOwn { unlink(path) }
      throw error
    }
  }

  func close() async {
    if isOwn { unlink(path) }
    try? await channel.close().get()
  }
}

private final class AppPipeHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private static let maximumLineLength = 1 << 16
  private let logger: Logger
  private let perform: AppPipe.Perform
  private var line: [UInt8] = []
  private var isTooLong = false

  init(_ logger: Logger, _ perform: @escaping AppPipe.Perform) { (self.logger, self.perform) = (logger, perform) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    for byte in unwrapInboundIn(data).readableBytesView {
      guard byte == UInt8(ascii: "\n") else {
        if line.count < Self.maximumLineLength { line.append(byte) } else { isTooLong = true }
        continue
      }
      received(context)
      line.removeAll(keepingCapacity: true)
      isTooLong = false
    }
  }

  private func received(_ context: ChannelHandlerContext) {
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    guard !text.isEmpty else { return }
    let report = { @Sendable [logger] (error: ControlError) in
      logger.error("app pipe: \(text.prefix(200)): \(error.message)")
    }
    do throws(ControlError) {
      guard !isTooLong else { throw ControlError(.badRequest, "longer than \(Self.maximumLineLength) bytes") }
      perform(try PipeCommand(text)).whenSuccess { reply in if let error = reply.error { report(error) } }
    } catch {
      report(error)
    }
  }
}
