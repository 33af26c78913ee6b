import ArgumentParser

/// The commands for virtual devices.
let deviceCommands: [any ParsableCommand.Type] = [Run.self, Sim.self, Types.self, Init.self]
