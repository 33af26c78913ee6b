internal import Foundation
internal import HomeModel
internal import HomeStore
internal import WebClient

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

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
    gracePeriod: Duration = RunningCommand.defaultGracePeriod
  ) async -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let body = try? encoder.encode(notice) else { return "the notice can't be written" }
    switch target {
    case .command(let arguments): return await run(arguments, notice, body, state, gracePeriod)
    case .webhook(let address): return await post(body, to: address)
    }
  }

  private static func run(
    _ arguments: [String], _ notice: DeliveryNotice, _ body: Data, _ state: String, _ gracePeriod: Duration
  ) async -> String? {
    await RunningCommand.run(
      arguments,
      variables: [
        StateDirectory.variable: state, "HEARTH_OBSERVER": "\(notice.observer)", "HEARTH_AFTER": "\(notice.after)",
        "HEARTH_UNTIL": "\(notice.until)", "HEARTH_ATTEMPT": "\(notice.attempt)",
      ], input: [UInt8](body + Data("\n".utf8)), gracePeriod: gracePeriod)
  }

  private static func post(_ body: Data, to address: String) async -> String? {
    guard let url = URL(string: address) else { return "“\(address)” is not an address" }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = body
    do {
      let status = try await WebTransport.send(request, limit: 1 << 20).status
      return (200..<300).contains(status) ? nil : "\(address) answered with \(status)"
    } catch CloudTransportError.tooLarge {
      return "\(address) answered with more than 1 MB"
    } catch CloudTransportError.unreachable(let reason) {
      return "\(address) does not answer: \(reason)"
    } catch {
      return "\(address) does not answer: \(error.localizedDescription)"
    }
  }
}
