import ArgumentParser
import Foundation
import HearthHome
import Runtime

/// `hearth home`.
struct HomeCommands: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "home", abstract: "Manage homes: buildings with rooms and devices.",
    discussion: """
      Several homes can share a state directory. Commands use the primary home unless another one is named; new rooms and \
      devices are added to it.
      """,
    subcommands: [
      List.self, Add.self, Rename.self, Remove.self, Primary.self, Grace.self, Trust.self, Interface.self, Sync.self,
      Cloud.self, Clusters.self,
    ])

  struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sync", abstract: "Print the home as the response to a cloud-to-cloud SYNC request.",
      discussion: """
        Uses the stored state and queries no device. The plain output is the response itself; with --json it is on one \
        line, under "data" as with all commands.
        """)
    @OptionGroup var options: GlobalOptions
    @Option(help: ArgumentHelp("The user id of the cloud's agent.", valueName: "id")) var agentUserID = "hearth"
    @Option(help: ArgumentHelp("The id of the request. Default: a new one.", valueName: "id"))
    var requestID: String?

    func run() async throws {
      var options = HomeController.Options(state: try self.options.stateDirectory, logger: self.options.logger)
      // All data are in the database; no device has to be discovered.
      options.discovery = .off
      let sync = try await Home(options).beforeClosing { session in
        CloudSync.response(
          requestID: requestID ?? UUID().uuidString, agentUserID: agentUserID,
          devices: try await session.devices().list(), rooms: try await session.rooms().list())
      }
      let object = try JSONSerialization.jsonObject(with: Data("\(sync)".utf8))
      let text = try JSONSerialization.data(
        withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
      self.options.output.result(sync, String(decoding: text, as: UTF8.self))
    }
  }
}
