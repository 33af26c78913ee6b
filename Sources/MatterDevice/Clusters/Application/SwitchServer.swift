import MatterClusters
public import MatterModel
import MatterProtocol

/// Behaviour of Switch: where the switch is, and the events that follow from how it is moved. Application Clusters § 1.13.
///
/// All there is to say to a switch is where it is now: a change of CurrentPosition, whoever makes it, is a press, a release
/// or a latch. What is long and what is a sequence follows from the node's time.
public enum SwitchServer {
  /// A press is long from here on.
  public static let longPressDelay = Duration.seconds(1)
  /// A press that begins so soon after a release continues the sequence.
  public static let multiPressDelay = Duration.milliseconds(700)

  /// - Parameters:
  ///   - features: which of the standard's combinations it is, see ``SwitchKind``.
  ///   - positions: how many positions it has; position 0 is that of a momentary switch that nobody touches.
  ///   - multiPressMax: the most presses that one sequence may have; a longer one counts as none.
  public static func make(features: [Feature], positions: UInt8 = 2, multiPressMax: UInt8 = 3) -> ClusterServer {
    var server = ClusterServer(Switch.self, features: features)
      .initial(Switch.numberOfPositions, positions)
      .limiting(Switch.currentPosition, to: Switch.numberOfPositions, isHighestExcluded: true)
      .onChange(Switch.currentPosition, moved)
      .onStart { context in
        // Nobody holds the button of a device that just got its power.
        if context.has(Switch.momentarySwitch) { context[Switch.currentPosition] = 0 }
      }
      .onTimer(longTimer, becomeLong)
      .onTimer(endTimer) { context in
        guard let sequence = context[scratch: Sequence.self], let end = sequence.endsAt, end <= context.now else {
          return
        }
        finish(&context)
      }
      .onTimer(moveTimer, nextMove)
      .hook(move) { context, moves in begin(moves, &context) }
    if features.contains(Switch.momentarySwitchMultiPress) {
      server = server.initial(Switch.multiPressMax, multiPressMax)
    }
    return server
  }

  private static let longTimer = "long", endTimer = "end", moveTimer = "move"

  /// Moves the switch as a hand would; what an earlier hand was still to do is forgotten.
  static let move = ServerHook<Switch, [SwitchMove]>("move")

  // MARK: What a hand does

  private struct Hand: Sendable {
    var moves: ArraySlice<SwitchMove>
    var next: Instant
  }

  private static func begin(_ moves: [SwitchMove], _ context: inout ServerContext) {
    context.cancel(moveTimer)
    context[scratch: Hand.self] = moves.first.map { Hand(moves: moves[...], next: context.now + $0.after) }
    nextMove(&context)
  }

  private static func nextMove(_ context: inout ServerContext) {
    while var hand = context[scratch: Hand.self] {
      guard hand.next <= context.now else {
        context.schedule(moveTimer, at: hand.next)
        return
      }
      guard let move = hand.moves.popFirst() else { break }
      // From when it was to be, so that a late timer does not make the rest later.
      if let following = hand.moves.first { hand.next = hand.next + following.after }
      context[scratch: Hand.self] = hand.moves.isEmpty ? nil : hand
      context[Switch.currentPosition] = move.position
    }
  }

  // MARK: What follows from it

  /// Presses that belong together.
  private struct Sequence: Sendable {
    /// Where the switch was last.
    var position: UInt8 = 0
    /// Where it was pressed.
    var pressed: UInt8 = 0
    var count = 0
    var isLong = false
    /// When the press that is going on becomes a long one.
    var longAt: Instant?
    /// When the sequence is over unless it goes on.
    var endsAt: Instant?
  }

  private static func moved(_ context: inout ServerContext) {
    let position = context[Switch.currentPosition]
    guard !context.has(Switch.latchingSwitch) else {
      context.emit(Switch.switchLatched, .init(newPosition: position))
      return
    }
    let before = context[scratch: Sequence.self, default: Sequence()].position
    context[scratch: Sequence.self, default: Sequence()].position = position
    if before != 0 { release(&context) }
    if position != 0 { press(position, &context) }
  }

