import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// The operations of a door lock: by command, at the keypad, by hand, and of the lock itself.
/// Application Clusters § 5.2.10.1 to § 5.2.10.3 and § 5.2.10.41.
enum LockOperations {
  /// An operation and its cause, for the events.
  private struct Operation: Sendable {
    var target: LockMechanism.Position
    var source: DoorLock.OperationSource
    var holder: LockAccess.Holder?
    var subject: Subject?

    /// The type in an error: an unlock includes pulling the latch.
    var type: DoorLock.LockOperationType { target == .locked ? .lock : .unlock }
    var fabric: Nullable<FabricIndex> { subject?.fabric.nullable ?? .null }
    var node: Nullable<NodeID> { Nullable(subject?.node) }
    var credentials: Nullable<[DoorLock.CredentialStruct]> { Nullable(holder.map { [$0.credential] }) }
  }

  /// The state that a restart discards.
  private struct Activity: Sendable {
    var mechanism = LockMechanism(.between)
    /// The last operation, which caused the motion in progress.
    var operation: Operation?
    /// The number of wrong codes in a row.
    var wrongCodes = 0
    /// The end of the time without codes after too many wrong ones.
    var disabledUntil: Instant?
    /// Whether the lock locks as soon as the door is closed.
    var waitsForDoor = false
  }

  private static let blockedKey = "blocked"

