internal import CAvahi
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Tells an event loop that a descriptor which somebody else reads is ready. Confined to that loop.
///
/// NIO's channels read what they watch. So the kernel watches instead, through an epoll set and a one-shot AIO poll, and counts on
/// an eventfd, which a channel can read: no thread waits, and the loop is woken by its own selector. Where the kernel has no AIO it looks
/// every 20 ms instead.
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

  /// - Parameter onReady: something may be ready. Called on the loop; call `arm()` when it has been dealt with.
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
    // The channel owns its descriptor; ours is the kernel's to count on.
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

  /// Watches a descriptor, or changes what it is watched for.
  /// - Parameter events: those of poll(2).
  func watch(_ descriptor: CInt, for events: Int16) {
    _ = hearth_set_watch(set, descriptor, events)
  }

  func forget(_ descriptor: CInt) { hearth_set_forget(set, descriptor) }

  /// Asks to be called once more.
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

/// Reads the counter, of which only that it counts is of interest.
private final class CounterHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let onCount: () -> Void

  init(_ onCount: @escaping () -> Void) { self.onCount = onCount }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { onCount() }
}