  private static func press(_ position: UInt8, _ context: inout ServerContext) {
    // Another button of the same switch begins another sequence.
    if let sequence = context[scratch: Sequence.self], sequence.count > 0, sequence.pressed != position {
      finish(&context)
    }
    var sequence = context[scratch: Sequence.self, default: Sequence()]
    sequence.pressed = position
    sequence.count += 1
    sequence.endsAt = nil
    context.cancel(endTimer)
    let isFirst = sequence.count == 1
    let isAction = context.has(Switch.actionSwitch)
    if isFirst && context.has(Switch.momentarySwitchLongPress) {
      sequence.longAt = context.now + longPressDelay
      context.schedule(longTimer, at: context.now + longPressDelay)
    }
    context[scratch: Sequence.self] = sequence
    if isFirst || !isAction { context.emit(Switch.initialPress, .init(newPosition: position)) }
    if !isFirst && !isAction && sequence.count <= context[Switch.multiPressMax] {
      context.emit(
        Switch.multiPressOngoing,
        .init(newPosition: position, currentNumberOfPressesCounted: UInt8(clamping: sequence.count)))
    }
  }

  private static func release(_ context: inout ServerContext) {
    guard var sequence = context[scratch: Sequence.self] else { return }
    sequence.longAt = nil
    context.cancel(longTimer)
    if sequence.isLong {
      context.emit(Switch.longRelease, .init(previousPosition: sequence.pressed))
      (sequence.isLong, sequence.count) = (false, 0)
    } else {
      context.emit(Switch.shortRelease, .init(previousPosition: sequence.pressed))
      if context.has(Switch.momentarySwitchMultiPress) {
        sequence.endsAt = context.now + multiPressDelay
        context.schedule(endTimer, at: context.now + multiPressDelay)
      } else {
        sequence.count = 0
      }
    }
    context[scratch: Sequence.self] = sequence
  }

  private static func becomeLong(_ context: inout ServerContext) {
    guard var sequence = context[scratch: Sequence.self], let at = sequence.longAt, at <= context.now else { return }
    (sequence.longAt, sequence.isLong) = (nil, true)
    context[scratch: Sequence.self] = sequence
    context.emit(Switch.longPress, .init(newPosition: sequence.pressed))
  }

  /// Tells how many presses it were; more than can be told count as none.
  private static func finish(_ context: inout ServerContext) {
    guard var sequence = context[scratch: Sequence.self] else { return }
    let count = sequence.count > context[Switch.multiPressMax] ? 0 : UInt8(clamping: sequence.count)
    let pressed = sequence.pressed
    (sequence.count, sequence.endsAt) = (0, nil)
    context.cancel(endTimer)
    context[scratch: Sequence.self] = sequence
    context.emit(Switch.multiPressComplete, .init(previousPosition: pressed, totalNumberOfPressesCounted: count))
  }
}

/// The combinations of features that the standard allows for a switch, by what it can tell. Application Clusters § 1.13.4.
public enum SwitchKind: String, Hashable, Sendable, CaseIterable {
  /// Stays where it is put.
  case latching
  /// Springs back; tells only that it was pressed.
  case momentary
  /// Tells when it is let go, too.
  case release
  /// Tells long presses from short ones.
  case longPress
  /// Counts presses in quick succession.
  case multiPress
  /// Both of the above.
  case full
  /// Counts presses, and tells of the whole sequence only what it came to.
  case action

  public var features: [Feature] {
    switch self {
    case .latching: [Switch.latchingSwitch]
    case .momentary: [Switch.momentarySwitch]
    case .release: [Switch.momentarySwitch, Switch.momentarySwitchRelease]
    case .longPress: Self.release.features + [Switch.momentarySwitchLongPress]
    case .multiPress: Self.release.features + [Switch.momentarySwitchMultiPress]
    case .full: Self.longPress.features + [Switch.momentarySwitchMultiPress]
    case .action:
      [
        Switch.momentarySwitch, Switch.momentarySwitchLongPress, Switch.momentarySwitchMultiPress, Switch.actionSwitch,
      ]
    }
  }
}

/// One movement of a switch.
public struct SwitchMove: Hashable, Sendable {
  /// Where it is then.
  public var position: UInt8
  /// How long after the movement before.
  public var after: Duration

  public init(to position: UInt8, after: Duration = .zero) { (self.position, self.after) = (position, after) }

  /// Presses one after the other, each released at its end.
  /// - Parameters:
  ///   - hold: how long each is held.
  ///   - gap: from a release to the next press.
  public static func presses(
    _ count: Int = 1, at position: UInt8 = 1, hold: Duration, gap: Duration = .zero
  ) -> [SwitchMove] {
    (0..<max(0, count)).flatMap { index in
      [SwitchMove(to: position, after: index == 0 ? .zero : gap), SwitchMove(to: 0, after: hold)]
    }
  }
}
