import ArgumentParser
import HearthHome
import MatterProtocol

// `hearth home list|add|rename|remove|primary|grace|trust|interface`.
extension HomeCommands {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the homes with their rooms and devices.")
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
        options.output.progress("no homes yet; pair a device, or add one with `hearth home add NAME`")
      }
      options.output.result(.array(json), table.rows.isEmpty ? "" : table.text)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add a home; the first one is the primary home.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The name.") var name: String

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
    static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a home.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The home.") var home: String
    @Argument(help: "The new name.") var name: String

    func run() async throws {
      let (home, name) = (home, name)
      let (renamed, results) = try await options.names.edit { state throws(HomeError) in
        let old = try state.knownStructure(home)
        var new = old
        new.name = try HomeNames.checked(name).name
        let isPrimary = old.id == state.primaryStructureID
        return ([.renameStructure(id: old.id, name: name)], (old: old, new: new, isPrimary: isPrimary))
      }
      options.output.result(
        HomeReport.json(renamed.new, isPrimary: renamed.isPrimary).adding("wasCut", options.noteCut(results)),
        "\(renamed.old.name) is now \(renamed.new.name)")
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a home without devices, and its rooms.",
      discussion: "If it was the primary home, the first remaining home becomes the primary home.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The home.") var home: String

    func run() async throws {
      let home = home
      let (removed, _) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownStructure(home)
        var after = state
        for change in try state.removingStructure(known.id) { after.apply(change) }
        return ([.removeStructure(id: known.id)], (old: known, primary: after.primaryStructure))
      }
      options.output.result(
        [
          "id": .string(removed.old.id), "name": .string(removed.old.name),
          "primaryHome": .optional(removed.primary?.name),
        ],
        "removed \(removed.old.name)")
    }
  }

  struct Primary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "primary", abstract: "Show or set the primary home.")
    @OptionGroup var options: NamesOptions
    @Argument(help: "The new primary home. Default: show the current one.") var home: String?

    func run() async throws {
      guard let home else {
        guard let primary = try await options.names.state().primaryStructure else {
          throw HomeError(.notFound, "no homes yet; add one with `hearth home add NAME`")
        }
        return options.output.result(HomeReport.json(primary, isPrimary: true), primary.name)
      }
      let (chosen, _) = try await options.names.edit { state throws(HomeError) in
        let known = try state.knownStructure(home)
        return ([.choosePrimaryStructure(id: known.id)], known)
      }
      options.output.result(
        HomeReport.json(chosen, isPrimary: true), "\(chosen.name) is now the primary home")
    }
  }
}

extension HomeCommands {
  struct Grace: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "grace", abstract: "Show or set the grace time before an offline device counts as settled.",
      discussion: """
        The settled connectivity ignores shorter outages: settledConnectivityState of `hearth devices --json`, and \
        `hearth wait … --for settledConnectivity=offline`. A device that returns is settled as online at once. The grace time \
        applies to all devices and takes effect at once, also in running processes. 0s ignores no outage.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The new time, at most 24h. Default: show the current one.", valueName: "time"))
    var time: TimeSpan?

    func run() async throws {
      let grace = try await options.withHome { home in
        if let time { try await home.setGraceTime(time.duration) }
        return try await home.graceTime
      }
      options.output.result(["graceMilliseconds": .int(grace.milliseconds)], TimeSpan.text(grace))
    }
  }
}

extension HomeCommands {
  /// The attestation roots that a home accepts.
  enum Trusted: String, ExpressibleByArgument {
    case production, test, all
  }

  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "trust", abstract: "Show or set whether devices with public test certificates may be paired.",
      discussion: """
        The private keys of the test roots are published, so a certificate of a test root does not prove the vendor of a device. \
        test (or all) accepts such devices and is the default; production refuses them. Paired devices are not affected.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The new setting. Default: show the current one.", valueName: "production|test|all"))
    var trusted: Trusted?

    func run() async throws {
      let changes = HomeSettings.Changes(trustsTestDevices: trusted.map { $0 != .production })
      let settings = try await options.withHome { try await $0.change(changes) }
      let setting: Trusted = settings.trustsTestDevices ? .test : .production
      options.output.result(["trust": .string(setting.rawValue)], setting.rawValue)
    }
  }
}

extension HomeCommands {
  struct Interface: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "interface", abstract: "Show or set the network interfaces of the home.",
      discussion: """
        Commands use these interfaces unless --interface or HEARTH_INTERFACE is given. The first `hearth pair` with such an \
        option sets them. none clears them, which leaves loopback only.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: ArgumentHelp("The interfaces, all, or none. Default: show the current ones.", valueName: "name"))
    var interfaces: [String] = []

    func run() async throws {
      let wanted = interfaces.isEmpty ? nil : interfaces == ["none"] ? [] : interfaces
      if let wanted { _ = try NetworkOptions.existing(wanted) }
      let current = try await options.withHome { try await $0.change(.init(interfaces: wanted)).interfaces }
      options.output.result(
        ["interfaces": .texts(current)],
        current.isEmpty ? "loopback only" : current.joined(separator: " "))
    }
  }
}

enum HomeReport {
  static func json(_ structure: Structure, isPrimary: Bool) -> JSON {
    ["id": .string(structure.id), "name": .string(structure.name), "primary": .bool(isPrimary)]
  }
}
