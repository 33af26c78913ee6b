import Foundation
import MatterModel
import Testing

@testable import Home

/// A directory that is gone when the test is over.
final class ScratchDirectory {
  let state: StateDirectory

  init() {
    state = StateDirectory(FileManager.default.temporaryDirectory.path + "/hearth-test-" + UUID().uuidString)
  }

  deinit { try? FileManager.default.removeItem(atPath: state.root) }
}

@Suite("Names and rooms") struct RegistryTests {
  @Test func aNameThatIsTakenGetsANumber() throws {
    var registry = try Samples.registry()
    #expect(try registry.put(Samples.light(20, "lamp", room: "kitchen")).name == "lamp 2")
    #expect(registry.device(20)?.room == "Kitchen")
    #expect(try registry.put(Samples.light(21, "Lamp")).name == "Lamp")
  }

  @Test func renamingKeepsNamesApart() throws {
    var registry = try Samples.registry()
    #expect(failure { () throws(HomeError) in try registry.rename(1, to: "LAMP") }?.code == .badArguments)
    #expect(try registry.rename(1, to: " Spot ").name == "Spot")
    #expect(try registry.rename(1, to: "SPOT").name == "SPOT")
    #expect(failure { () throws(HomeError) in try registry.rename(99, to: "x") }?.code == .notFound)
  }

  @Test(arguments: ["", "  ", "a/b", "*", "a\nb", String(repeating: "x", count: 61)])
  func refusesNames(_ name: String) throws {
    var registry = try Samples.registry()
    #expect(failure { () throws(HomeError) in try registry.rename(1, to: name) }?.code == .badArguments)
  }

  @Test func roomsComeAndGo() throws {
    var registry = try Samples.registry()
    #expect(registry.rooms == ["Kitchen", "Bedroom", "Attic"])
    #expect(try registry.addRoom("Hall") == "Hall")
    #expect(failure { () throws(HomeError) in _ = try registry.addRoom("hall") }?.code == .badArguments)
    #expect(try registry.assign(1, to: "HALL").room == "Hall")
    #expect(try registry.renameRoom("hall", to: "Entrance") == "Entrance")
    #expect(registry.device(1)?.room == "Entrance")
    #expect(try registry.removeRoom("entrance") == "Entrance")
    #expect(registry.device(1)?.room == nil)
    #expect(failure { () throws(HomeError) in try registry.assign(2, to: "Kichen") }?.candidates == ["Kitchen"])
    // Two lamps can't be in one room.
    #expect(failure { () throws(HomeError) in try registry.assign(3, to: "Kitchen") }?.code == .badArguments)
  }

  @Test func survivesARoundTrip() throws {
    let scratch = ScratchDirectory()
    let store = HomeStore(scratch.state)
    #expect(try store.load() == HomeRegistry())
    var registry = try Samples.registry()
    var device = Samples.light(0xFFFF_FFEF_FFFF_FFFF, "Últimø “1”", room: "Kitchen")
    device.vendorID = 0xFFF1
    device.productID = 0x8001
    device.vendorName = "Hearth"
    device.uniqueID = "abc"
    try registry.put(device)
    try store.save(registry)
    #expect(try store.load() == registry)
  }

  @Test func aBrokenFileIsAnError() throws {
    let scratch = ScratchDirectory()
    try Files.replace(scratch.state.home + "/home.json", with: Data("{\"version\":1".utf8))
    let error = failure { () throws(HomeError) in _ = try HomeStore(scratch.state).load() }
    #expect(error?.code == .internalError)
    #expect(error?.message.contains("home.json") == true)
  }

  @Test func oneAtATimeMayChangeAHome() async throws {
    let scratch = ScratchDirectory()
    let first = try await HomeLock.acquire(scratch.state)
    do {
      let second = try await HomeLock.acquire(scratch.state, patience: .milliseconds(120))
      _ = consume second
      Issue.record("two have the lock")
    } catch {
      #expect(error.message.contains("another hearth"))
    }
    _ = consume first
    let third = try await HomeLock.acquire(scratch.state, patience: .zero)
    _ = consume third
  }
}

@Suite("Last values") struct LastValuesTests {
  @Test func writersOfDifferentDevicesDontLoseEachOther() {
    let scratch = ScratchDirectory()
    var one = LastValues(scratch.state)
    var other = LastValues(scratch.state)
    one[1].lastContact = 1_700_000_000_000
    one[1].isOnline = true
    one[1].values[.init(1, 0x06, 0)] = [0x09]
    other[2].isOnline = false
    other[2].reason = "no answer"
    one.save()
    other.save()
    let both = LastValues(scratch.state)
    #expect(both[1] == one[1])
    #expect(both[2] == other[2])
    #expect(both[3] == LastValues.Device())
  }

  @Test func stateSaysWhatADeviceDoes() {
    func text(_ values: [ConcreteAttributePath: [UInt8]]) -> String { DeviceState(values).text }
    #expect(text([.init(1, 6, 0): [0x09], .init(1, 8, 0): [0x04, 102]]) == "on 40%")
    #expect(text([.init(1, 6, 0): [0x08], .init(1, 8, 0): [0x04, 102]]) == "off")
    #expect(text([.init(2, 6, 0): [0x08], .init(1, 6, 0): [0x09]]) == "on, off")
    #expect(text([.init(1, 6, 0): [0x09], .init(1, 8, 0): [0x14]]) == "on")
    #expect(text([:]) == "")
  }

  @Test func percentIsRoundedButNeverToNothing() {
    #expect([0, 1, 2, 102, 127, 253, 254, 255].map { HomeUnits.percent($0) } == [0, 1, 1, 40, 50, 100, 100, 100])
  }
}

@Suite("State directory") struct StateDirectoryTests {
  @Test func comesFromTheEnvironment() throws {
    #expect(try StateDirectory.standard(environment: ["XDG_STATE_HOME": "/x", "HOME": "/h"]).root == "/x/hearth")
    #expect(
      try StateDirectory.standard(environment: ["XDG_STATE_HOME": "x", "HOME": "/h"]).root == "/h/.local/state/hearth")
    #expect(
      failure { () throws(HomeError) in _ = try StateDirectory.standard(environment: [:]) }?.code == .badArguments)
    #expect(StateDirectory("/a/").controller == "/a/controller")
  }
}
