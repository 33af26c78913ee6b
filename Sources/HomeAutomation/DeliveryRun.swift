internal import Foundation
internal import HomeModel
internal import HomeStore
internal import NIOCore
internal import WebClient

/// The content of a notification: no data, but the anchors between which there are changes.
struct DeliveryNotice: Hashable, Sendable, Codable {
  var observer: Int64
  var type: SampleType
  /// The position after the last delivery.
  var after: Anchor
  /// The position after the changes of this delivery.
  var until: Anchor
  /// The number of the attempt, beginning with 1.
  var attempt: Int
}

/// A single call of a target.
enum DeliveryRun {
  /// Calls a target. If the task is canceled, a command is terminated; it still counts as completed if it completes
  /// before.
  /// - Parameters:
  ///   - state: the directory of the home, in which a command can run queries.
  ///   - gracePeriod: the time between SIGTERM and SIGKILL of a canceled command.
  /// - Returns: nil if it was completed, else the failure.
  static func deliver(
    _ notice: DeliveryNotice, to target: BackgroundDelivery.Target, of state: String,
    gracePeriod: Duration = RunningCommand.defaultGracePeriod, on eventLoop: any EventLoop
  ) async -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let body = try? [UInt8](encoder.encode(notice)) else { return "the notice can't be written" }
    switch target {
    case .command(let arguments):
      return await RunningCommand.run(
        arguments,
        variables: [
          StateDirectory.variable: state, "HEARTH_OBSERVER": "\(notice.observer)", "HEARTH_AFTER": "\(notice.after)",
          "HEARTH_UNTIL": "\(notice.until)", "HEARTH_ATTEMPT": "\(notice.attempt)",
        ], input: body + [UInt8(ascii: "\n")], gracePeriod: gracePeriod, on: eventLoop)
    case .webhook(let address): return await post(body, to: address)
    }
  }

  private static func post(_ body: [UInt8], to address: String) async -> String? {
    do throws(CloudTransportError) {
      let status = try await WebTransport.post(body, to: address, limit: 1 << 20).status
      return (200..<300).contains(status) ? nil : "\(address) answered with \(status)"
    } catch {
      return switch error {
      case .tooLarge: "\(address) answered with more than 1 MB"
      case .unreachable(let reason): "\(address) does not answer: \(reason)"
      }
    }
  }
}
