import ArgumentParser
import Home
import MatterClusters
import MatterController
import MatterModel

/// `hearth group`.
struct Group: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Groups of devices that one message reaches.",
    discussion: """
      A group has a name and a number; either will do. Members get the keys, and let the group operate them. For example:
        hearth group create Den
        hearth group add Den den/lamp den/plug
        hearth group invoke Den onOff.toggle
      Nobody answers a message to a group: it is sent once, and what became of it can only be read from the members.
      """,
    subcommands: [List.self, Create.self, Delete.self, Add.self, Remove.self, Invoke.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The groups, and who is in them.")
    @OptionGroup var home: LocalHomeOptions

    func run() async throws {
      try await home.withHome { session in
        let (groups, deleted) = try await (session.controller.groups, session.controller.deletedGroups)
        let registry = await session.registry
        var table = Table("GROUP", "NAME", "MEMBERS")
        for group in groups {
          let members = group.members.map { registry.name(of: $0) }
          table.add("\(group.id.rawValue)", group.name, members.isEmpty ? "–" : members.joined(separator: ", "))
        }
        for group in deleted {
          let pending = registry.names(of: group.holders)
          table.add("\(group.id.rawValue)", group.name, "deleted; pending: \(pending.joined(separator: ", "))")
        }
        home.output.result(
          .array((groups + deleted).map { $0.json(registry) }), table.rows.isEmpty ? "" : table.text)
      }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a group without members.")
    @OptionGroup var home: LocalHomeOptions
    @Option(help: ArgumentHelp("Its number, 1 to 32767; else one that is free.", valueName: "number")) var id: UInt16?
    @Argument(help: "Its name, at most 16 bytes.") var name: String

    func run() async throws {
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.controller.createGroup(id.map { GroupID($0) }, name: name)
        home.output.result(group.json(await session.registry), "group \(group.id.rawValue) is \(group.name)")
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete a group.",
      discussion: """
        Removes the group's keys, memberships and access entries from its members. A member that can't be reached loses them when \
        it can be again; until then no new group has the number or the keys.
        """)
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The group.") var group: String

    func run() async throws {
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.group(group)
        let pending = try await session.controller.deleteGroup(group.id)
        let registry = await session.registry
        let names = registry.names(of: pending)
        home.output.result(
          group.json(registry, pending: pending),
          "deleted \(group.name)"
            + (names.isEmpty ? "" : "; still to be removed from: \(names.joined(separator: ", "))"))
      }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take devices into a group.")
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: "The devices.") var targets: [String]

    func run() async throws { try await home.change(group, targets, isMember: true) }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take devices out of a group.")
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: "The devices.") var targets: [String]

    func run() async throws { try await home.change(group, targets, isMember: false) }
  }

  struct Invoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Have all members carry out a command.",
      discussion: "As: hearth group invoke Den levelControl.moveToLevel level=128 transitionTime=10")
    @OptionGroup var home: LocalHomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: ArgumentHelp("cluster.command, by names or numbers.", valueName: "cluster.command"))
    var command: String
    @Argument(parsing: .remaining, help: ArgumentHelp("Its fields.", valueName: "field=value")) var fields: [String] =
      []

    func run() async throws {
      let (cluster, element) = try HomeRegistry.command(command)
      let info = ElementNames.command(CommandPath(endpoint: nil, cluster: cluster, command: element))
      if info?.quality.contains(.timed) == true {
        throw HomeError(.badArguments, "\(command) has to be timed, which a message to a group can't be")
      }
      let encoded = try CommandFields.encode(fields, info, of: cluster)
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.group(group)
        try await session.controller.invoke(group: group.id, cluster: cluster, command: element, fields: encoded)
        let name = "\(ElementNames.cluster(cluster)).\(ElementNames.command(element, of: cluster))"
        home.output.result(
          group.json(await session.registry).adding("command", .string(name)), "\(group.name): \(name) sent")
      }
    }
  }
}

extension LocalHomeOptions {
  fileprivate func withGroups(_ body: (Home) async throws(HomeError) -> Void) async throws {
    try await output.tellingWaits { try await Home.owning(try options(), body) }
  }

  fileprivate func change(_ group: String, _ texts: [String], isMember: Bool) async throws {
    let targets = try await registry().resolve(all: texts, serving: Groups.id)
    try check(targets.map(\.device))
    try await withGroups { session throws(HomeError) in
      var record = try await session.group(group)
      for target in targets { record = try await session.change(record, target, isMember: isMember) }
      let registry = await session.registry
      let members = record.members.map { registry.name(of: $0) }
      output.result(
        record.json(registry),
        "\(record.name): \(members.isEmpty ? "nobody" : members.joined(separator: ", "))")
    }
  }
}

extension HomeRegistry {
  fileprivate func name(of member: GroupRecord.Member) -> String {
    "\(device(member.node)?.fullName ?? "node \(member.node)")/\(member.endpoint)"
  }
}

extension HomeRegistry {
  /// What people call nodes that may still have something of a deleted group.
  fileprivate func names(of holders: [NodeID]) -> [String] {
    holders.map { device($0)?.fullName ?? "node \($0), which was removed by force" }
  }
}

extension GroupRecord {
  /// - Parameter pending: the nodes that have not left the group, if it was deleted just now.
  fileprivate func json(_ registry: HomeRegistry, pending: [NodeID]? = nil) -> JSON {
    let pending = pending ?? (isDeleted ? holders : nil)
    return [
      "id": .integer(id.rawValue), "name": .string(name),
      "members": .array(
        members.map { member in
          [
            "nodeID": .string("\(member.node.rawValue)"), "endpoint": .integer(member.endpoint.rawValue),
            "name": .optional(registry.device(member.node)?.fullName),
          ]
        }),
      "deleted": .bool(pending != nil),
      "pending": .array(
        (pending ?? []).map {
          ["nodeID": .string("\($0.rawValue)"), "name": .optional(registry.device($0)?.fullName)]
        }),
    ]
  }
}
