import Dispatch
import Glibc

/// Waits for the user's, or the system's, word to stop.
final class StopSignals {
  private let stream: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  /// From here on the signals don't end the process by themselves.
  init() {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    self.stream = stream
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }

  /// The first signal that comes.
  func wait() async -> Int32 {
    for await number in stream { return number }
    return SIGTERM
  }
}
