import ArgumentParser
import Testing

@testable import hearth

@Suite("Command names") struct CommandNameTests {
  /// The argument parser derives a missing name, for all commands at each start, which takes longer than the rest of the start.
  @Test("every command states its name") func statesNames() {
    var count = 0
    func check(_ command: any ParsableCommand.Type) {
      count += 1
      #expect(command.configuration.commandName != nil, "\(command)")
      command.configuration.subcommands.forEach(check)
    }
    check(hearth.Hearth.self)
    #expect(count > 100)
  }
}
