internal import Foundation
internal import Glibc
internal import Runtime
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a target is told: no data, but between which anchors there are some.
struct DeliveryNotice: Hashable, Sendable, Codable {
  var observer: Int64
  var type: SampleType
  /// Behind what was delivered before.
  var after: Anchor
  /// Up to here it is this delivery's.
  var until: Anchor
  /// 1 for the first.
  var attempt: Int
}

/// Wakes a target once.
enum DeliveryRun {
  /// So long a command that is to end has for it.
  static let lastWords = Duration.seconds(3)

  /// Ends early when the task is cancelled: a command is asked to end, and made to where it does not. What completes in
  /// spite of that is completed.
  /// - Parameter state: the directory of the home, for a command that asks for more.
  /// - Returns: nil when it was completed, else what went wrong.
  static func deliver(
    _ notice: DeliveryNotice, to target: BackgroundDelivery.Target, of state: String
  ) async -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let body = try? encoder.encode(notice) else { return "the notice can't be written" }
    switch target {
    case .command(let arguments): return await run(arguments, notice, body, state)
    case .webhook(let address): return await post(body, to: address)
    }
  }

  private static func run(
    _ arguments: [String], _ notice: DeliveryNotice, _ body: Data, _ state: String
  ) async -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment[StateDirectory.variable] = state
    environment["HEARTH_OBSERVER"] = "\(notice.observer)"
    environment["HEARTH_AFTER"] = "\(notice.after)"
    environment["HEARTH_UNTIL"] = "\(notice.until)"
    environment["HEARTH_ATTEMPT"] = "\(notice.attempt)"
    process.environment = environment
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    // A few hundred bytes, which the pipe holds before anybody reads: nobody waits, and nobody's end can break it.
    do {
      try input.fileHandleForWriting.write(contentsOf: body + Data("\n".utf8))
      try input.fileHandleForWriting.close()
    } catch {
      return "“\(arguments[0])” can't be told: \(error.localizedDescription)"
    }
    // The process that is to be ended when the delivery is given up; -1 when it was given up before.
    let number = Mutex<Int32>(0)
    let gone = Gone()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        process.terminationHandler = { process in
          gone.note()
          number.withLock { $0 = 0 }
          let status = process.terminationStatus
          switch process.terminationReason {
          case .exit where status == 0: continuation.resume(returning: nil)
          case .exit: continuation.resume(returning: "“\(arguments[0])” ended with \(status)")
          default: continuation.resume(returning: "“\(arguments[0])” was ended by signal \(status)")
          }
        }
        do {
          try process.run()
          let started = process.processIdentifier
          let isTooLate = number.withLock { number in
            if number == -1 { return true }
            if process.isRunning { number = started }
            return false
          }
          if isTooLate { end(started, gone) }
        } catch {
          process.terminationHandler = nil
          continuation.resume(returning: "“\(arguments[0])” can't be run: \(error.localizedDescription)")
        }
      }
    } onCancel: {
      number.withLock { number in
        if number > 0 { end(number, gone) }
        number = -1
      }
    }
  }

  /// Whether a process is gone, so that its number may be another's.
  private final class Gone: Sendable {
    private let isGone = Mutex(false)
    func note() { isGone.withLock { $0 = true } }
    func ifNot(_ body: () -> Void) { isGone.withLock { if !$0 { body() } } }
  }

  private static func end(_ process: Int32, _ gone: Gone) {
    gone.ifNot { kill(process, SIGTERM) }
    Tasks.start {
      try? await Task.sleep(for: lastWords)
      gone.ifNot { kill(process, SIGKILL) }
    }
  }

  private static func post(_ body: Data, to address: String) async -> String? {
    guard let url = URL(string: address) else { return "“\(address)” is no address" }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = body
    do {
      let (_, response) = try await URLSession.shared.data(for: request)
      guard let status = (response as? HTTPURLResponse)?.statusCode else { return "\(address) gave no status" }
      return (200..<300).contains(status) ? nil : "\(address) answered with \(status)"
    } catch {
      return "\(address) does not answer: \(error.localizedDescription)"
    }
  }
}
