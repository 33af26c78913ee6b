import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import HomeText
import MatterController
import MatterCrypto
import MatterModel
import Runtime
import Synchronization
import Testing

/// A temporary state directory, removed at deinitialization.
final class ScratchDirectory: Sendable {
  let state: StateDirectory

  init() {
    state = StateDirectory(FileManager.default.temporaryDirectory.path + "/hearth-test-" + UUID().uuidString)
  }

  deinit { try? FileManager.default.removeItem(atPath: state.root) }
}

@Suite("Names and rooms") struct NameTests {
  /// Returns the state with the changes applied.
  private func state(_ state: HomeState, after changes: [HomeChange]) -> HomeState {
    var state = state
    for change in changes { state.apply(change) }
    return state
  }

  @Test func numbersDuplicateNames() {
    let home = Samples.state()
    #expect(home.availableName("lamp", in: "kitchen", of: "home", except: "20") == "lamp 2")
    #expect(home.availableName("Lamp", in: nil, of: "home", except: "20") == "Lamp")
    #expect(home.availableName("Lamp", in: "kitchen", of: "home", except: "2") == "Lamp")
    let long = String(repeating: "x", count: 60)
    let crowded = state(home, after: [.deviceRenamed(id: "4", name: long)])
    #expect(crowded.availableName(long, in: nil, of: "home", except: "20") == String(repeating: "x", count: 58) + " 2")
  }

  @Test func rejectsDuplicateNames() throws {
    let home = Samples.state()
    #expect(failure { () throws(HomeError) in _ = try home.renamingDevice("1", to: "LAMP") }?.code == .badArguments)
    #expect(try home.renamingDevice("1", to: " Spot ") == [.deviceRenamed(id: "1", name: "Spot")])
    #expect(try home.renamingDevice("1", to: "CEILING") == [.deviceRenamed(id: "1", name: "CEILING")])
    #expect(try home.renamingDevice("1", to: "Ceiling") == [])
    #expect(failure { () throws(HomeError) in _ = try home.renamingDevice("99", to: "x") }?.code == .notFound)
  }

  @Test(arguments: ["", "  ", "a/b", "*", "a\nb"])
  func rejectsInvalidNames(_ name: String) {
    let home = Samples.state()
    #expect(failure { () throws(HomeError) in _ = try home.renamingDevice("1", to: name) }?.code == .badArguments)
  }

  @Test func truncatesNamesTo60CodePoints() throws {
    #expect(try HomeNames.checked(String(repeating: "x", count: 60)).wasCut == false)
    let (name, wasCut) = try HomeNames.checked(String(repeating: "é", count: 59) + "🏡🏡")
    #expect(wasCut && name == String(repeating: "é", count: 59) + "🏡")
    // A letter with a combining mark is two code points: 30 of them are left, and without the mark the last one.
    let marked = try HomeNames.checked(String(repeating: "e\u{301}", count: 31))
    #expect(marked.wasCut && marked.name.unicodeScalars.count == 60 && marked.name.count == 30)
    let odd = try HomeNames.checked("x" + String(repeating: "e\u{301}", count: 30))
    #expect(odd.wasCut && odd.name.unicodeScalars.count == 60 && odd.name.unicodeScalars.last == "e")
    #expect(try !HomeNames.checked(String(repeating: "e\u{301}", count: 30)).wasCut)
    // A grapheme cluster may be split, and trailing whitespace is removed.
    #expect(try HomeNames.checked(String(repeating: "x", count: 59) + " yz").name == String(repeating: "x", count: 59))
    let rename = HomeEdit.renameDevice(id: "1", name: String(repeating: "y", count: 80))
    let cut = try Samples.state().changes(doing: [rename], SystemRandomSource())
    #expect(cut.result.map(\.wasCut) == [true])
    #expect(cut.changes == [.deviceRenamed(id: "1", name: String(repeating: "y", count: 60))])
  }

