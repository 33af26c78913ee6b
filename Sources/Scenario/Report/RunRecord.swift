internal import HearthHome
internal import MatterProtocol
public import Simulation
public import VirtualDevices

/// A `do:` of a run and its outcome.
public struct CommandRecord: Hashable, Sendable, CustomStringConvertible {
  /// The position of the step.
  public var mark: SourceMark
  /// The step as in the file: `do on lamp`.
  public var text: String
  /// The time since the first step began.
  public var time: Duration
  /// The error; nil if the command succeeded.
  public var error: String?
  /// The number of successive runs with the same outcome.
  public var count = 1

  /// `5 s: do on lamp: done`.
  public var description: String {
    let times = count > 1 ? ", \(count) times" : ""
    return "\(TimeText.text(time)): \(text): \(error.map { "failed: \($0)" } ?? "done")\(times)"
  }
}

/// Datagrams between two machines that were lost for the same reason.
public struct NetworkLoss: Hashable, Sendable, CustomStringConvertible {
  /// A device's path, or `hub`; nil for an unknown machine.
  public var sender: String?
  /// A device's path, or `hub`; nil for a group or an address without a machine.
  public var receiver: String?
  public var reason: LossReason
  /// The number of datagrams.
  public var count: Int
  /// The time of the first loss, since the first step began.
  public var first: Duration
  /// The time of the last loss.
  public var last: Duration

  /// `hub to Kitchen/Lamp: 12 lost by the link, from 0.2 s to 5 s`.
  public var description: String {
    let times =
      count == 1 ? "at \(TimeText.text(first))" : "from \(TimeText.text(first)) to \(TimeText.text(last))"
    let link = "\(sender ?? "elsewhere") to \(receiver ?? "a group or no machine")"
    return "\(link): \(count) lost by \(reason.text), \(times)"
  }
}

extension LossReason {
  /// The reason as shown in reports.
  public var text: String {
    switch self {
    case .link: "the link"
    case .picked: "number"
    case .partition: "partition"
    case .tooLong: "length"
    case .noSuchAddress: "an unknown address"
    case .powerOff: "lack of power"
    case .multicast: "a network without multicast"
    }
  }
}
