import ArgumentParser
import Home
import MatterProtocol

// `hearth home list|add|rename|remove|primary|grace|trust|interface`.
extension HomeCommands {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The homes, and what is in them.")
    @OptionGroup var options: NamesOptions

    func run() async throws {
      let state = try await options.names.state()
      var table = Table("HOME", "PRIMARY", "ROOMS", "DEVICES")
      var json: [JSON] = []
      for structure in state.structures {
        let rooms = state.rooms.filter { $0.structureID == structure.id }
        let devices = state.orderedDevices.filter { $0.structureID == structure.id }
        let isPrimary = structure.id == state.primaryStructureID
        table.add(
          structure.name, isPrimary ? "yes" : "–",
          rooms.isEmpty ? "–" : rooms.map(\.name).joined(separator: ", "),
          devices.isEmpty ? "–" : devices.map(\.name).joined(separator: ", "))
        json.append(
          HomeReport.json(structure, isPrimary: isPrimary)
            .adding("rooms", .array(rooms.map { .string($0.name) }))
            .adding("devices", .array(devices.map { .string($0.name) })))
      }
      if table.rows.isEmpty {
        options.output.progress("There is no home yet; the first device makes one, or `hearth home add NAME`.")
      }
      options.output.result(.array(json), table.rows.isEmpty ? "" : table.text)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add a home. The first one is the primary home.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "Its name.") var name: String

    func run() async throws {
      let name = name
      let (isFirst, results) = try await options.names.edit { state throws(HomeError) in
        ([.addStructure(name: name)], state.structures.isEmpty)
      }
      guard let structure = results.first?.structure else { throw HomeError(.internalError, "the new home is missing") }
      options.output.result(
        HomeReport.json(structure, isPrimary: isFirst).adding("wasCut", options.noteCut(results)),
        "added \(structure.name)")
    }
  }

  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a home another name.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The home.") var home: String
    @Argument(help: "Its new name.") var name: String

    func run() async throws {
      let (home, name) = (home, name)
      let (told, results) = try await options.names.edit { state throws(HomeError) in
        let old = try state.knownStructure(home)
        var new = old
        new.name = try HomeNames.checked(name).name
        let isPrimary = old.id == state.primaryStructureID
        return ([.renameStructure(old.id, name: name)], (old: old, new: new, isPrimary: isPrimary))
      }
      options.output.result(
        HomeReport.json(told.new, isPrimary: told.isPrimary).adding("wasCut", options.noteCut(results)),
        "\(told.old.name) is now \(told.new.name)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove a home in which there are no devices, with its rooms.",
      discussion: "Where it was the primary home, the first that remains is.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The home.") var home: String

    func run() async throws {
      let home = home
      let (told, _) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownStructure(home)
        var after = state
        for change in try state.removingStructure(known.id) { after.apply(change) }
        return ([.removeStructure(known.id)], (old: known, primary: after.primaryStructure))
      }
      options.output.result(
        ["id": .string(told.old.id), "name": .string(told.old.name), "primaryHome": .optional(told.primary?.name)],
        "removed \(told.old.name)")
    }
  }

  struct Primary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say which home is meant where none is named, or choose another.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The home to choose. Default: none, and tell which one it is.") var home: String?

    func run() async throws {
      guard let home else {
        guard let primary = try await options.names.state().primaryStructure else {
          throw HomeError(.notFound, "there is no home yet; add one with `hearth home add`")
        }
        return options.output.result(HomeReport.json(primary, isPrimary: true), primary.name)
      }
      let (chosen, _) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownStructure(home)
        return ([.choosePrimaryStructure(known.id)], known)
      }
      options.output.result(
        HomeReport.json(chosen, isPrimary: true), "\(chosen.name) is the primary home now")
    }
  }
}

extension HomeCommands {
  struct Grace: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say how long a device must be away before that counts as settled, or set it.",
      discussion: """
        Shorter breaks are left out of the settled connectivity: settledConnectivityState of `hearth devices --json`, and \
        `hearth wait … --for settledConnectivity=offline`. That a device is back counts at once. The time is of the whole home, \
        and in force at once, also in processes that run. 0s: nothing is left out.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The new time, 24h at most. Default: none, and tell which it is.", valueName: "time"))
    var time: TimeSpan?

    func run() async throws {
      let names = StoredNames(try options.stateDirectory)
      if let time {
        try names.withDatabase { database throws(HomeError) in try database.setGrace(time.duration) }
      }
      let grace = try names.grace()
      options.output.result(["graceMilliseconds": .integer(grace.milliseconds)], TimeSpan.text(grace))
    }
  }
}

extension HomeCommands {
  /// Which devices a home accepts.
  enum Trusted: String, ExpressibleByArgument {
    case production, test, all
  }

  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show or set whether devices with public test certificates may be paired.",
      discussion: """
        The keys of the public test roots are known to everybody, so a device with such a certificate does not prove who made it. \
        test (or all): such devices are accepted, which is the default. production: they are refused. Devices in the home stay.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The new setting. Default: show the current one.", valueName: "production|test|all"))
    var trusted: Trusted?

    func run() async throws {
      let names = StoredNames(try options.stateDirectory)
      if let trusted {
        try names.withDatabase { database throws(HomeError) in
          try database.setTrustsTestDevices(trusted != .production)
        }
      }
      let setting: Trusted = try names.trustsTestDevices() ? .test : .production
      options.output.result(["trust": .string(setting.rawValue)], setting.rawValue)
    }
  }
}

extension HomeCommands {
  struct Interface: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show or set the network interfaces that the home is on.",
      discussion: """
        Commands use them unless --interface or HEARTH_INTERFACE names others. The first `hearth pair` that names some sets them; \
        none forgets them, which leaves loopback only.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The interfaces, all, or none. Default: show the current ones.", valueName: "name"))
    var interfaces: [String] = []

    func run() async throws {
      let names = StoredNames(try options.stateDirectory)
      if !interfaces.isEmpty {
        let wanted = interfaces == ["none"] ? [] : interfaces
        _ = try NetworkOptions.existing(wanted)
        try names.withDatabase { database throws(HomeError) in try database.setInterfaces(wanted) }
      }
      let current = try names.interfaces()
      options.output.result(
        ["interfaces": .array(current.map { .string($0) })],
        current.isEmpty ? "loopback only" : current.joined(separator: " "))
    }
  }
}

enum HomeReport {
  static func json(_ structure: Structure, isPrimary: Bool) -> JSON {
    ["id": .string(structure.id), "name": .string(structure.name), "primary": .bool(isPrimary)]
  }
}
