public import NIOCore

/// An event loop that is another one, with a clock of its own.
public protocol ClockedEventLoop: EventLoop {
  /// The other one.
  var base: any EventLoop { get }
}

extension EventLoop {
  /// The event loop that sockets can be opened on whose events are to come here: of one with a clock of its own, the one beneath it.
  public var forSockets: any EventLoop { (self as? any ClockedEventLoop)?.base ?? self }
}
