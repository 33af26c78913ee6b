import HearthHome
import Logging

/// A log handler that escapes control characters, because messages may contain strings from devices.
struct ShownLog: LogHandler {
  private var log: any LogHandler

  init(_ log: any LogHandler) { self.log = log }

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
    get { log.logLevel }
    set { log.logLevel = newValue }
  }
}
