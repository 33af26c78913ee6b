import ArgumentParser
import Home
import MatterModel

/// `hearth observe`.
struct Observe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Commands and web addresses that are woken when something changes.",
    discussion: """
      Observers last. They are woken by one of the processes that go on looking at the home (`hearth hub run`, `hearth watch`, \
      `hearth devices --watch`); what happens while there is none wakes them when there is one again. For example:
        hearth observe add --attribute --device kitchen/lamp --cluster onOff --every 1m --run notify-send Lamp
        hearth observe add --connectivity --webhook http://127.0.0.1:8080/changed

      An observer gets no data, but the places in the log between which there are some, as JSON on the standard input or in \
      the request, and a command in HEARTH_AFTER and HEARTH_UNTIL, too: `hearth watch --since "$HEARTH_AFTER" --for 0s` \
      tells them, of the same home, which it has in HEARTH_STATE. A command that does not end with 0 in time, or an address that does not answer with 200 to 299, is \
      tried again later and later, \
      and so is one whose process was ended; after three failures the observer is suspended until it is resumed, and loses nothing.
      """,
    subcommands: [Add.self, List.self, Resume.self, Remove.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add an observer of what happens from now on.",
      discussion: "--run comes last: all that follows it is the command.")
    @OptionGroup var options: GlobalOptions
    @Flag(help: "What wakes it.") var type: ObservedType
    @Option(
      help: ArgumentHelp("Only of this device; may be said several times.", valueName: "target"), completion: .device)
    var device: [String] = []
    @Option(help: ArgumentHelp("Only of this cluster; may be said several times.", valueName: "name"))
    var cluster: [String] = []
    @Option(help: ArgumentHelp("Once in this time at most. Default: at once, each time.", valueName: "time"))
    var every: TimeSpan?
    @Option(help: ArgumentHelp("An address that is posted to.", valueName: "url")) var webhook: String?
    @Option(
      name: .customLong("run"), parsing: .remaining, help: ArgumentHelp("A command that is run.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
      guard command.isEmpty != (webhook == nil) else {
        throw ValidationError("say either --run COMMAND or --webhook URL")
      }
      guard every?.duration != .zero else { throw ValidationError("--every is longer than nothing") }
      guard cluster.isEmpty || [.attribute, .event, .all].contains(type) else {
        throw ValidationError("--cluster is for attributes and events")
      }
    }

    func run() async throws {
      let names = StoredNames(try options.stateDirectory)
      let filter = try ObserverReport.filter(type.type, device, cluster, in: try names.registry())
      let frequency: BackgroundDelivery.Frequency = every.map { .every($0.duration) } ?? .immediate
      let target: BackgroundDelivery.Target = webhook.map { .webhook($0) } ?? .command(command)
      let added = try names.withDatabase { database throws(HomeError) in
        try database.add(BackgroundDelivery(filter, frequency, to: target, after: try database.anchor()))
      }
      options.output.result(ObserverReport(added, try names.registry()).json, "observer \(added.id)")
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The observers, and how they are.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let names = StoredNames(try options.stateDirectory)
      let registry = try names.registry()
      let all = try names.withDatabase { database throws(HomeError) in try database.backgroundDeliveries() }
        .map { ObserverReport($0, registry) }
      options.output.result(.array(all.map(\.json)), all.isEmpty ? "" : ObserverReport.table(all, now: Home.now()))
      if all.isEmpty { options.output.progress("There is no observer yet; add one with `hearth observe add`.") }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Wake an observer that failed again: at once, with all that happened since.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "Its number.") var id: Int64

    func run() async throws {
      let isResumed = try StoredNames(try options.stateDirectory).withDatabase { database throws(HomeError) in
        try database.resumeBackgroundDelivery(id)
      }
      options.output.result(
        ["id": .string("\(id)"), "resumed": .bool(isResumed)],
        isResumed ? "observer \(id) is woken again" : "observer \(id) has not failed; it is woken as ever")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove an observer.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "Its number.") var id: Int64

    func run() async throws {
      try StoredNames(try options.stateDirectory).withDatabase { database throws(HomeError) in
        try database.removeBackgroundDelivery(id)
      }
      options.output.result(["id": .string("\(id)"), "removed": true], "removed observer \(id)")
    }
  }
}

/// What wakes an observer, as a flag.
enum ObservedType: String, EnumerableFlag {
  case attribute, event, connectivity, topology, all

  var type: SampleType {
    switch self {
    case .attribute: .attribute
    case .event: .event
    case .connectivity: .connectivity
    case .topology: .topology
    case .all: .all
    }
  }

  static func help(for value: Self) -> ArgumentHelp? {
    switch value {
    case .attribute: "An attribute's value."
    case .event: "An event."
    case .connectivity: "A device that comes online, goes, or has another reason."
    case .topology: "Devices, rooms and names."
    case .all: "Anything."
    }
  }
}
