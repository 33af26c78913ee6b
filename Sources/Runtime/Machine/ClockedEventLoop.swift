public import NIOCore

/// An event loop that wraps another one and has its own clock.
public protocol ClockedEventLoop: EventLoop {
  /// The wrapped event loop.
  var base: any EventLoop { get }
}

extension EventLoop {
  /// The event loop to open sockets on: the wrapped one of a ``ClockedEventLoop``, otherwise the loop itself.
  public var forSockets: any EventLoop { (self as? any ClockedEventLoop)?.base ?? self }
}
