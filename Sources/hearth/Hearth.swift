import ArgumentParser

/// The root command. Each subcommand is a file in Commands/, Devices/ or Simulation/.
struct Hearth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "Simulate Matter devices, and control virtual and real ones.",
    discussion: """
      A target is room/name, a unique name or the beginning of one (in any case), a node id, or NODE/ENDPOINT. A room (kitchen \
      or 'kitchen/*'), group:NAME and '*' select those of their devices that support the command.

      Exit codes: 0 success, 1 internal error, 2 bad arguments, 3 not found, 4 ambiguous target, 5 unreachable, 6 timed out, \
      7 access denied, 8 refused by the device, 9 commissioning failed, 10 failed for some targets, \
      11 expectation failed, 12 bad definition file, 13 not running, 130 interrupted.
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
          Share.self, OTA.self,
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
