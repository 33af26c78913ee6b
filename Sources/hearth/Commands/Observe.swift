import ArgumentParser
import HearthHome
import MatterModel

/// `hearth observe`.
struct Observe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observe", abstract: "Run commands or notify web addresses when the home changes.",
    discussion: """
      Observers are stored in the home and triggered by a process that follows it: `hearth hub run`, `hearth watch` or \
      `hearth devices --watch`. Changes that occur while no such process runs are delivered when one starts. For example:
        hearth observe add --attribute --device kitchen/lamp --cluster onOff --every 1m --run notify-send Lamp
        hearth observe add --connectivity --webhook http://127.0.0.1:8080/changed

      A notification has no values, but the range of the log that contains the changes, as JSON on standard input or in the \
      request body. Commands also get the range in HEARTH_AFTER and HEARTH_UNTIL and the state directory in HEARTH_STATE; \
      `hearth watch --since "$HEARTH_AFTER" --for 0s` prints the changes.

      A delivery fails if the command does not exit with 0 in time or is killed, or if the address does not answer with 200 to \
      299. Failed deliveries are retried with back-off; after three failures the observer is suspended until \
      `hearth observe resume`. No change is lost.
      """,
    subcommands: [Add.self, List.self, Resume.self, Remove.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an observer of changes from now on.",
      discussion: """
        --run is the last option: all arguments after it belong to the command. An observer that was added with the same \
        options before is kept.
        """)
    @OptionGroup var options: GlobalOptions
    @Flag(help: "The type of change.") var type: SampleType
    @Option(
      help: ArgumentHelp("Observe only this device; repeatable.", valueName: "target"), completion: .device)
    var device: [String] = []
    @Option(help: ArgumentHelp("Observe only this cluster; repeatable.", valueName: "name"))
    var cluster: [String] = []
    @Option(
      help: ArgumentHelp("The minimum time between deliveries. Default: deliver each change.", valueName: "time"))
    var every: TimeSpan?
    @Option(help: ArgumentHelp("A web address to post to.", valueName: "url")) var webhook: String?
    @Option(
      name: .customLong("run"), parsing: .remaining, help: ArgumentHelp("A command to run.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
      guard command.isEmpty != (webhook == nil) else {
        throw ValidationError("expected either --run COMMAND or --webhook URL")
      }
      guard every?.duration != .zero else { throw ValidationError("--every: expected a time longer than 0s") }
      guard cluster.isEmpty || [.attribute, .event, .all].contains(type) else {
        throw ValidationError("--cluster requires --attribute, --event or --all")
      }
    }

    func run() async throws {
      let frequency: BackgroundDelivery.Frequency = every.map { .every($0.duration) } ?? .immediate
      let target: BackgroundDelivery.Target = webhook.map { .webhook($0) } ?? .command(command)
      let (added, registry) = try await options.withHome { home in
        let registry = await home.registry
        let filter = try ObserverReport.filter(type, device, cluster, in: registry)
        let delivery = try await home.enableBackgroundDelivery(
          for: filter.type, predicate: filter, frequency: frequency, target: target)
        return (delivery, registry)
      }
      options.output.result(ObserverReport(added, registry).json, "observer \(added.id)")
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the observers and their state.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let all = try await options.withHome { home in
        let registry = await home.registry
        return try await home.backgroundDeliveries.map { ObserverReport($0, registry) }
      }
      options.output.result(.array(all.map(\.json)), all.isEmpty ? "" : ObserverReport.table(all, now: Home.now()))
      if all.isEmpty { options.output.progress("no observers yet; add one with `hearth observe add`") }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume", abstract: "Resume an observer after failures, and deliver the missed changes at once.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The id of the observer.") var id: Int64

    func run() async throws {
      let isResumed = try await options.withHome { try await $0.resumeBackgroundDelivery(id) }
      options.output.result(
        ["id": .string("\(id)"), "resumed": .bool(isResumed)],
        isResumed ? "resumed observer \(id)" : "observer \(id) has not failed")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove an observer.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The id of the observer.") var id: Int64

    func run() async throws {
      try await options.withHome { try await $0.disableBackgroundDelivery(id) }
      options.output.result(["id": .string("\(id)"), "removed": true], "removed observer \(id)")
    }
  }
}
