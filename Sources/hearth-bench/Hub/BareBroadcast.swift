import Foundation
import NIOCore
import NIOPosix
import Runtime

/// A server that sends a prepared frame to all connections, as a baseline.
final class BareBroadcast: EventServer {
  let socket: String
  private let directory: String
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let loop: any EventLoop
  private let channels: NIOLoopBoundBox<[any Channel]>
  private let frame: ByteBuffer

  /// - Parameter size: the size of the payload.
  init(_ size: Int) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-bench-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    socket = directory + "/bare.sock"
    frame = ByteBuffer(bytes: ServerFrame.text(Array(repeating: UInt8(ascii: "x"), count: size)))
    loop = group.next()
    let channels = NIOLoopBoundBox.makeBoxSendingValue([any Channel](), eventLoop: loop)
    self.channels = channels
    _ = try ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.closeFuture.whenComplete { _ in channels.value.removeAll { $0 === channel } }
        return channel.eventLoop.makeCompletedFuture { channels.value.append(channel) }
      }
      .withBoundSocket(try SocketPath.listen(at: socket, mode: 0o600)).wait()
  }

  /// Closes all connections.
  func close() {
    try? group.syncShutdownGracefully()
    try? FileManager.default.removeItem(atPath: directory)
  }

  func clientCount() throws -> Int { try loop.submit { [channels] in channels.value.count }.wait() }

  func inject() {
    loop.execute { [channels, frame] in
      for channel in channels.value { channel.writeAndFlush(frame, promise: nil) }
    }
  }
}