  @Test func addsRenamesAndRemovesRooms() throws {
    var home = Samples.state()
    let (added, hall) = try home.addingRoom("Hall", to: "home", id: "h")
    home = state(home, after: added)
    #expect(hall == Room(id: "h", name: "Hall", structureID: "home"))
    #expect(
      failure { () throws(HomeError) in _ = try home.addingRoom("hall", to: "home", id: "x") }?.code == .badArguments)
    home = state(home, after: try home.movingDevice("1", to: "h"))
    home = state(home, after: try home.renamingRoom("h", to: "Entrance"))
    #expect(HomeRegistry(home).device(1)?.room == "Entrance")
    home = state(home, after: try home.removingRoom(try home.knownRoom("ENTRANCE").id))
    #expect(home.devices["1"]?.roomID == nil)
    #expect(failure { () throws(HomeError) in _ = try home.knownRoom("Kichen") }?.candidates == ["Kitchen"])
    // Two lamps can't be in one room.
    #expect(failure { () throws(HomeError) in _ = try home.movingDevice("3", to: "kitchen") }?.code == .badArguments)
  }

  @Test func keepsDevicesInTheirStructure() throws {
    var home = Samples.state()
    home.apply(.structureAdded(Structure(id: "s", name: "Cottage")))
    home.apply(.roomAdded(Room(id: "k", name: "kitchen", structureID: "s")))
    home.apply(.roomAdded(Room(id: "p", name: "Porch", structureID: "s")))
    let cottage = try #require(home.structure("s")).roomForEntireHome().id
    for room in ["k", "p", cottage] {
      let error = failure { () throws(HomeError) in _ = try home.movingDevice("1", to: room) }
      #expect(error?.code == .badArguments && error?.device == "Ceiling")
      #expect(error?.message.contains("“Home”") == true && error?.message.contains("“Cottage”") == true)
    }
    #expect(try home.movingDevice("1", to: nil) == [.deviceMoved(id: "1", roomID: nil)])
    // An ambiguous room name is an error.
    let error = failure { () throws(HomeError) in _ = try home.knownRoom("KITCHEN") }
    #expect(error?.code == .ambiguousTarget && error?.candidates == ["Home/Kitchen", "Cottage/kitchen"])
    #expect(try home.knownRoom("cottage/KITCHEN").id == "k" && home.knownRoom("home/kitchen").id == "kitchen")
    #expect(try home.knownRoom("porch").id == "p" && home.room(called: "garden") == nil)
    #expect(failure { () throws(HomeError) in _ = try home.knownRoom("home/porch") }?.code == .notFound)
    // A new room is created in the named structure.
    #expect(try home.roomToBe(called: "porch").id == "p")
    let garden = try home.roomToBe(called: " Garden ")
    #expect(home.room(garden.id) == nil && garden.name == "Garden" && garden.structureID == "home")
    let loft = try home.roomToBe(called: "cottage/Loft")
    #expect(home.room(loft.id) == nil && loft.name == "Loft" && loft.structureID == "s")
    let nowhere = failure { () throws(HomeError) in _ = try home.roomToBe(called: "Cotage/Loft") }
    #expect(nowhere?.code == .notFound && nowhere?.message == "there is no home “Cotage”")
    #expect(nowhere?.candidates == ["Cottage"])
    #expect(failure { () throws(HomeError) in _ = try home.roomToBe(called: "cottage/a/b") }?.code == .badArguments)
    #expect(failure { () throws(HomeError) in _ = try home.roomToBe(called: "kitchen") }?.code == .ambiguousTarget)
    // A device that is paired into a room belongs to the structure of the room.
    var reducer = HomeReducer(home)
    _ = reducer.reduce(NodeModel.lamp(30).commissioned(DevicePlacement(name: "Lamp", room: home.room("k"))), at: 1)
    let lamp = reducer.state.devices["30"]
    #expect(lamp?.structureID == "s" && lamp?.roomID == "k" && lamp?.name == "Lamp")
  }

  @Test func roomForEntireHomeIsImmutable() throws {
    let home = Samples.state()
    let room = try #require(home.structures.first).roomForEntireHome()
    #expect(room.isForEntireHome)
    #expect(!home.rooms.contains(room))
    #expect(failure { () throws(HomeError) in _ = try home.renamingRoom(room.id, to: "All") }?.code == .badArguments)
    #expect(failure { () throws(HomeError) in _ = try home.removingRoom(room.id) }?.code == .badArguments)
    #expect(try home.movingDevice("1", to: room.id) == [.deviceMoved(id: "1", roomID: nil)])
  }

  @Test func firstRoomCreatesStructure() throws {
    let (changes, room) = try HomeState().addingRoom("Den", id: "d")
    let home = state(HomeState(), after: changes)
    #expect(home.structures == [HomeReducer.firstStructure])
    #expect(home.rooms == [room])
  }

  @Test func selectsPrimaryStructure() throws {
    var home = HomeState()
    #expect(home.primaryStructure == nil)
    for id in ["a", "b", "c"] { home = state(home, after: try home.addingStructure("Home \(id)", id: id).1) }
    #expect(home.primaryStructure?.id == "a")
    #expect(try home.choosingPrimaryStructure("a").isEmpty)
    home = state(home, after: try home.choosingPrimaryStructure("c"))
    #expect(home.primaryStructure?.id == "c")
    #expect(failure { () throws(HomeError) in _ = try home.choosingPrimaryStructure("d") }?.code == .notFound)
    #expect(failure { () throws(HomeError) in _ = try home.knownStructure("Hom c") }?.candidates.first == "Home c")
    // Rooms and devices without a structure go to the primary one.
    #expect(try home.addingRoom("Den", id: "d").result.structureID == "c")
    var reducer = HomeReducer(home)
    _ = reducer.reduce(NodeModel.lamp(5).report(), at: 1)
    #expect(reducer.state.devices["5"]?.structureID == "c")
    home = state(home, after: try home.removingStructure("b"))
    #expect(home.primaryStructure?.id == "c")
    home = state(home, after: try home.removingStructure("c"))
    #expect(home.primaryStructure?.id == "a")
    home = state(home, after: try home.removingStructure("a"))
    #expect(home.primaryStructure == nil && home.primaryStructureID == nil)
    home.apply(.primaryStructureChosen(id: "a"))
    #expect(home == HomeState())
  }

  @Test func storesNames() throws {
    let scratch = ScratchDirectory()
    let names = StoredNames(scratch.state)
    #expect(try names.registry() == HomeRegistry().with([]))
    let room = try names.withDatabase { database throws(HomeError) in
      try database.change(origin: nil, at: 1) { _, state in try state.addingRoom("Den", id: "d") }.result
    }
    #expect(try names.state().rooms == [room] && names.registry().rooms.map(\.name) == ["Den"])
  }
}

