import ArgumentParser
import Foundation
import Home
import Runtime

/// `hearth home`.
struct HomeCommands: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "home", abstract: "The homes as a whole: buildings, with rooms and devices in them.",
    discussion: """
      There is one home at first, and there may be more. The primary home is meant where none is named: new rooms and \
      devices come into it.
      """,
    subcommands: [
      List.self, Add.self, Rename.self, Remove.self, Primary.self, Grace.self, Trust.self, Interface.self, Sync.self,
      Cloud.self,
    ])

  struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The home as the response to a cloud-to-cloud SYNC request.",
      discussion: """
        What a cloud account is told of the home as it is stored; no device is asked. The plain output is the response \
        itself, to be sent as it is; with --json it is on one line, under "data" as with all commands.
        """)
    @OptionGroup var options: GlobalOptions
    @Option(help: ArgumentHelp("The user, as the cloud's agent calls them.", valueName: "id")) var agentUserID =
      "hearth"
    @Option(help: ArgumentHelp("The request that is answered. Default: a new one.", valueName: "id"))
    var requestID: String?

    func run() async throws {
      var options = HomeController.Options(state: try self.options.stateDirectory, logger: self.options.logger)
      // Nobody is looked for: all is in the database.
      options.discovery = .off
      let sync = try await Home(options).beforeClosing { session in
        CloudSync(
          requestID: requestID ?? UUID().uuidString, agentUserID: agentUserID,
          devices: try await session.devices().list(), rooms: try await session.rooms().list())
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let line = String(decoding: try encoder.encode(sync), as: UTF8.self)
      encoder.outputFormatting.insert(.prettyPrinted)
      let text = String(decoding: try encoder.encode(sync), as: UTF8.self)
      self.options.output.result(.encoded(line), text)
    }
  }
}
