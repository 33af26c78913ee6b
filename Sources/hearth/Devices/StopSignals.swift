import Dispatch
import Glibc

/// Waits for a signal to stop from the user or the system.
final class StopSignals {
  private let stream: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  /// Replaces the default actions of the signals, so that they no longer end the process.
  init() {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    self.stream = stream
    // SIGHUP, sent when the terminal is closed, stays ignored under nohup.
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

  /// Waits for the first signal, and returns its number.
  func wait() async -> Int32 {
    for await number in stream { return number }
    return SIGTERM
  }
}