  static func add(to server: ClusterServer) -> ClusterServer {
    server
      .on(DoorLock.lockDoor) { context, request throws(StatusError) in
        try operate(.locked, code: request.pinCode, &context)
      }
      .on(DoorLock.unlockDoor) { context, request throws(StatusError) in
        try operate(.unlatched, code: request.pinCode, &context)
      }
      .on(DoorLock.unboltDoor) { context, request throws(StatusError) in
        try operate(.unlocked, code: request.pinCode, &context)
      }
      .on(DoorLock.unlockWithTimeout) { context, request throws(StatusError) in
        try operate(.unlatched, code: request.pinCode, relock: request.timeout, &context)
      }
      .onAct(DoorLock.lockState, turn)
      .onAct(DoorLock.doorState, moveDoor)
      .onPart("keypad", [], expected: "a code of digits") { context, code throws(StatusError) in
        guard !code.isEmpty, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
          throw StatusError(.constraintError)
        }
        present(.pin, OctetString(Array(code.utf8)), .keypad, &context)
      }
      .onPart("reader", [], expected: "a code in hexadecimal digits") { context, code throws(StatusError) in
        guard let code = [UInt8](hexadecimalDigits: code), !code.isEmpty else { throw StatusError(.constraintError) }
        present(.rfid, OctetString(code), .rfid, &context)
      }
      .onPart("button", ["pressed"]) { context, _ throws(StatusError) in
        guard context[DoorLock.enableOneTouchLocking] else { throw StatusError(.invalidInState) }
        perform(Operation(target: .locked, source: .button), &context)
      }
      .onPart("bolt", ["free", "blocked"]) { context, state throws(StatusError) in block(state == "blocked", &context) }
      .onTimer(.tick) { context in settle(&context) }
      .onTimer(.relock) { context in relock(&context) }
      .onChange(DoorLock.doorState, doorMoved)
      .onStart(start)
  }

  private static func start(_ context: inout ServerContext) {
    let position: LockMechanism.Position =
      switch context[DoorLock.lockState].wrapped {
      case .locked: .locked
      case .unlocked: .unlocked
      // The latch is released without power.
      case .unlatched: .unlocked
      default: .between
      }
    var activity = Activity(mechanism: LockMechanism(position))
    activity.mechanism.isBlocked = context[stored: blockedKey] != nil
    context[scratch: Activity.self] = activity
    if position == .unlocked {
      context[DoorLock.lockState] = .value(.unlocked)
      scheduleRelock(nil, &context)
    }
    LockSchedules.updateMode(&context)
  }

  // MARK: By command

  /// - Parameters:
  ///   - code: The PIN code of the command.
  ///   - relock: Seconds until the lock locks again; nil or zero for AutoRelockTime.
  private static func operate(
    _ target: LockMechanism.Position, code: OctetString?, relock: UInt16? = nil, _ context: inout ServerContext
  ) throws(StatusError) {
    LockSchedules.updateMode(&context)
    var operation = Operation(target: target, source: .remote, subject: context.subject)
    func refuse(_ error: DoorLock.OperationError) -> StatusError {
      emit(error, of: operation, &context)
      return StatusError(.failure)
    }
    guard context[DoorLock.actuatorEnabled] else { throw refuse(.unspecified) }
    guard ![.privacy, .noRemoteLockUnlock].contains(context[DoorLock.operatingMode]) else { throw refuse(.restricted) }
    // After too many wrong codes the lock ignores all attempts, also those without a code, without an event (§ 5.2.10.1).
    guard !isDisabled(&context) else { throw StatusError(.failure) }
    if let code {
      switch LockAccess.decide(.pin, code, isRemote: true, &context) {
      case .granted(let holder): operation.holder = holder
      case .noAccess(let holder):
        operation.holder = holder
        emit(.nonAccessUserEvent, of: operation, &context)
        throw StatusError(.failure)
      case .refused(let error, let holder):
        operation.holder = holder
        if error == .invalidCredential { countWrongCode(&context) }
        throw refuse(error)
      }
      context[scratch: Activity.self, default: Activity()].wrongCodes = 0
    } else if context[DoorLock.requirePINforRemoteOperation] {
      throw refuse(.invalidCredential)
    }
    perform(operation, relock: relock, &context)
  }

  // MARK: At the lock

  /// Presents a credential at the lock, which unlocks.
  private static func present(
    _ type: DoorLock.CredentialType, _ code: OctetString, _ source: DoorLock.OperationSource,
    _ context: inout ServerContext
  ) {
    LockSchedules.updateMode(&context)
    guard ![.vacation, .privacy].contains(context[DoorLock.operatingMode]), !isDisabled(&context) else {
      return context.report(.note("the lock accepts no codes now"))
    }
    var operation = Operation(target: .unlatched, source: source)
    switch LockAccess.decide(type, code, isRemote: false, &context) {
    case .granted(let holder):
      operation.holder = holder
      context[scratch: Activity.self, default: Activity()].wrongCodes = 0
      perform(operation, &context)
    case .noAccess(let holder):
      operation.holder = holder
      emit(.nonAccessUserEvent, of: operation, &context)
    case .refused(let error, let holder):
      operation.holder = holder
      emit(error, of: operation, &context)
      if error == .invalidCredential { countWrongCode(&context) }
    }
  }

  /// Turns the bolt by hand, with a key or the knob inside.
  private static func turn(_ context: inout ServerContext, _ state: Nullable<DoorLock.LockState>) {
    let target: LockMechanism.Position? =
      switch state.wrapped {
      case .locked: .locked
      case .unlocked: .unlocked
      case .unlatched: .unlatched
      default: nil
      }
    let operation = Operation(target: target ?? .between, source: .manual)
    var activity = context[scratch: Activity.self, default: Activity()]
    activity.operation = operation
    activity.mechanism.turn(to: operation.target, at: context.now)
    begin(activity, relock: nil, &context)
    if state == .null { context[DoorLock.lockState] = .null }
  }

  /// Keeps the motor from moving the bolt, or ends that.
  private static func block(_ isBlocked: Bool, _ context: inout ServerContext) {
    context[stored: blockedKey] = isBlocked ? [] : nil
    context[scratch: Activity.self, default: Activity()].mechanism.isBlocked = isBlocked
  }

  // MARK: Codes

  private static func isDisabled(_ context: inout ServerContext) -> Bool {
    context[scratch: Activity.self]?.disabledUntil.map { context.now < $0 } ?? false
  }

  /// Counts a wrong code. At the limit, the lock accepts none for some time.
  private static func countWrongCode(_ context: inout ServerContext) {
    var activity = context[scratch: Activity.self, default: Activity()]
    activity.wrongCodes += 1
    if activity.wrongCodes >= Int(context[DoorLock.wrongCodeEntryLimit]) {
      activity.wrongCodes = 0
      activity.disabledUntil = context.now + .seconds(Int64(context[DoorLock.userCodeTemporaryDisableTime]))
      context.emit(DoorLock.doorLockAlarm, .init(alarmCode: .wrongCodeEntryLimit))
    }
    context[scratch: Activity.self] = activity
  }

  // MARK: The mechanism

  /// Starts the motor for an operation. It replaces an operation in progress, which then has no event.
  private static func perform(_ operation: Operation, relock: UInt16? = nil, _ context: inout ServerContext) {
    var activity = context[scratch: Activity.self, default: Activity()]
    activity.operation = operation
    activity.mechanism.drive(to: operation.target, at: context.now)
    begin(activity, relock: relock, &context)
  }

  private static func begin(_ activity: Activity, relock: UInt16?, _ context: inout ServerContext) {
    var activity = activity
    activity.waitsForDoor = false
    context[scratch: Activity.self] = activity
    let opens = [.unlocked, .unlatched].contains(activity.operation?.target)
    if opens { scheduleRelock(relock, &context) } else { context.cancel(.relock) }
    if opens, let holder = activity.operation?.holder { LockAccess.noteUse(of: holder.user, &context) }
    settle(&context)
  }

  /// Advances the mechanism, and reports the states that it reached.
  private static func settle(_ context: inout ServerContext) {
    guard var activity = context[scratch: Activity.self] else { return }
    while let outcome = activity.mechanism.advance(to: context.now) {
      show(activity.mechanism.position, &context)
      guard let operation = activity.operation else { continue }
      switch outcome {
      case .reached(.locked): emit(.lock, of: operation, &context)
      case .reached(.unlocked): emit(.unlock, of: operation, &context)
      case .reached(.unlatched): emit(.unlatch, of: operation, &context)
      case .reached(.between): break
      case .jammed:
        context.cancel(.relock)
        context.emit(DoorLock.doorLockAlarm, .init(alarmCode: .lockJammed))
        emit(.unspecified, of: operation, &context)
      }
    }
    show(activity.mechanism.position, &context)
    context[scratch: Activity.self] = activity
    if let next = activity.mechanism.nextOutcome { context.schedule(.tick, at: next) } else { context.cancel(.tick) }
  }

  private static func show(_ position: LockMechanism.Position, _ context: inout ServerContext) {
    context[DoorLock.lockState] =
      switch position {
      case .locked: .value(.locked)
      case .unlocked: .value(.unlocked)
      case .unlatched: .value(.unlatched)
      case .between: .value(.notFullyLocked)
      }
  }

  // MARK: Locking again

  private static func scheduleRelock(_ seconds: UInt16?, _ context: inout ServerContext) {
    var seconds = UInt32(seconds ?? 0)
    if seconds == 0 { seconds = context[DoorLock.autoRelockTime] }
    context.cancel(.relock)
    if seconds > 0 { context.schedule(.relock, at: context.now + .seconds(Int64(seconds))) }
  }

  private static func relock(_ context: inout ServerContext) {
    LockSchedules.updateMode(&context)
    guard context[DoorLock.operatingMode] != .passage else { return }
    if context[DoorLock.doorState].wrapped ?? .doorClosed == .doorClosed {
      perform(Operation(target: .locked, source: .auto), &context)
    } else {
      context[scratch: Activity.self, default: Activity()].waitsForDoor = true
    }
  }

  // MARK: The door

  /// Moves the door by hand. A door that opens while it is locked was forced.
  private static func moveDoor(_ context: inout ServerContext, _ state: Nullable<DoorLock.DoorState>) {
    let isForced = state.wrapped == .doorOpen && context[DoorLock.lockState].wrapped == .locked
    context[DoorLock.doorState] = isForced ? .value(.doorForcedOpen) : state
  }

  private static func doorMoved(_ context: inout ServerContext) {
    guard let state = context[DoorLock.doorState].wrapped else { return }
    context.emit(DoorLock.doorStateChange, .init(doorState: state))
    switch state {
    case .doorOpen: context[DoorLock.doorOpenEvents] = context[DoorLock.doorOpenEvents].saturatingAdd(1)
    case .doorForcedOpen:
      context[DoorLock.doorOpenEvents] = context[DoorLock.doorOpenEvents].saturatingAdd(1)
      context.emit(DoorLock.doorLockAlarm, .init(alarmCode: .doorForcedOpen))
    case .doorAjar: context.emit(DoorLock.doorLockAlarm, .init(alarmCode: .doorAjar))
    case .doorClosed:
      context[DoorLock.doorClosedEvents] = context[DoorLock.doorClosedEvents].saturatingAdd(1)
      if context[scratch: Activity.self]?.waitsForDoor == true { relock(&context) }
    default: break
    }
  }

  // MARK: Events

  private static func emit(
    _ type: DoorLock.LockOperationType, of operation: Operation, _ context: inout ServerContext
  ) {
    context.emit(
      DoorLock.lockOperation,
      .init(
        lockOperationType: type, operationSource: operation.source, userIndex: Nullable(operation.holder?.user),
        fabricIndex: operation.fabric, sourceNode: operation.node, credentials: operation.credentials))
  }

  private static func emit(
    _ error: DoorLock.OperationError, of operation: Operation, _ context: inout ServerContext
  ) {
    context.emit(
      DoorLock.lockOperationError,
      .init(
        lockOperationType: operation.type, operationSource: operation.source, operationError: error,
        userIndex: Nullable(operation.holder?.user), fabricIndex: operation.fabric, sourceNode: operation.node,
        credentials: operation.credentials))
  }
}
