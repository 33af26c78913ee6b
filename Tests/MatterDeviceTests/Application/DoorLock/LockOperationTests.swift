import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Operations of a door lock.
@Suite("Operations of a door lock") struct LockOperationTests {
  @Test("locks and unlocks with its latch, and takes time") func takesTime() throws {
    let node = TestNode.lock()
    try node.unlockDoor()
    #expect(node[DoorLock.lockState] == .value(.notFullyLocked))
    node.wait(10_000)
    try node.lockDoor()
    node.wait(10_000)
    try node.unboltDoor()
    node.wait(10_000)
    #expect(
      try node.takeReports(of: DoorLock.lockState).map(\.value)
        == [
          .value(.notFullyLocked), .value(.unlatched), .value(.unlocked), .value(.notFullyLocked), .value(.locked),
          .value(.notFullyLocked), .value(.unlocked),
        ])
    let operations = try node.payloads(of: DoorLock.lockOperation)
    #expect(operations.map(\.lockOperationType) == [.unlatch, .unlock, .lock, .unlock])
    #expect(operations.allSatisfy { $0.operationSource == .remote && $0.fabricIndex == .value(1) })
    #expect(operations.allSatisfy { $0.sourceNode == .value(0x1_0001) && $0.userIndex == .null })
  }

  @Test("checks PIN codes, and disables them after too many wrong ones (TC_DRLK_2_2, 2_3, 2_12)")
  func checksCodes() throws {
    let commands: [(TestNode) -> (String?) throws -> Void] = [
      { $0.lockDoor }, { $0.unlockDoor }, { $0.unboltDoor },
    ]
    for command in commands {
      let node = TestNode.lock()
      func result(_ code: String?) -> Status { status { try command(node)(code) } }
      try node.write(DoorLock.requirePINforRemoteOperation, false)
      #expect(result(nil) == .success)
      try node.setUser(1)
      try node.setCredential("123456", at: 1, user: 1)
      #expect(result("123456") == .success)
      try node.write(DoorLock.requirePINforRemoteOperation, true)
      #expect(result("654321") == Status(.failure) && result(nil) == Status(.failure))
      #expect(result("123456") == .success)
      try node.write(DoorLock.wrongCodeEntryLimit, 3)
      try node.write(DoorLock.userCodeTemporaryDisableTime, 15)
      for _ in 0..<3 { #expect(result("654321") == Status(.failure)) }
      #expect(try node.payloads(of: DoorLock.doorLockAlarm).map(\.alarmCode) == [.wrongCodeEntryLimit])
      #expect(result("123456") == Status(.failure))
      node.wait(14_999)
      #expect(result("123456") == Status(.failure))
      node.wait(1)
      #expect(result("123456") == .success)
      node.wait(10_000)
      let last = try #require(try node.payloads(of: DoorLock.lockOperation).last)
      #expect(last.userIndex == .value(1))
      #expect(last.credentials == .value([.init(credentialType: .pin, credentialIndex: 1)]))
      let errors = try node.payloads(of: DoorLock.lockOperationError)
      #expect(errors.count == 5 && errors.allSatisfy { $0.operationError == .invalidCredential })
    }
  }

  @Test func countsWrongCodesInRow() throws {
    let node = TestNode.lock()
    try node.setCredential("1234", at: 1)
    try node.write(DoorLock.wrongCodeEntryLimit, 2)
    for _ in 0..<3 {
      #expect(status { try node.lockDoor("0000") } == Status(.failure))
      try node.lockDoor("1234")
    }
    #expect(try node.payloads(of: DoorLock.doorLockAlarm).isEmpty)
    #expect(throws: StatusError.self) { try node.write(DoorLock.wrongCodeEntryLimit, 0) }
    #expect(throws: StatusError.self) { try node.write(DoorLock.userCodeTemporaryDisableTime, 0) }
  }

  @Test("locks again by itself (TC_DRLK_2_3, 2_4)") func relocks() throws {
    let node = TestNode.lock()
    try node.write(DoorLock.autoRelockTime, 60)
    try node.invoke(DoorLock.unlockWithTimeout, .init(timeout: 10))
    node.wait(9999)
    #expect(node[DoorLock.lockState] == .value(.unlocked))
    node.wait(1000)
    #expect(node[DoorLock.lockState] == .value(.locked))
    let last = try #require(try node.payloads(of: DoorLock.lockOperation).last)
    #expect(last.lockOperationType == .lock && last.operationSource == .auto && last.fabricIndex == .null)
    try node.invoke(DoorLock.unlockWithTimeout, .init(timeout: 0))
    node.wait(59_999)
    #expect(node[DoorLock.lockState] == .value(.unlocked))
    node.wait(501)
    #expect(node[DoorLock.lockState] == .value(.locked))
    // A key and a lock command end the wait.
    node.act(DoorLock.lockState, .value(.unlocked))
    try node.lockDoor()
    node.wait(60_501)
    #expect(try node.operations().suffix(2) == [.unlock, .lock])
    try node.write(DoorLock.operatingMode, .passage)
    try node.unlockDoor()
    node.wait(100_000)
    #expect(node[DoorLock.lockState] == .value(.unlocked), "passage")
  }

  @Test func waitsForDoorBeforeLocking() throws {
    let node = TestNode.lock()
    try node.write(DoorLock.autoRelockTime, 10)
    try node.unlockDoor()
    node.wait(5000)
    node.act(DoorLock.doorState, .value(.doorOpen))
    node.wait(60_000)
    #expect(node[DoorLock.lockState] == .value(.unlocked))
    node.act(DoorLock.doorState, .value(.doorClosed))
    node.wait(500)
    #expect(node[DoorLock.lockState] == .value(.locked))
  }

  @Test func reportsJam() throws {
    let node = TestNode.lock()
    try node.move("bolt", "blocked")
    try node.unlockDoor()
    node.wait(10_000)
    #expect(node[DoorLock.lockState] == .value(.notFullyLocked))
    #expect(try node.payloads(of: DoorLock.doorLockAlarm).map(\.alarmCode) == [.lockJammed])
    let error = try #require(try node.payloads(of: DoorLock.lockOperationError).first)
    #expect(error.lockOperationType == .unlock && error.operationSource == .remote)
    let again = TestNode.lock(stored: node.stored)
    try again.lockDoor()
    again.wait(1000)
    #expect(again[DoorLock.lockState] == .value(.notFullyLocked), "it is blocked without power as well")
    try again.move("bolt", "free")
    try again.lockDoor()
    again.wait(1000)
    #expect(again[DoorLock.lockState] == .value(.locked))
  }

  @Test func followsKeyAndButton() throws {
    let node = TestNode.lock()
    node.act(DoorLock.lockState, .value(.unlatched))
    #expect(node[DoorLock.lockState] == .value(.unlatched))
    node.wait(3000)
    #expect(node[DoorLock.lockState] == .value(.unlocked))
    node.act(DoorLock.lockState, .value(.notFullyLocked))
    #expect(node[DoorLock.lockState] == .value(.notFullyLocked))
    node.act(DoorLock.lockState, .null)
    #expect(node[DoorLock.lockState] == .null)
    try node.move("button", "pressed")
    node.wait(1000)
    let operations = try node.payloads(of: DoorLock.lockOperation)
    #expect(operations.map(\.lockOperationType) == [.unlatch, .unlock, .lock])
    #expect(operations.map(\.operationSource) == [.manual, .manual, .button])
    node.act(DoorLock.lockState, .value(.unlocked))
    try node.write(DoorLock.enableOneTouchLocking, false)
    #expect(status { try node.move("button", "pressed") } == Status(.invalidInState))
    node.wait(1000)
    #expect(node[DoorLock.lockState] == .value(.unlocked))
  }

  @Test func takesCodesAtDoor() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    try node.setCredential("1234", at: 1, user: 1)
    try node.setCredential("\u{1}\u{2}\u{3}\u{4}", at: 2, .rfid, user: 1)
    try node.move("keypad", "1234")
    node.wait(10_000)
    try node.move("button", "pressed")
    node.wait(1000)
    try node.move("reader", "01020304")
    node.wait(10_000)
    let operations = try node.payloads(of: DoorLock.lockOperation)
    #expect(operations.map(\.lockOperationType) == [.unlatch, .unlock, .lock, .unlatch, .unlock])
    #expect(operations.map(\.operationSource) == [.keypad, .keypad, .button, .rfid, .rfid])
    #expect(operations.last?.credentials == .value([.init(credentialType: .rfid, credentialIndex: 2)]))
    for (part, text) in [
      ("keypad", ""), ("keypad", "12a4"), ("reader", "123"), ("reader", "xx"), ("reader", "+1+2"), ("bolt", "bent"),
    ] {
      let refused = status { try node.move(part, text) }
      #expect(refused == Status(.constraintError), "\(part) \(text)")
    }
    try node.write(DoorLock.wrongCodeEntryLimit, 1)
    try node.move("keypad", "4321")
    #expect(try node.payloads(of: DoorLock.doorLockAlarm).map(\.alarmCode) == [.wrongCodeEntryLimit])
    try node.move("keypad", "1234")
    #expect(try node.operations().count == 5, "the keypad is disabled")
    let error = try #require(try node.payloads(of: DoorLock.lockOperationError).last)
    #expect(error.operationSource == .keypad && error.operationError == .invalidCredential)
    node.wait(60_000)
    try node.write(DoorLock.operatingMode, .vacation)
    try node.move("keypad", "1234")
    node.wait(10_000)
    #expect(try node.operations().count == 5, "vacation")
  }

  @Test func obeysModeAndActuator() throws {
    let node = TestNode.lock()
    for mode in [.privacy, .noRemoteLockUnlock] as [DoorLock.OperatingMode] {
      try node.write(DoorLock.operatingMode, mode)
      #expect(status { try node.lockDoor() } == Status(.failure))
    }
    #expect(throws: StatusError.self) { try node.write(DoorLock.operatingMode, .init(5)) }
    #expect(throws: StatusError(.constraintError)) { try node.press(DoorLock.operatingMode, .init(5)) }
    try node.write(DoorLock.operatingMode, .vacation)
    try node.lockDoor()
    node.act(DoorLock.actuatorEnabled, false)
    #expect(status { try node.lockDoor() } == Status(.failure))
  }

  @Test func limitsAccessByTypeOfUser() throws {
    let node = TestNode.lock()
    node.setClock(800_000_000)
    let types: [DoorLock.UserType] = [.nonAccessUser, .forcedUser, .disposableUser, .expiringUser, .remoteOnlyUser]
    for (index, type) in types.enumerated() {
      try node.setCredential("000\(index)", at: UInt16(index + 1), userType: type)
    }
    try node.move("keypad", "0000")
    #expect(try node.operations() == [.nonAccessUserEvent])
    try node.move("keypad", "0001")
    node.wait(10_000)
    #expect(try node.payloads(of: DoorLock.doorLockAlarm).map(\.alarmCode) == [.forcedUser])
    try node.move("keypad", "0002")
    node.wait(10_000)
    #expect(try node.user(3).userStatus == .value(.occupiedDisabled))
    #expect(status { try node.lockDoor("0002") } == Status(.failure))
    #expect(try node.payloads(of: DoorLock.lockOperationError).last?.operationError == .disabledUserDenied)
    try node.write(DoorLock.expiringUserTimeout, 2)
    try node.move("keypad", "0003")
    node.wait(119_000)
    try node.lockDoor("0003")
    node.wait(1000)
    #expect(status { try node.lockDoor("0003") } == Status(.failure))
    #expect(try node.user(4).userStatus == .value(.occupiedDisabled))
    try node.move("keypad", "0004")
    #expect(try node.payloads(of: DoorLock.lockOperationError).last?.operationError == .restricted)
    try node.lockDoor("0004")
  }

  @Test func watchesDoor() throws {
    let node = TestNode.lock()
    node.act(DoorLock.doorState, .value(.doorOpen))
    #expect(node[DoorLock.doorState] == .value(.doorForcedOpen), "it was locked")
    node.act(DoorLock.doorState, .value(.doorClosed))
    node.act(DoorLock.lockState, .value(.unlocked))
    node.act(DoorLock.doorState, .value(.doorOpen))
    node.act(DoorLock.doorState, .value(.doorAjar))
    #expect(node[DoorLock.doorOpenEvents] == 2 && node[DoorLock.doorClosedEvents] == 1)
    #expect(try node.payloads(of: DoorLock.doorLockAlarm).map(\.alarmCode) == [.doorForcedOpen, .doorAjar])
    #expect(
      try node.payloads(of: DoorLock.doorStateChange).map(\.doorState)
        == [.doorForcedOpen, .doorClosed, .doorOpen, .doorAjar])
  }

  @Test func requiresTimedInvoke() throws {
    let lock = EndpointDefinition(1, deviceTypes: [DeviceTypes.doorLock], servers: [DoorLockServer.make()])
    var lab = try Lab(endpoints: [lock])
    try lab.addAdministrator()
    let session = try lab.commission()
    for command in [DoorLock.lockDoor.path(on: 1), DoorLock.unlockDoor.path(on: 1), DoorLock.setUser.path(on: 1)] {
      let answers = try lab.sendRequest(InvokeRequest([CommandData(command)]), on: session)
      let response = try InvokeResponse(decoding: #require(answers.first).bytes)
      #expect(
        response.responses == [.status(CommandStatus(command, status: Status(.needsTimedInteraction)))], "\(command)")
    }
    let path = DoorLock.unlockDoor.path(on: 1)
    var answers = try lab.sendRequest(TimedRequest(timeoutMilliseconds: 500), on: session)
    let exchange = try #require(answers.first?.exchange)
    answers = try lab.sendRequest(InvokeRequest([CommandData(path)], isTimed: true), on: exchange)
    let response = try InvokeResponse(decoding: #require(answers.first).bytes)
    #expect(response.responses == [.status(CommandStatus(path, status: .success))])
  }
}
