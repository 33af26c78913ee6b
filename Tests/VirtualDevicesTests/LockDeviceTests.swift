import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Door locks of definition files, in virtual time.
@Suite("Door locks of definition files") struct LockDeviceTests {
  private func definition(_ attributes: String) -> String {
    "devices:\n  - name: Door\n    type: lock\n    attributes: { \(attributes) }\n"
  }

  private func engine(_ text: String, stored: StoredState = [:]) throws -> DeviceEngine {
    let device = try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
    return try DeviceEngine(device, stored: stored)
  }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test("starts with the values of its definition, and locks again") func relocks() throws {
    var lock = try engine(definition("doorLock.lockState: Unlocked, doorLock.autoRelockTime: 30"))
    #expect(lock.value(DoorLock.lockState, on: 1) == .value(.unlocked))
    lock.advance(to: at(30_000))
    #expect(lock.value(DoorLock.lockState, on: 1) == .value(.notFullyLocked))
    lock.advance(to: at(30_500))
    #expect(lock.value(DoorLock.lockState, on: 1) == .value(.locked))
  }

  @Test("moves parts of the lock, and keeps a jam after a restart") func movesParts() throws {
    var lock = try engine(definition("doorLock.lockState: Unlocked"))
    #expect(lock.parts(on: 1).map(\.name) == ["bolt", "button", "keypad", "reader"])
    try lock.act(part: "bolt", "blocked", on: 1, at: at(0))
    try lock.act(part: "button", "pressed", on: 1, at: at(0))
    lock.advance(to: at(500))
    #expect(lock.value(DoorLock.lockState, on: 1) == .value(.notFullyLocked))
    var stored: StoredState = [:]
    while let effect = lock.nextEffect() {
      if case .store(let changes) = effect { for change in changes { stored[change.key] = change.value } }
    }
    var again = try engine(definition("doorLock.lockState: Unlocked"), stored: stored)
    #expect(again.value(DoorLock.lockState, on: 1) == .value(.notFullyLocked))
    try again.act(part: "button", "pressed", on: 1, at: at(0))
    again.advance(to: at(1000))
    #expect(again.value(DoorLock.lockState, on: 1) == .value(.notFullyLocked))
    try again.act(set: DoorLock.lockState, .value(.locked), on: 1, at: at(1000))
    #expect(again.value(DoorLock.lockState, on: 1) == .value(.locked), "a key turns it")
    for (part, text) in [("keypad", "12a4"), ("bolt", "bent"), ("hinge", "open")] {
      #expect(throws: StatusError.self, "\(part)") { try again.act(part: part, text, on: 1, at: at(2000)) }
    }
  }

  @Test(
    "rejects values that a lock can't have",
    arguments: [
      ("doorLock.lockState: Ajar", "NotFullyLocked (0), Locked (1), Unlocked (2) or Unlatched (3)"),
      ("doorLock.wrongCodeEntryLimit: 0", "a number from 1 to 255"),
      ("doorLock.aliroReaderVerificationKey: null", "with which the cluster conforms"),
    ])
  func rejectsValues(attributes: String, expected: String) {
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(simulating: [("home.yaml", definition(attributes))])
    }
    #expect(error?.problems.first?.mark.line == 4)
    #expect(error?.problems.first?.expected.contains(expected) == true, "\(error?.problems ?? [])")
  }
}
