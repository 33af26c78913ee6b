import ArgumentParser
import HearthHome
import HomeText

/// `hearth rooms`.
struct Rooms: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "rooms", abstract: "List the rooms and their devices.")
  @OptionGroup var names: NamesOptions

  func run() async throws {
    let state = try await names.names.state()
    let table = RoomReport.table(state)
    names.output.result(.array(RoomReport.json(state)), table.rows.isEmpty ? "" : table.text)
    if table.rows.isEmpty { names.output.progress("no rooms yet; add one with `hearth room add NAME`") }
  }
}

/// Formats the rooms of all homes with their devices, and finally the devices without a room.
enum RoomReport {
  /// - Parameter room: the id of the room; nil for the devices without a room.
  private static func devices(_ state: HomeState, in room: String?) -> [String] {
    state.orderedDevices.filter { !$0.sources.isEmpty && $0.roomID.flatMap { state.room($0)?.id } == room }
      .map(\.name)
  }

  static func table(_ state: HomeState) -> Table {
    var table = Table("ROOM", "DEVICES")
    for room in state.rooms {
      let devices = devices(state, in: room.id)
      // Rooms with the same name in different homes are distinguished by the name of the home.
      let isAlone = !state.rooms.contains { $0.id != room.id && HomeNames.same($0.name, room.name) }
      let home = isAlone ? nil : state.structure(room.structureID)?.name
      table.add(
        home.map { "\(room.name) (\($0))" } ?? room.name, devices.isEmpty ? "–" : devices.joined(separator: ", "))
    }
    let without = devices(state, in: nil)
    if !without.isEmpty { table.add("–", without.joined(separator: ", ")) }
    return table
  }

  static func json(_ state: HomeState) -> [JSON] {
    func object(_ id: String?, _ devices: [String]) -> JSON {
      let room = id.flatMap { state.room($0) }
      return [
        "id": .optional(id), "name": .optional(room?.name),
        "home": .optional(room.flatMap { state.structure($0.structureID)?.name }),
        "devices": .texts(devices),
      ]
    }
    let without = devices(state, in: nil)
    return state.rooms.map { object($0.id, devices(state, in: $0.id)) }
      + (without.isEmpty ? [] : [object(nil, without)])
  }
}

/// Options of the commands that need only the names of the home.
struct NamesOptions: ParsableArguments {
  @OptionGroup var global: GlobalOptions
  @OptionGroup var hub: HubOptions

  var output: Output { global.output }
  var names: Names { Names(global: global, hub: hub) }

  /// Prints a note if a name was truncated.
  /// - Parameter results: the results of the edits that set the name.
  /// - Returns: the value of the key `wasCut`.
  func noteCut(_ results: [HomeEdit.Result]) -> JSON {
    let wasCut = results.contains { $0.wasCut }
    if wasCut { output.note(HomeNames.cutNote) }
    return .bool(wasCut)
  }
}

extension HomeNames {
  /// The note about a truncated name.
  static let cutNote = "the name was truncated to \(longestName) characters"
}

/// `hearth room`.
struct Room: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "room", abstract: "Manage rooms.", subcommands: [Add.self, Rename.self, Remove.self, Assign.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a room.")
    @OptionGroup var options: NamesOptions
    @Option(help: "The home of the room. Default: the primary home.") var home: String?
    @Argument(help: "The name.") var name: String

    func run() async throws {
      let (name, home) = (name, home)
      let (_, results) = try await options.names.edit { state throws(HomeError) in
        let structure = try home.map { home throws(HomeError) in try state.knownStructure(home) }
        return ([.addRoom(name: name, structureID: structure?.id)], ())
      }
      guard let room = results.first?.room else { throw HomeError(.internalError, "the new room is missing") }
      options.output.result(
        ["id": .string(room.id), "name": .string(room.name), "wasCut": options.noteCut(results)], "added \(room.name)")
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a room.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The room.") var room: String
    @Argument(help: "The new name.") var name: String

    func run() async throws {
      let (room, name) = (room, name)
      let (names, results) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownRoom(room)
        return ([.renameRoom(id: known.id, name: name)], (old: known, new: try HomeNames.checked(name).name))
      }
      options.output.result(
        ["id": .string(names.old.id), "name": .string(names.new), "wasCut": options.noteCut(results)],
        "\(names.old.name) is now \(names.new)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a room, but not its devices.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The room.") var room: String

    func run() async throws {
      let room = room
      let (old, _) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownRoom(room)
        return ([.removeRoom(id: known.id)], known)
      }
      options.output.result(["id": .string(old.id), "name": .string(old.name)], "removed \(old.name)")
    }
  }

  struct Assign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "assign", abstract: "Move devices to a room.")
    @OptionGroup var options: NamesOptions
    @Flag(help: "Remove the devices from their rooms.") var none = false
    @Argument(help: ArgumentHelp("The devices, followed by the room.", valueName: "device… room"))
    var arguments: [String]

    func validate() throws {
      guard arguments.count >= (none ? 1 : 2) else { throw ValidationError("expected DEVICE… ROOM") }
    }

    func run() async throws {
      let room = none ? nil : arguments[arguments.count - 1]
      let texts = none ? arguments : Array(arguments.dropLast())
      let (moved, _) = try await options.names.edit { state throws(HomeError) in
        let registry = HomeRegistry(state)
        let targets = try registry.resolve(all: texts).map(\.device)
        let target = try room.map { room throws(HomeError) in try state.knownRoom(room) }
        let moved = targets.map { device in
          var device = device
          device.room = target?.name
          return device
        }
        return (targets.map { .moveDevice(id: $0.id, roomID: target?.id) }, moved)
      }
      options.output.result(
        .array(moved.map(\.jsonNames)),
        moved.map { "\($0.name) is now in \($0.room ?? "no room")" }.joined(separator: "\n"))
    }
  }
}

/// `hearth rename`.
struct Rename: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a device.")
  @OptionGroup var options: NamesOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "The new name.") var name: String

  func run() async throws {
    let (device, name) = (device, name)
    let (names, results) = try await options.names.edit { state throws(HomeError) in
      let old = try HomeRegistry(state).resolve(device).device
      var new = old
      new.entry.name = try HomeNames.checked(name).name
      return ([.renameDevice(id: old.id, name: name)], (old: old, new: new))
    }
    options.output.result(
      names.new.jsonNames.adding("wasCut", options.noteCut(results)), "\(names.old.name) is now \(names.new.name)")
  }
}
