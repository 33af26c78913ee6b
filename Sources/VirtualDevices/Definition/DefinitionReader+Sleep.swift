internal import MatterDevice
internal import MatterProtocol
internal import Yams

// The key `sleepy`.
extension DefinitionReader {
  private static let sleepKeys = ["mode", "idle", "active", "threshold", "poll", "clients", "dynamic"]

  /// Reads a mode (`long`), or a mapping with the timing of an intermittently connected device. Matter Core § 9.16.
  mutating func readSleep(_ node: Node, of kind: DeviceKind?) -> SleepConfiguration? {
    if let kind, !kind.maySleep {
      report(
        at: document.mark(of: node), found: "“sleepy” for \(kind.title)",
        expected: "this key only for a kind that can run on a battery, such as a contact sensor")
      return nil
    }
    if node.scalar != nil { return readMode(node).map { SleepConfiguration($0) } }
    let before = problems.count
    guard let fields = fields(of: node, known: Self.sleepKeys, what: "the timing of a sleepy device") else {
      return nil
    }
    guard let mode = fields["mode"].map({ readMode($0) }) ?? .short else { return nil }
    var sleep = SleepConfiguration(mode)
    if let idle = readTime(fields["idle"], in: SleepConfiguration.idleDurations, "a time from 1s to 18h") {
      guard idle.milliseconds % 1000 == 0 else {
        if let node = fields["idle"] { report(node, expected: "a time in whole seconds") }
        return nil
      }
      sleep.idleDuration = idle
    }
    if let threshold = readThreshold(fields["threshold"], mode) { sleep.activeThreshold = threshold }
    if let active = readTime(
      fields["active"], in: Duration.zero...SleepConfiguration.idleDurations.upperBound, "a time up to 18h")
    {
      sleep.activeDuration = active
    } else {
      sleep.activeDuration = min(sleep.activeDuration, sleep.idleDuration)
    }
    if sleep.activeDuration > sleep.idleDuration, let node = fields["active"] {
      report(node, expected: "a time of at most \(TimeText.text(sleep.idleDuration)), the time in idle mode")
    }
    let polls = Duration.milliseconds(100)...SleepConfiguration.longestPoll
    if let poll = readTime(fields["poll"], in: polls, "a time from 100ms to 15s") { sleep.pollInterval = poll }
    if let clients = number(fields["clients"], in: 1...16, expected: "a number of clients from 1 to 16") {
      sleep.clientsPerFabric = UInt16(clamping: clients.value)
    }
    if let isDynamic = boolean(fields["dynamic"]) { sleep.isDynamic = isDynamic }
    for key in ["clients", "dynamic"] where mode == .short {
      guard let node = fields[key] else { continue }
      report(at: document.mark(of: node), found: "“\(key)”", expected: "this key only beside “mode: long”")
    }
    return problems.count == before ? sleep : nil
  }

  private mutating func readMode(_ node: Node) -> SleepConfiguration.Mode? {
    if let mode = SleepConfiguration.Mode(rawValue: node.scalar?.string.lowercased() ?? "") { return mode }
    report(node, expected: "short, long, or a mapping such as { mode: long, idle: 1h }")
    return nil
  }

  private mutating func readThreshold(_ node: Node?, _ mode: SleepConfiguration.Mode) -> Duration? {
    let shortest = mode == .long ? SleepConfiguration.shortestLongThreshold : .milliseconds(100)
    let text = "a time from \(TimeText.text(shortest)) to 65.5s"
    return readTime(
      node, in: shortest...SleepConfiguration.longestThreshold,
      mode == .long ? "\(text); a device with a long idle time stays active for at least 5s" : text)
  }

  private mutating func readTime(_ node: Node?, in range: ClosedRange<Duration>, _ expected: String) -> Duration? {
    guard let node else { return nil }
    guard let time = TimeText.duration(node.scalar?.string ?? ""), range.contains(time) else {
      report(node, expected: expected)
      return nil
    }
    return time
  }
}
