import Logging
import Synchronization

/// A log handler that counts messages.
final class LogCounter: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  subscript(_ message: String) -> Int { counts.withLock { $0[message, default: 0] } }

  var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(counter: self) }
    logger.logLevel = .info
    return logger
  }

  private struct Handler: LogHandler {
    let counter: LogCounter
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { counter.counts.withLock { $0["\(event.message)", default: 0] += 1 } }
  }
}
