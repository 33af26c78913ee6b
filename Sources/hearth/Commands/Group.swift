import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterController
import MatterModel

/// `hearth group`.
struct Group: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "group", abstract: "Manage groups of devices, which receive multicast commands.",
    discussion: """
      Groups are named by name or number. Members receive the group keys and grant the group the privilege operate. For example:
        hearth group create Den
        hearth group add Den den/lamp den/plug
        hearth group invoke Den onOff.toggle
      Group messages are sent once and not acknowledged. To check the effect, read the members.
      """,
    subcommands: [List.self, Create.self, Delete.self, Add.self, Remove.self, Invoke.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the groups and their members.")
    @OptionGroup var home: HomeOptions

    func run() async throws {
      try await home.withHome { session in
        let (groups, deleted) = try await session.allGroups
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
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Create a group without members.")
    @OptionGroup var home: HomeOptions
    @Option(help: ArgumentHelp("The number, 1 to 32767. Default: a free number.", valueName: "number")) var id: UInt16?
    @Argument(help: "The name, at most 16 bytes.") var name: String

    func run() async throws {
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.createGroup(id.map { GroupID($0) }, name: name)
        home.output.result(group.json(await session.registry), "created group \(group.id.rawValue) (\(group.name))")
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a group.",
      discussion: """
        Removes the group's keys, memberships and access control entries from its members. For an unreachable member this is done \
        once it is reachable again; until then the number and the keys are not reused.
        """)
    @OptionGroup var home: HomeOptions
    @Argument(help: "The group.") var group: String

    func run() async throws {
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.group(group)
        let pending = try await session.deleteGroup(group.id)
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
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add devices to a group.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: "The devices.") var targets: [String]

    func run() async throws { try await home.change(group, targets, isMember: true) }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove devices from a group.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: "The devices.") var targets: [String]

    func run() async throws { try await home.change(group, targets, isMember: false) }
  }

  struct Invoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "invoke", abstract: "Invoke a command on all members.",
      discussion: "For example: hearth group invoke Den levelControl.moveToLevel level=128 transitionTime=10")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The group.") var group: String
    @Argument(help: ArgumentHelp("The command, by names or numbers.", valueName: "cluster.command"))
    var command: String
    @Argument(parsing: .remaining, help: ArgumentHelp("The fields.", valueName: "field=value"))
    var fields: [String] = []

    func run() async throws {
      let (cluster, element, encoded) = try CommandFields.groupCommand(command, fields)
      try await home.withGroups { session throws(HomeError) in
        let group = try await session.group(group)
        try await session.invoke(group: group.id, cluster: cluster, command: element, fields: encoded)
        let name = "\(ElementNames.cluster(cluster)).\(ElementNames.command(element, of: cluster))"
        home.output.result(
          group.json(await session.registry).adding("command", .string(name)), "\(group.name): \(name) sent")
      }
    }
  }
}

extension HomeOptions {
  fileprivate func withGroups(_ body: (Home) async throws(HomeError) -> Void) async throws {
    try await withHome(try options(), body)
  }

  fileprivate func change(_ group: String, _ texts: [String], isMember: Bool) async throws {
    let targets = try await registry().resolve(all: texts, serving: Groups.id)
    try check(targets.map(\.device))
    let results: [TargetResult] = try await withHome(try options()) { session in
      var record = try await session.group(group)
      var results: [TargetResult] = []
      for target in targets {
        do throws(HomeError) {
          record = try await session.change(record, target, isMember: isMember)
          let text = "\(target.device.label): \(isMember ? "added to" : "removed from") \(record.name)"
          results.append(TargetResult(device: target.device, result: .success((target.device.jsonNames, text))))
        } catch {
          results.append(TargetResult(device: target.device, result: .failure(error.about(target.device))))
        }
      }
      guard results.allSatisfy(\.isSuccess) else { return results }
      let registry = await session.registry
      let members = record.members.map { registry.name(of: $0) }
      output.result(
        record.json(registry),
        "\(record.name): \(members.isEmpty ? "no members" : members.joined(separator: ", "))")
      return []
    }
    if !results.isEmpty { try report(results) }
  }
}

extension HomeRegistry {
  fileprivate func name(of member: GroupRecord.Member) -> String {
    "\(device(member.node)?.fullName ?? "node \(member.node)")/\(member.endpoint)"
  }
}

extension HomeRegistry {
  /// Returns the names of nodes that may still hold keys or entries of a deleted group.
  fileprivate func names(of holders: [NodeID]) -> [String] {
    holders.map { device($0)?.fullName ?? "node \($0) (removed with --force)" }
  }
}

extension GroupRecord {
  /// - Parameter pending: the nodes that still hold keys or entries of the group, if it was deleted by this command.
  fileprivate func json(_ registry: HomeRegistry, pending: [NodeID]? = nil) -> JSON {
    let pending = pending ?? (isDeleted ? holders : nil)
    return [
      "id": .int(id.rawValue), "name": .string(name),
      "members": .array(
        members.map { member in
          [
            "nodeID": .string("\(member.node.rawValue)"), "endpoint": .int(member.endpoint.rawValue),
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
