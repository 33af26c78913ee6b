import Dispatch
import Glibc

/// PendingWork for the user's, or the system's, word to stop.
final class StopSignals {
  private let stream: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  /// From here on the signals don't end the process by themselves.
  init() {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    self.stream = stream
    // A terminal that is closed says so, but not to what was started to outlive it.
    let numbers = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// The first signal that comes.
  func wait() async -> Int32 {
    for await number in stream { return number }
    return SIGTERM
  }
}
