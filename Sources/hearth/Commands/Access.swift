import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterModel

/// `hearth acl`.
struct Access: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acl", abstract: "Manage the access control list of a device.",
    subcommands: [List.self, Grant.self, Revoke.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the numbered entries.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The device.", completion: .device) var device: String

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let registry = await session.registry
        let own = try await session.fabric.nodeID
        let entries = try await session.accessList(of: device)
        home.output.result(
          .array(entries.enumerated().map { AccessReport.json($0.element).adding("number", .int($0.offset + 1)) }),
          AccessReport.table(entries, registry, own))
      }
    }
  }

  struct Grant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "grant", abstract: "Grant a privilege on a device.",
      discussion: """
        Applies to the whole device unless --endpoint or --cluster is given. For example:
          hearth acl grant kitchen/lamp operate --to hall/switch --endpoint 1
          hearth acl grant kitchen/lamp manage --to-group 7
        """)
    @OptionGroup var home: HomeOptions
    @Option(
      help: ArgumentHelp(
        "Subject: a device of this home, a node id, tag:0xIIIIVVVV, or * for all nodes of this home; repeatable.",
        valueName: "subject"), completion: .device)
    var to: [String] = []
    @Option(
      name: .customLong("to-group"),
      help: ArgumentHelp("Subject: messages to this group; repeatable.", valueName: "group"))
    var group: [WireNumber] = []
    @Flag(help: "Write the list even if this home loses access to the device.") var force = false
    @Option(help: "Restrict to this endpoint; repeatable.") var endpoint: [UInt16] = []
    @Option(help: "Restrict to this cluster.") var cluster: String?
    @Argument(help: "The device.", completion: .device) var device: String
    @Argument(help: "The privilege: view, operate, manage or administer.") var privilege: PrivilegeArgument

    func validate() throws {
      guard to.isEmpty != group.isEmpty else { throw ValidationError("expected either --to or --to-group") }
      guard group.isEmpty || privilege != .administer else {
        throw ValidationError("--to-group can't be combined with the privilege administer")
      }
    }

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let registry = await session.registry
        let own = try await session.fabric.nodeID
        let entry = AccessEntry(
          privilege: privilege.privilege, authMode: group.isEmpty ? .case : .group,
          subjects: try subjects(registry), targets: try AccessEntry.targets(endpoints: endpoint, cluster: cluster))
        let (entries, isChanged) = try await session.grant(entry, on: device, force: force)
        home.output.result(
          device.jsonNames.adding("changed", .bool(isChanged)).adding(
            "entries", .array(entries.map(AccessReport.json))),
          isChanged ? AccessReport.table(entries, registry, own) : "\(device.label): already granted")
      }
    }

    private func subjects(_ registry: HomeRegistry) throws(HomeError) -> Nullable<[NodeID]> {
      if !group.isEmpty { return .value(group.map { NodeID(UInt64($0.value)) }) }
      if to.contains("*") { return .null }
      var subjects: [NodeID] = []
      for text in to {
        // A node of this home's fabric need not be one of its devices: another controller has none.
        if let subject = AccessEntry.subject(text) {
          subjects.append(subject)
        } else {
          subjects.append(try registry.resolve(text).device.nodeID)
        }
      }
      return .value(subjects)
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "Remove an entry from the list.",
      discussion: "The entry that lets this home administer the device is removed only with --force.")
    @OptionGroup var home: HomeOptions
    @Flag(help: "Remove the entry even if this home loses access to the device.") var force = false
    @Argument(help: "The device.", completion: .device) var device: String
    @Argument(help: "The number of the entry, from `hearth acl list`.") var number: Int

    func run() async throws {
      try await home.withDevice(device) { session, device in
        let registry = await session.registry
        let own = try await session.fabric.nodeID
        let entry = try await session.revokeAccess(number: number, on: device, force: force)
        home.output.result(
          device.jsonNames.adding("removed", AccessReport.json(entry)),
          "\(device.label): revoked \(NormalizedName.camelCase("\(entry.privilege)")) from "
            + AccessReport.subjects(entry, registry, own))
      }
    }
  }
}

/// A privilege as a command line argument.
enum PrivilegeArgument: String, ExpressibleByArgument, CaseIterable {
  case view, operate, manage, administer

  var privilege: AccessPrivilege {
    switch self {
    case .view: .view
    case .operate: .operate
    case .manage: .manage
    case .administer: .administer
    }
  }
}

/// Formats access control lists as tables and JSON.
enum AccessReport {
  static func table(_ entries: [AccessEntry], _ registry: HomeRegistry, _ own: NodeID) -> String {
    var table = Table("NUMBER", "SUBJECT", "PRIVILEGE", "TARGET")
    for (index, entry) in entries.enumerated() {
      table.add(
        "\(index + 1)", subjects(entry, registry, own), NormalizedName.camelCase("\(entry.privilege)"), targets(entry))
    }
    return table.text
  }

  static func subjects(_ entry: AccessEntry, _ registry: HomeRegistry, _ own: NodeID) -> String {
    let subjects = entry.subjects.wrapped ?? []
    if entry.authMode == .group {
      return subjects.isEmpty ? "any group" : "group " + subjects.map { "\($0.rawValue)" }.joined(separator: ", ")
    }
    if subjects.isEmpty { return "all nodes of this home" }
    return subjects.map { subject in
      if subject.isTag { return "tag:\(CASEAuthenticatedTag(UInt32(truncatingIfNeeded: subject.rawValue)))" }
      if subject == own { return "this home" }
      return registry.device(subject)?.fullName ?? "node \(subject.rawValue)"
    }.joined(separator: ", ")
  }

  private static func targets(_ entry: AccessEntry) -> String {
    let targets = entry.targets.wrapped ?? []
    if targets.isEmpty { return "whole device" }
    return targets.map { target in
      [
        target.endpoint.wrapped.map { "endpoint \($0)" }, target.cluster.wrapped.map { ElementNames.cluster($0) },
        target.deviceType.wrapped.map { ElementNames.deviceType($0) },
      ].compactMap { $0 }.joined(separator: " ")
    }.joined(separator: ", ")
  }

  static func json(_ entry: AccessEntry) -> JSON {
    [
      "privilege": .string(NormalizedName.camelCase("\(entry.privilege)")),
      "authMode": .string("\(entry.authMode)".lowercased()),
      "subjects": entry.subjects.wrapped.map { .array($0.map { .string("\($0.rawValue)") }) } ?? .null,
      "targets": entry.targets.wrapped.map { targets in
        .array(
          targets.map { target in
            [
              "endpoint": .optional(target.endpoint.wrapped?.rawValue),
              "cluster": .optional(target.cluster.wrapped?.rawValue),
              "deviceType": .optional(target.deviceType.wrapped?.rawValue),
            ]
          })
      } ?? .null,
    ]
  }
}
