internal import Home
public import Simulation
public import VirtualDevices

/// A `do:` of a run and its outcome.
public struct CommandRecord: Hashable, Sendable, CustomStringConvertible {
  /// The step.
  public var mark: SourceMark
  /// The step as the file has it: `do on lamp`.
  public var text: String
  /// When it began, since the steps began.
  public var time: Duration
  /// Why it failed; nil if it didn't.
  public var error: String?
  /// How often it was done in succession with this outcome.
  public var count = 1

  /// `5 s: do on lamp: done`.
  public var description: String {
    let times = count > 1 ? ", \(count) times" : ""
    return "\(TimeText.text(time)): \(text): \(error.map { "failed: \($0)" } ?? "done")\(times)"
  }
}

/// Datagrams from one machine to another that were lost for one reason.
public struct NetworkLoss: Hashable, Sendable, CustomStringConvertible {
  /// A device's path, or `hub`; nil where a datagram came from elsewhere.
  public var sender: String?
  /// Nil: a group, or an address that no machine has.
  public var receiver: String?
  public var reason: LossReason
  /// How many datagrams.
  public var count: Int
  /// When the first was lost, since the steps began.
  public var first: Duration
  /// When the last was lost.
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
  /// As a report has it.
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
