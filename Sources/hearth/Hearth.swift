import ArgumentParser

/// The command line's root. Each command is a file in Commands/ or Devices/.
struct Hearth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "A Matter home in a box: virtual devices, and a controller for real ones.",
    discussion: """
      A target is room/name, a name that only one device has (any case), the beginning of one, a node id, or NODE/ENDPOINT. \
      A room (kitchen or 'kitchen/*'), group:NAME and '*' stand for their devices that have what the command needs.

      Exit codes: 0 done, 1 internal error, 2 bad arguments, 3 not found, 4 ambiguous target, 5 unreachable, 6 timed out, \
      7 access denied, 8 refused by the device, 9 commissioning failed, 10 done for some targets only, \
      11 expectation failed, 12 bad definition file, 13 nothing is running, 130 interrupted.
      """,
    version: HearthVersion.text,
    groupedSubcommands: [
      CommandGroup(name: "Virtual devices", subcommands: deviceCommands),
      CommandGroup(
        name: "Controller",

        subcommands: [
          Discover.self, Pair.self, Devices.self, Describe.self, On.self, Off.self, Toggle.self, Level.self, Color.self,
          Read.self, Write.self, Invoke.self, Subscribe.self, Watch.self, Wait.self, Observe.self,
          HomeCommands.self, Group.self, Scene.self, Rooms.self, Room.self, Rename.self,
          Share.self,
          Fabrics.self, Access.self, Bind.self, Unbind.self, Remove.self, HubCommands.self,
        ]),
      CommandGroup(name: "Simulation", subcommands: [Test.self, Replay.self]),
      CommandGroup(
        name: "Tools", subcommands: [Doctor.self, Code.self, Decode.self, SchemaCommand.self, Completion.self]),
    ])
}

enum HearthVersion {
  static let text = "0.1.0"
}
