import HearthHome
import Logging
import Synchronization

/// The level of all log handlers of the process once it is set, as by `set_loglevel` of the hub.
final class SharedLogLevel: Sendable {
  static let process = SharedLogLevel()
  private static let levels = Logger.Level.allCases
  private let index = Atomic(-1)

  /// Nil: each handler has its own level.
  var level: Logger.Level? {
    let index = index.load(ordering: .relaxed)
    return Self.levels.indices.contains(index) ? Self.levels[index] : nil
  }

  func set(_ level: Logger.Level) { index.store(Self.levels.firstIndex(of: level) ?? -1, ordering: .relaxed) }
}

/// A log handler that escapes control characters, because messages may contain strings from devices.
struct ShownLog: LogHandler {
  private var log: any LogHandler
  private let shared: SharedLogLevel

  init(_ log: any LogHandler, _ shared: SharedLogLevel = .process) { (self.log, self.shared) = (log, shared) }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(event.message.description.shown(lines: true))"
    event.metadata = event.metadata?.mapValues { .string("\($0)".shown()) }
    log.log(event: event)
  }

  var metadata: Logger.Metadata {
    get { log.metadata }
    set { log.metadata = newValue.mapValues { .string("\($0)".shown()) } }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { log[metadataKey: key] }
    set { log[metadataKey: key] = newValue.map { .string("\($0)".shown()) } }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { log.metadataProvider }
    set { log.metadataProvider = newValue }
  }

  var logLevel: Logger.Level {
    get { shared.level ?? log.logLevel }
    set { log.logLevel = newValue }
  }
}
