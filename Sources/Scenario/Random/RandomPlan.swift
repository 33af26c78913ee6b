internal import MatterCrypto
internal import MatterProtocol
internal import Simulation
internal import VirtualDevices

/// A random home and a schedule of faults and commands, drawn from a seed.
public struct RandomPlan: Hashable, Sendable {
  /// One scheduled fault or command.
  struct Step: Hashable, Sendable, CustomStringConvertible {
    var number: Int
    var at: Duration
    /// The number of the device; nil for the hub or the whole network.
    var device: Int?
    var act: Act

    var description: String {
      let target = device.map { "D\($0)" } ?? "hub"
      if case .postRecovery(let act) = act { return "\(number): when all agree, \(target): \(act)" }
      return "\(number): at \(at.nanoseconds / 1_000_000) ms, \(target): \(act)"
    }
  }

  enum Act: Hashable, Sendable {
    // User actions.
    case toggle
    case dim(UInt8)
    case pressByHand
    case rename(Int)
    case pair
    // Faults.
    case conditions(Weather)
    case partition
    case cutToHub, cutFromHub
    case cutPower(afterEffects: Int?)
    case restorePower
    case move(UInt64)
    case drift(Int64)
    case jump(seconds: Int64)
    case multicast(isOn: Bool)
    case family(IPFamily, isOn: Bool)
    case place(isOther: Bool)
    case bridged(isOn: Bool)
    case cutSecondHome(afterEffects: Int?)
    case restoreSecondHome
    case partitionSecondHome
    case conditionsSecondHome(Weather)
    case heal
    // After recovery.
    case postRecovery(PostRecoveryEvent)
  }

  /// Link conditions: times in milliseconds, probabilities in percent, sizes in bytes.
  // The name is part of the trace, and so of its digest.
  struct Weather: Hashable, Sendable {
    var latency: Int, jitter: Int
    var loss: UInt64, duplication: UInt64, reordering: UInt64
    /// 0 for unlimited.
    var bytesPerSecond: Int, maximumDatagramSize: Int
  }

  /// The seed that everything is drawn from.
  public var seed: UInt64
  /// The kinds of the devices, by number; a bridge serves two lights.
  var kinds: [Kind]
  var steps: [Step]
  /// The numbers of the devices that take part; fewer than all after shrinking.
  var kept: [Int]
  /// The numbers of the devices that are commissioned amid the faults instead of before them.
  var newcomers: Set<Int>
  /// Whether the devices are also commissioned into a second home.
  var hasSecondHome: Bool

  enum Kind: String, CaseIterable, Hashable, Sendable {
    case onOffLight = "on/off light"
    case dimmableLight = "dimmable light"
    case plug = "plug"
    case dimmablePlug = "dimmable plug"
    case colorTemperatureLight = "color temperature light"
    case extendedColorLight = "extended color light"
    case genericSwitch = "generic switch"
    case lightSwitch = "light switch"
    case bridge = "bridge"
  }

  /// The duration of the phase with faults.
  static let faultPeriod: Duration = .seconds(240)

