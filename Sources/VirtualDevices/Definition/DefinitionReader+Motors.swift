internal import MatterDevice
internal import Yams

// The keys `travel` and `encoder` of window coverings, closures and valves.
extension DefinitionReader {
  /// The longest time of a full travel.
  private static let longestTravel = Duration.seconds(3600)

  /// Returns the motors of a window covering, a closure or a valve; nil without these keys.
  mutating func readMotors(_ fields: [String: Node], of kind: DeviceKind?) -> MotorSettings? {
    let keys = ["travel", "encoder"].filter { key in
      fields[key].map { isPlaced($0, key, kind, in: [.windowCovering, .closure, .waterValve]) } ?? false
    }
    guard !keys.isEmpty else { return nil }
    var motors = DeviceAssembly.motors(of: kind ?? .windowCovering)
    if let node = fields["encoder"], let hasEncoder = boolean(node) { motors.hasEncoder = hasEncoder }
    guard let node = fields["travel"] else { return motors }
    if kind == .windowCovering, case .mapping(let mapping) = node {
      guard let times = self.fields(of: node, known: ["lift", "tilt"], what: "the times of the motors") else {
        return motors
      }
      if mapping.isEmpty { report(node, expected: "the times of the motors, such as { lift: 20s, tilt: 3s }") }
      motors.lift = times["lift"].flatMap { readTravel($0, at: node) }
      motors.tilt = times["tilt"].flatMap { readTravel($0, at: node) }
    } else {
      motors.lift = readTravel(node, at: node)
    }
    return motors
  }

  mutating func readTravel(_ node: Node, at parent: Node) -> Duration? {
    guard let time = readTime(node, at: parent, "travel") else { return nil }
    guard time <= Self.longestTravel else {
      report(node, expected: "a time of at most 1h")
      return nil
    }
    return time
  }
}
