internal import Glibc
internal import MatterProtocol
internal import NIOCore
internal import NIOPosix

/// A bound socket on an event loop. Confined to that loop.
///
/// It is read by a NIO channel with vectored reads. It is written to directly, without NIO's queue: the bytes go from the array
/// to the kernel with no copy or allocation in between. Only where the kernel has no room does NIO's queue take over.
final class DatagramSocket {
  let local: MatterProtocol.SocketAddress
  /// With the addresses that it has now.
  var interface: NetworkInterface
  private let eventLoop: any EventLoop
  private var descriptor: CInt
  private var channel: (any Channel)?
  private var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?
  /// Datagrams that could not be sent.
  private(set) var sendFailures = 0
  /// Datagrams from where nothing can come from.
  private(set) var unknownSources = 0
  /// Datagrams that the system threw away because they came faster than they were read, as of when it was closed.
  private var lastOverflows = 0

  /// Takes over the socket. To be called on the event loop.
  /// - Parameters:
  ///   - datagramSize: longer datagrams are cut off.
  ///   - batch: most datagrams taken with one system call.
  init(_ socket: BoundSocket, on eventLoop: any EventLoop, datagramSize: Int, batch: Int) {
    eventLoop.preconditionInEventLoop()
    local = socket.local
    interface = socket.interface
    descriptor = socket.descriptor
    self.eventLoop = eventLoop
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    DatagramBootstrap(group: eventLoop)
      .channelOption(.datagramVectorReadMessageCount, value: batch)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: datagramSize * batch))
      // One read for each time the socket is ready: a second one would mostly find nothing.
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DatagramHandler(bound.value))
        }
      }
      .withBoundSocket(socket.descriptor)
      .assumeIsolated()
      .whenComplete { result in
        let socket = bound.value
        switch result {
        case .success(let channel):
          socket.channel = channel
          if socket.isClosed { channel.close(promise: nil) }
        case .failure: socket.closed()
        }
      }
  }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    guard descriptor >= 0 else {
      sendFailures += 1
      return
    }
    var failure: CInt = 0
    repeat {
      let sent = bytes.withUnsafeBytes { bytes in
        destination.withSystemAddress { address, length in
          sendto(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL), address, length)
        }
      }
      failure = sent < 0 ? errno : 0
    } while failure == EINTR
    if failure == 0 { return }
    if (failure == EAGAIN || failure == EWOULDBLOCK || failure == ENOBUFS), let channel, channel.isActive {
      let envelope = AddressedEnvelope(remoteAddress: destination.nio, data: ByteBuffer(bytes: bytes))
      channel.writeAndFlush(envelope, promise: nil)
    } else {
      sendFailures += 1
    }
  }

  /// Datagrams that the system threw away because they came faster than they were read.
  var overflows: Int {
    guard descriptor >= 0 else { return lastOverflows }
    // Nine numbers, of which the last is that of the drops: SO_MEMINFO.
    var numbers = [UInt32](repeating: 0, count: 9)
    var length = socklen_t(9 * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SystemNumber.memoryInformation, &numbers, &length) == 0 else { return 0 }
    return Int(numbers[8])
  }

  func close() {
    lastOverflows = overflows
    onDatagram = nil
    isClosed = true
    // From here on the number may belong to another file.
    descriptor = -1
    channel?.close(promise: nil)
    channel = nil
  }

  fileprivate func closed() {
    descriptor = -1
    onDatagram = nil
    channel = nil
  }

  @inline(__always)
  fileprivate func received(_ envelope: AddressedEnvelope<ByteBuffer>) {
    guard let source = MatterProtocol.SocketAddress(envelope.remoteAddress) else {
      unknownSources += 1
      return
    }
    onDatagram?(envelope.data.withUnsafeReadableBytes { [UInt8]($0) }, source)
  }
}

private final class DatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  private let socket: DatagramSocket

  init(_ socket: DatagramSocket) { self.socket = socket }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { socket.received(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) { socket.closed() }

  /// A datagram socket outlives the errors of single datagrams.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