  /// Draws the devices and a schedule of faults and commands.
  /// - Parameter devices: the possible numbers of devices, at least 1.
  public init(seed: UInt64, devices: ClosedRange<Int> = 1...5) {
    self.seed = seed
    // The simulated world draws from a different sequence.
    var random = SeededRandomSource(seed: seed ^ 0x5EED_0F_40_4E_5)
    let count = max(1, Int.random(in: devices, using: &random))
    kinds = (0..<count).map { _ in Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &random)] }
    kept = Array(0..<count)
    newcomers = Set(kept.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
    hasSecondHome = Int.random(in: 0..<3, using: &random) == 0
    var steps: [Step] = []
    for number in 0..<Int.random(in: 6...24, using: &random) {
      let at = Duration.milliseconds(Int64.random(in: 0..<Self.faultPeriod.nanoseconds / 1_000_000, using: &random))
      let device = Int.random(in: 0..<(count * 4 + 1), using: &random)
      steps.append(
        device == count * 4
          ? Step(number: number, at: at, device: nil, act: Self.hubAct(&random))
          : Step(number: number, at: at, device: device % count, act: Self.act(&random)))
    }
    if hasSecondHome { steps += Self.secondHome(seed: seed, devices: count, from: steps.count) }
    steps += Self.postRecoverySteps(seed: seed, kinds: kinds, from: steps.count)
    self.steps = steps.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
  }

  private static func act(_ random: inout SeededRandomSource) -> Act {
    switch Int.random(in: 0..<23, using: &random) {
    case 20: .pair
    case 22: .place(isOther: Bool.random(using: &random))
    case 21: .family(Bool.random(using: &random) ? .v6 : .v4, isOn: Bool.random(using: &random))
    case 0...3: .toggle
    case 4, 5: .dim(UInt8.random(in: 1...254, using: &random))
    case 6, 7: .pressByHand
    case 8: .rename(Int.random(in: 0..<100, using: &random))
    case 9, 10: conditions(&random)
    case 11: .partition
    case 12: Bool.random(using: &random) ? .cutToHub : .cutFromHub
    case 13: .cutPower(afterEffects: nil)
    case 14: .cutPower(afterEffects: Int.random(in: 0..<30, using: &random))
    case 15: .restorePower
    case 16: .move(UInt64.random(in: 1..<1 << 32, using: &random))
    case 17:
      Bool.random(using: &random)
        ? .drift(Int64.random(in: -200...200, using: &random))
        : .jump(seconds: Int64.random(in: -86_400...86_400, using: &random))
    case 18: .multicast(isOn: Bool.random(using: &random))
    default: Bool.random(using: &random) ? .bridged(isOn: Bool.random(using: &random)) : .heal
    }
  }

  private static func hubAct(_ random: inout SeededRandomSource) -> Act {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: .cutPower(afterEffects: nil)
    case 2: .cutPower(afterEffects: Int.random(in: 0..<60, using: &random))
    case 3: .restorePower
    case 4: conditions(&random)
    case 5: .jump(seconds: Int64.random(in: -86_400...86_400, using: &random))
    case 6: .multicast(isOn: Bool.random(using: &random))
    default: .move(UInt64.random(in: 1..<1 << 32, using: &random))
    }
  }

  /// Draws power failures of the second home's machine, and faults of its links, from a sequence of their own, so
  /// that the rest of the plan doesn't depend on them.
  private static func secondHome(seed: UInt64, devices: Int, from first: Int) -> [Step] {
    var random = SeededRandomSource(seed: seed ^ 0x5EC0_4D)
    return (0..<Int.random(in: 0...6, using: &random)).map { number in
      let at = Duration.milliseconds(Int64.random(in: 0..<faultPeriod.nanoseconds / 1_000_000, using: &random))
      var device: Int?
      let act: Act
      switch Int.random(in: 0..<5, using: &random) {
      case 0: act = .cutSecondHome(afterEffects: nil)
      case 1: act = .cutSecondHome(afterEffects: Int.random(in: 0..<60, using: &random))
      case 2: act = .restoreSecondHome
      case 3:
        device = Int.random(in: 0..<devices, using: &random)
        act = .partitionSecondHome
      default:
        device = Int.random(in: 0..<devices, using: &random)
        act = .conditionsSecondHome(weather(&random))
      }
      return Step(number: first + number, at: at, device: device, act: act)
    }
  }

  private static func conditions(_ random: inout SeededRandomSource) -> Act { .conditions(weather(&random)) }

  private static func weather(_ random: inout SeededRandomSource) -> Weather {
    let isNarrow = Int.random(in: 0..<4, using: &random) == 0
    return Weather(
      latency: Int.random(in: 0...200, using: &random), jitter: Int.random(in: 0...200, using: &random),
      loss: UInt64.random(in: 0...60, using: &random), duplication: UInt64.random(in: 0...30, using: &random),
      reordering: UInt64.random(in: 0...30, using: &random),
      bytesPerSecond: isNarrow ? Int.random(in: 2_000...100_000, using: &random) : 0,
      maximumDatagramSize: isNarrow ? Int.random(in: 500...1_280, using: &random) : 0)
  }

  /// The text of the home's definition file.
  var text: String {
    var lines = ["devices:"]
    for number in kept {
      lines += ["  - name: D\(number)", "    type: \(kinds[number].rawValue)"]
      // Cover both kinds of devices.
      if (seed ^ UInt64(number)) & 1 == 0 { lines.append("    resumesSubscriptions: false") }
      if kinds[number] == .bridge {
        lines += [
          "    devices:", "      - name: B\(number)", "        type: dimmable light", "      - name: C\(number)",
          "        type: on/off light",
        ]
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  func definition() throws -> HomeDefinition { try HomeDefinition.load(simulating: [("random.yaml", text)]) }

  /// Returns the plan with only these devices.
  func keeping(devices: [Int]) -> RandomPlan {
    var plan = self
    plan.kept = kept.filter(devices.contains)
    plan.newcomers.formIntersection(plan.kept)
    plan.steps = steps.filter { $0.device.map(plan.kept.contains) ?? true }
    return plan
  }

  /// Returns the plan with only these steps.
  func keeping(steps numbers: [Int]) -> RandomPlan {
    var plan = self
    plan.steps = steps.filter { numbers.contains($0.number) }
    return plan
  }

  /// Returns the plan without the second home.
  func withoutSecondHome() -> RandomPlan {
    var plan = self
    plan.hasSecondHome = false
    plan.steps = steps.filter { !$0.act.isOfSecondHome }
    return plan
  }

  /// Returns the plan with the device commissioned from the start.
  func commissioning(_ device: Int) -> RandomPlan {
    var plan = self
    plan.newcomers.remove(device)
    return plan
  }

  /// Returns the plan reduced as ``arguments`` describe: comma-separated numbers, or `-` for all. Among the devices,
  /// `alone` removes the second home, and a number followed by a plus sign has this device commissioned from the start.
  public func keeping(devices: String, steps: String) -> RandomPlan {
    func numbers(_ text: String) -> [Int]? {
      text == "-" ? nil : text.split(separator: ",").compactMap { Int($0.filter(\.isNumber)) }
    }
    var plan = self
    for word in devices.split(separator: ",") {
      if word == "alone" { plan = plan.withoutSecondHome() }
      if word.hasSuffix("+"), let number = Int(word.dropLast()) { plan = plan.commissioning(number) }
    }
    if let devices = numbers(devices) { plan = plan.keeping(devices: devices) }
    if let steps = numbers(steps) { plan = plan.keeping(steps: steps) }
    return plan
  }

  /// The command-line arguments that repeat the plan.
  public var arguments: String {
    func text(_ numbers: [Int]) -> String {
      numbers.isEmpty ? "," : numbers.map { "\($0)" }.joined(separator: ",")
    }
    let whole = RandomPlan(seed: seed)
    if self == whole { return "1 \(seed)" }
    let devices = kept.map { whole.newcomers.contains($0) && !newcomers.contains($0) ? "\($0)+" : "\($0)" }
    let alone = whole.hasSecondHome && !hasSecondHome ? ["alone"] : []
    return "1 \(seed) \((devices + alone).joined(separator: ",")) \(text(steps.map(\.number)))"
  }

  /// A description of the plan, one line per device and step.
  public var lines: [String] {
    kept.map { "D\($0): \(kinds[$0].rawValue)\(newcomers.contains($0) ? ", not yet commissioned" : "")" }
      + (hasSecondHome ? ["all commissioned devices are also in a second home"] : []) + steps.map(\.description)
  }
}

extension RandomPlan.Act {
  /// Whether the act only affects the second home.
  fileprivate var isOfSecondHome: Bool {
    switch self {
    case .cutSecondHome, .restoreSecondHome, .partitionSecondHome, .conditionsSecondHome: true
    default: false
    }
  }
}
