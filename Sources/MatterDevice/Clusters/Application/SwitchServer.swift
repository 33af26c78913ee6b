import MatterClusters
public import MatterModel
import MatterProtocol

/// The Switch server: derives the events from changes of CurrentPosition. Application Clusters § 1.13.
///
/// Each change of CurrentPosition, whatever its source, is a press, a release or a latch. Long presses and sequences
/// follow from the engine's clock.
public enum SwitchServer {
  /// The duration from which a press is long.
  static let longPressDelay = Duration.seconds(1)
  /// The maximum time between a release and the next press of the same sequence.
  static let multiPressDelay = Duration.milliseconds(700)

  /// Returns the server.
  /// - Parameters:
  ///   - features: One of the standard's combinations, see ``SwitchKind``.
  ///   - positions: The number of positions. Position 0 is the rest position of a momentary switch.
  ///   - multiPressMax: The maximum number of presses in a sequence; a longer one is reported with a count of 0.
  public static func make(features: [Feature], positions: UInt8 = 2, multiPressMax: UInt8 = 3) -> ClusterServer {
    var server = ClusterServer(Switch.self, features: features)
      .initial(Switch.numberOfPositions, positions)
      .limiting(Switch.currentPosition, to: Switch.numberOfPositions, isHighestExcluded: true)
      .onChange(Switch.currentPosition, moved)
      .onStart { context in
        // After a power-up the button counts as released.
        if context.has(Switch.momentarySwitch) { context[Switch.currentPosition] = 0 }
      }
      .onTimer(.longPress, becomeLong)
      .onTimer(.multiPressEnd) { context in
        guard let sequence = context[scratch: Sequence.self], let end = sequence.endsAt, end <= context.now else {
          return
        }
        finish(&context)
      }
      .onTimer(.queuedAction, nextMove)
      .hook(move) { context, moves in begin(moves, &context) }
    if features.contains(Switch.momentarySwitchMultiPress) {
      server = server.initial(Switch.multiPressMax, multiPressMax)
    }
    return server
  }

  /// Moves the switch, as a user would. Moves still queued from an earlier call are canceled.
  static let move = ServerHook<Switch, [SwitchMove]>("move")

  // MARK: Queued moves

  private struct MoveQueue: Sendable {
    var moves: ArraySlice<SwitchMove>
    var next: Instant
  }

  private static func begin(_ moves: [SwitchMove], _ context: inout ServerContext) {
    context.cancel(.queuedAction)
    context[scratch: MoveQueue.self] = moves.first.map { MoveQueue(moves: moves[...], next: context.now + $0.after) }
    nextMove(&context)
  }

  private static func nextMove(_ context: inout ServerContext) {
    while var queue = context[scratch: MoveQueue.self] {
      guard queue.next <= context.now else {
        context.schedule(.queuedAction, at: queue.next)
        return
      }
      guard let move = queue.moves.popFirst() else { break }
      // Relative to the due time, so that late timers do not delay the rest.
      if let following = queue.moves.first { queue.next = queue.next + following.after }
      context[scratch: MoveQueue.self] = queue.moves.isEmpty ? nil : queue
      context[Switch.currentPosition] = move.position
    }
  }

  // MARK: Events

  /// The state of a sequence of presses.
  private struct Sequence: Sendable {
    /// The current position.
    var position: UInt8 = 0
    /// The position of the last press.
    var pressed: UInt8 = 0
    var count = 0
    var isLong = false
    /// When the current press becomes a long one.
    var longAt: Instant?
    /// When the sequence ends unless another press follows.
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
    // A press at another position starts a new sequence.
    if let sequence = context[scratch: Sequence.self], sequence.count > 0, sequence.pressed != position {
      finish(&context)
    }
    var sequence = context[scratch: Sequence.self, default: Sequence()]
    sequence.pressed = position
    sequence.count += 1
    sequence.endsAt = nil
    context.cancel(.multiPressEnd)
    let isFirst = sequence.count == 1
    let isAction = context.has(Switch.actionSwitch)
    if isFirst && context.has(Switch.momentarySwitchLongPress) {
      sequence.longAt = context.now + longPressDelay
      context.schedule(.longPress, at: context.now + longPressDelay)
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
    context.cancel(.longPress)
    if sequence.isLong {
      context.emit(Switch.longRelease, .init(previousPosition: sequence.pressed))
      (sequence.isLong, sequence.count) = (false, 0)
    } else {
      context.emit(Switch.shortRelease, .init(previousPosition: sequence.pressed))
      if context.has(Switch.momentarySwitchMultiPress) {
        sequence.endsAt = context.now + multiPressDelay
        context.schedule(.multiPressEnd, at: context.now + multiPressDelay)
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

  /// Ends the sequence and reports its number of presses, 0 for more than MultiPressMax.
  private static func finish(_ context: inout ServerContext) {
    guard var sequence = context[scratch: Sequence.self] else { return }
    let count = sequence.count > context[Switch.multiPressMax] ? 0 : UInt8(clamping: sequence.count)
    let pressed = sequence.pressed
    (sequence.count, sequence.endsAt) = (0, nil)
    context.cancel(.multiPressEnd)
    context[scratch: Sequence.self] = sequence
    context.emit(Switch.multiPressComplete, .init(previousPosition: pressed, totalNumberOfPressesCounted: count))
  }
}

/// The feature combinations that the standard allows for a switch. Application Clusters § 1.13.4.
public enum SwitchKind: String, Hashable, Sendable, CaseIterable {
  /// Stays in its position.
  case latching
  /// Springs back; reports only presses.
  case momentary
  /// Also reports releases.
  case release
  /// Distinguishes long and short presses.
  case longPress
  /// Counts presses in quick succession.
  case multiPress
  /// Combines `longPress` and `multiPress`.
  case full
  /// Counts presses, and reports only the result of a sequence.
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

/// A move of a switch to a position.
public struct SwitchMove: Hashable, Sendable {
  /// The position after the move.
  public var position: UInt8
  /// The delay after the previous move.
  public var after: Duration

  public init(to position: UInt8, after: Duration = .zero) { (self.position, self.after) = (position, after) }

  /// Returns the moves of consecutive presses, each released at its end.
  /// - Parameters:
  ///   - hold: The duration of each press.
  ///   - gap: The time from a release to the next press.
  public static func presses(
    _ count: Int = 1, at position: UInt8 = 1, hold: Duration, gap: Duration = .zero
  ) -> [SwitchMove] {
    (0..<max(0, count)).flatMap { index in
      [SwitchMove(to: position, after: index == 0 ? .zero : gap), SwitchMove(to: 0, after: hold)]
    }
  }
}
