internal import CAvahi
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Notifies an event loop when a descriptor that is read elsewhere becomes ready. Confined to that loop.
///
/// NIO's channels read the descriptors they watch. So the kernel watches them through an epoll set and a one-shot AIO
/// poll, and signals an eventfd, which a channel can read: no thread blocks, and the loop is woken by its own selector.
/// On a kernel without AIO the descriptors are polled every 20 ms.
final class ReadinessWatch {
  private let eventLoop: any EventLoop
  private let onReady: () -> Void
  private let set: CInt
  private var counter: CInt = -1
  private var context: CUnsignedLong = 0
  private var channel: (any Channel)?
  private var tick: Scheduled<Void>?
  private var isClosed = false
  private(set) var isTicking = false

  private static let interval = TimeAmount.milliseconds(20)

  /// - Parameter onReady: called on the loop when a descriptor may be ready; call `arm()` after handling it.
  init(on eventLoop: any EventLoop, _ onReady: @escaping () -> Void) {
    eventLoop.preconditionInEventLoop()
    self.eventLoop = eventLoop
    self.onReady = onReady
    set = hearth_set_make()
    counter = hearth_counter_make()
    guard set >= 0, counter >= 0, hearth_aio_make(&context) == 0 else {
      startTicking()
      return
    }
    // The channel owns the duplicate; the kernel signals the original.
    let read = dup(counter)
    let bound = NIOLoopBound(Weak(self), eventLoop: eventLoop)
    NIOPipeBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(CounterHandler { bound.value.object?.onReady() })
        }
      }
      .takingOwnershipOfDescriptor(input: read)
      .assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success(let channel):
          guard let watch = bound.value.object, !watch.isClosed else { return channel.close(promise: nil) }
          watch.channel = channel
        case .failure:
          _ = Glibc.close(read)
          bound.value.object?.startTicking()
        }
      }
    arm()
  }

  /// Watches a descriptor, or changes the watched events.
  /// - Parameter events: poll(2) events.
  func watch(_ descriptor: CInt, for events: Int16) {
    _ = hearth_set_watch(set, descriptor, events)
  }

  func forget(_ descriptor: CInt) { hearth_set_forget(set, descriptor) }

  /// Requests one more notification.
  func arm() {
    guard !isClosed, !isTicking else { return }
    if hearth_aio_arm(context, set, counter) != 0 { startTicking() }
  }

  func close() {
    if isClosed { return }
    isClosed = true
    tick?.cancel()
    channel?.close(promise: nil)
    if context != 0 { hearth_aio_destroy(context) }
    if counter >= 0 { _ = Glibc.close(counter) }
    if set >= 0 { _ = Glibc.close(set) }
  }

  private func startTicking() {
    guard tick == nil, !isClosed else { return }
    isTicking = true
    tick = eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
      guard let self, !isClosed else { return }
      tick = nil
      onReady()
      startTicking()
    }
  }
}

/// Reads the eventfd counter and ignores its value.
private final class CounterHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let onCount: () -> Void

  init(_ onCount: @escaping () -> Void) { self.onCount = onCount }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { onCount() }
}
