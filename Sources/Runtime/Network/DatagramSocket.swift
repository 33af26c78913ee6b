internal import Glibc
internal import MatterProtocol
internal import NIOCore
internal import NIOPosix

/// A bound socket on an event loop. Confined to that loop.
///
/// A NIO channel reads it, one datagram per system call: the buffers of vectored reads take 10 KiB for each socket. Writes
/// bypass NIO's queue: the bytes go from the array to the kernel without a copy or allocation. NIO's queue is used only if
/// the kernel's buffer is full.
final class DatagramSocket: LocalSocket {
  let local: MatterProtocol.SocketAddress
  let local6: MatterProtocol.SocketAddress?
  /// The interface with its current addresses.
  var interface: NetworkInterface
  private let eventLoop: any EventLoop
  private var descriptor: CInt
  private var channel: (any Channel)?
  private var isClosed = false
  var onDatagram: ((consuming [UInt8], MatterProtocol.SocketAddress) -> Void)?
  /// The number of datagrams that could not be sent.
  private(set) var sendFailures = 0
  /// The number of datagrams with a source address that is not valid.
  private(set) var unknownSources = 0
  /// The maximum number of datagrams that are read each time the socket is ready.
  private static let batch: UInt = 4
  /// The last value of `overflows`.
  private var lastOverflows = 0
  /// Whether a datagram was received after that. Without one there are no drops, because a full buffer is read.
  private var hasReceived = true

  /// Takes ownership of the socket. To be called on the event loop.
  /// - Parameters:
  ///   - datagramSize: the maximum size in bytes; longer datagrams are truncated.
  init(_ socket: BoundSocket, on eventLoop: any EventLoop, datagramSize: Int) {
    eventLoop.preconditionInEventLoop()
    (local, local6) = (socket.local, socket.local6)
    interface = socket.interface
    descriptor = socket.descriptor
    self.eventLoop = eventLoop
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    DatagramBootstrap(group: eventLoop)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: datagramSize))
      .channelOption(.maxMessagesPerRead, value: Self.batch)
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

  /// Whether the socket has the family of an address.
  func fits(_ ip: IPAddress) -> Bool { local.ip.isIPv6 == ip.isIPv6 || local6 != nil }

  func send(_ bytes: [UInt8], to destination: MatterProtocol.SocketAddress) {
    guard descriptor >= 0 else {
      sendFailures += 1
      return
    }
    let destination = local6 == nil ? destination : destination.mappedToIPv6
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

  /// The number of datagrams that the system dropped because the receive buffer was full.
  var overflows: Int {
    guard descriptor >= 0, hasReceived else { return lastOverflows }
    // SO_MEMINFO returns nine numbers; the last one counts the drops.
    var numbers = [UInt32](repeating: 0, count: 9)
    var length = socklen_t(9 * MemoryLayout<UInt32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SystemNumber.memoryInformation, &numbers, &length) == 0 else { return 0 }
    (lastOverflows, hasReceived) = (Int(numbers[8]), false)
    return lastOverflows
  }

  func close() {
    hasReceived = true
    lastOverflows = overflows
    onDatagram = nil
    isClosed = true
    // The descriptor may be reused for another file from here on.
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
    hasReceived = true
    guard let source = MatterProtocol.SocketAddress(envelope.remoteAddress) else {
      unknownSources += 1
      return
    }
    onDatagram?(
      envelope.data.withUnsafeReadableBytes { [UInt8]($0) }, local6 == nil ? source : source.unmappedFromIPv6)
  }
}

private final class DatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  private let socket: DatagramSocket

  init(_ socket: DatagramSocket) { self.socket = socket }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { socket.received(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) { socket.closed() }

  /// Ignores errors of single datagrams; the socket stays open.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
