import ArgumentParser
import Home

/// `hearth rooms`.
struct Rooms: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The rooms of the home, and what is in them.")
  @OptionGroup var options: GlobalOptions

  func run() async throws {
    let registry = try StoredNames(try options.stateDirectory).registry()
    let without = registry.devices.filter { $0.room == nil }
    var table = Table("ROOM", "DEVICES")
    var json: [JSON] = []
    for room in registry.rooms {
      let devices = registry.devices.filter { $0.room == room }
      table.add(room, devices.isEmpty ? "–" : devices.map(\.name).joined(separator: ", "))
      json.append(["name": .string(room), "devices": .array(devices.map { .string($0.name) })])
    }
    if !without.isEmpty {
      table.add("–", without.map(\.name).joined(separator: ", "))
      json.append(["name": nil, "devices": .array(without.map { .string($0.name) })])
    }
    options.output.result(.array(json), table.rows.isEmpty ? "" : table.text)
  }
}

/// `hearth room`.
struct Room: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Change rooms.", subcommands: [Add.self, Rename.self, Remove.self, Assign.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add a room.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "Its name.") var name: String

    func run() async throws {
      let room = try StoredNames(try options.stateDirectory).change { state throws(HomeError) in
        try state.addingRoom(name)
      }
      options.output.result(["id": .string(room.id), "name": .string(room.name)], "added \(room.name)")
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a room another name.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The room.") var room: String
    @Argument(help: "Its new name.") var name: String

    func run() async throws {
      let (old, new) = try StoredNames(try options.stateDirectory).change { state throws(HomeError) in
        let known = try state.knownRoom(room)
        let changes = try state.renamingRoom(known.id, to: name)
        return (changes, (known.name, try HomeNames.checked(name).name))
      }
      options.output.result(["name": .string(new)], "\(old) is now \(new)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove a room; its devices stay.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The room.") var room: String

    func run() async throws {
      let old = try StoredNames(try options.stateDirectory).change { state throws(HomeError) in
        let known = try state.knownRoom(room)
        return (try state.removingRoom(known.id), known.name)
      }
      options.output.result(["name": .string(old)], "removed \(old)")
    }
  }

  struct Assign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Put devices into a room.")
    @OptionGroup var options: GlobalOptions
    @Flag(help: "Take them out of their rooms.") var none = false
    @Argument(help: ArgumentHelp("Devices, and then the room.", valueName: "device… room")) var arguments: [String]

    func validate() throws {
      guard arguments.count >= (none ? 1 : 2) else { throw ValidationError("expected DEVICE… ROOM") }
    }

    func run() async throws {
      let room = none ? nil : arguments[arguments.count - 1]
      let texts = none ? arguments : Array(arguments.dropLast())
      let moved = try StoredNames(try options.stateDirectory).change { state throws(HomeError) in
        let registry = HomeRegistry(state)
        var targets: [DeviceRecord] = []
        for text in texts { targets += try registry.resolveAll(text).map(\.device) }
        let target = try room.map { room throws(HomeError) in try state.knownRoom(room) }
        // One after the other: two of the same name may come from different rooms.
        var after = state
        var changes: [HomeChange] = []
        for device in targets {
          for change in try after.movingDevice(device.id, to: target?.id) {
            after.apply(change)
            changes.append(change)
          }
        }
        let moved = HomeRegistry(after).devices.filter { device in targets.contains { $0.id == device.id } }
        return (changes, moved)
      }
      options.output.result(
        .array(moved.map(\.jsonNames)),
        moved.map { "\($0.name) is in \($0.room ?? "no room") now" }.joined(separator: "\n"))
    }
  }
}

/// `hearth rename`.
struct Rename: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Give a device another name.")
  @OptionGroup var options: GlobalOptions
  @Argument(help: "The device.") var device: String
  @Argument(help: "Its new name.") var name: String

  func run() async throws {
    let (old, new, wasCut) = try StoredNames(try options.stateDirectory).change { state throws(HomeError) in
      let old = try HomeRegistry(state).resolve(device).device
      let (wasCut, changes) = try state.renamingDevice(old.id, to: name)
      var new = old
      new.name = try HomeNames.checked(name).name
      return (changes, (old, new, wasCut))
    }
    if wasCut { options.output.note("the name was cut at \(HomeNames.longestName) characters") }
    options.output.result(new.jsonNames.adding("wasCut", .bool(wasCut)), "\(old.name) is now \(new.name)")
  }
}