@Suite("Device states") struct DeviceStateTests {
  @Test func formatsState() {
    func text(_ values: [ConcreteAttributePath: [UInt8]]) -> String {
      var all = NodeValues()
      for (path, value) in values { all[path] = value }
      return DeviceState(all, [DeviceEndpoint(id: 1), DeviceEndpoint(id: 2)]).text
    }
    #expect(text([.init(1, 6, 0): [0x09], .init(1, 8, 0): [0x04, 102]]) == "on 40%")
    #expect(text([.init(1, 6, 0): [0x08], .init(1, 8, 0): [0x04, 102]]) == "off")
    #expect(text([.init(2, 6, 0): [0x08], .init(1, 6, 0): [0x09]]) == "on, off")
    #expect(text([.init(1, 6, 0): [0x09], .init(1, 8, 0): [0x14]]) == "on")
    #expect(text([:]) == "")
  }

  @Test func roundsPercentUpToOne() {
    #expect(
      [0, 1, 2, 102, 127, 253, 254, 255].map { LevelRange.standard.percent($0) } == [0, 1, 1, 40, 50, 100, 100, 100])
  }
}

@Suite("State directory") struct StateDirectoryTests {
  @Test func readsEnvironment() throws {
    #expect(try StateDirectory.standard(environment: ["XDG_STATE_HOME": "/x", "HOME": "/h"]).root == "/x/hearth")
    #expect(try StateDirectory.standard(environment: ["HEARTH_STATE": "/s", "HOME": "/h"]).root == "/s")
    #expect(try StateDirectory.standard(environment: ["HEARTH_STATE": "", "HOME": "/h"]).root.hasPrefix("/h"))
    #expect(
      failure { () throws(HomeError) in _ = try StateDirectory.standard(environment: ["HEARTH_STATE": "s"]) }?.code
        == .badArguments)
    #expect(StateDirectory.root(ofDatabase: StateDirectory("/s").database) == "/s")
    #expect(
      try StateDirectory.standard(environment: ["XDG_STATE_HOME": "x", "HOME": "/h"]).root == "/h/.local/state/hearth")
    #expect(
      failure { () throws(HomeError) in _ = try StateDirectory.standard(environment: [:]) }?.code == .badArguments)
    #expect(StateDirectory("/a/").home == "/a/home")
  }
}
