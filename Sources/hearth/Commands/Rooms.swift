import ArgumentParser
import Home

/// `hearth rooms`.
struct Rooms: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The rooms of the home, and what is in them.")
  @OptionGroup var options: GlobalOptions

  func run() async throws {
    let registry = try HomeStore(try options.stateDirectory).load()
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
      let name = name
      let room = try await HomeStore(try options.stateDirectory).change { registry throws(HomeError) in
        try registry.addRoom(name)
      }
      options.output.result(["name": .string(room)], "added \(room)")
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a room another name.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The room.") var room: String
    @Argument(help: "Its new name.") var name: String

    func run() async throws {
      let (room, name) = (room, name)
      let new = try await HomeStore(try options.stateDirectory).change { registry throws(HomeError) in
        try registry.renameRoom(room, to: name)
      }
      options.output.result(["name": .string(new)], "\(room) is now \(new)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove a room; its devices stay.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The room.") var room: String

    func run() async throws {
      let room = room
      let old = try await HomeStore(try options.stateDirectory).change { registry throws(HomeError) in
        try registry.removeRoom(room)
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
      let moved = try await HomeStore(try options.stateDirectory).change { registry throws(HomeError) in
        var moved: [DeviceRecord] = []
        for text in texts {
          for target in try registry.resolveAll(text) {
            moved.append(try registry.assign(target.device.nodeID, to: room))
          }
        }
        return moved
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
    let (text, name) = (device, name)
    let (old, new) = try await HomeStore(try options.stateDirectory).change { registry throws(HomeError) in
      let old = try registry.resolve(text).device
      return (old, try registry.rename(old.nodeID, to: name))
    }
    options.output.result(new.jsonNames, "\(old.name) is now \(new.name)")
  }
}
