internal import HearthHome
internal import HomeText
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import VirtualDevices
internal import Yams

// Parses the commands `home` and `acl`.
extension ScenarioReader {
  private static let privileges: [String: AccessPrivilege] = [
    "view": .view, "operate": .operate, "manage": .manage, "administer": .administer,
  ]

  mutating func home(_ verb: String, _ words: [String], _ node: Node) -> HomeCommand.HomeAction? {
    guard !words.isEmpty else { return nil }
    let name = words.joined(separator: " ")
    switch verb {
    case "add": return .add(name)
    case "rename": return split(words).map { .rename($0, to: $1) }
    case "remove": return .remove(name)
    case "primary": return .choosePrimary(name)
    case "grace":
      guard let time = TimeText.duration(name), time <= HomeDatabase.longestGrace else {
        report(node, expected: "a grace time of 0s to 24h")
        return nil
      }
      return .setGraceTime(time)
    default: return nil
    }
  }

  /// Parses `grant lamp operate --to wall --endpoint 1`, or `revoke lamp 2`.
  mutating func access(_ verb: String, _ words: [String], _ node: Node) -> HomeCommand.AccessAction? {
    let end = words.firstIndex { $0.hasPrefix("--") } ?? words.endIndex
    guard end > 1 else { return nil }
    let last = words[end - 1]
    if verb == "revoke", end == words.endIndex, let number = Int(last), number > 0 {
      return device(of: words[..<(end - 1)], node).map { .revoke(number, on: $0) }
    }
    guard verb == "grant", let privilege = Self.privileges[last],
      let device = device(of: words[..<(end - 1)], node),
      let grant = grant(privilege, words[end...], node)
    else { return nil }
    return .grant(grant.entry, to: grant.devices, on: device)
  }

  /// Parses the options of `acl grant`.
  /// - Returns: an entry without the devices that are subjects, and their paths.
  private mutating func grant(
    _ privilege: AccessPrivilege, _ words: ArraySlice<String>, _ node: Node
  ) -> (entry: AccessEntry, devices: [String])? {
    var options: [(name: String, value: [String])] = []
    for word in words {
      if word.hasPrefix("--") { options.append((word, [])) } else { options[options.count - 1].value.append(word) }
    }
    var (nodes, devices, isForAll) = ([NodeID](), [String](), false)
    var (groups, endpoints, cluster) = ([NodeID](), [UInt16](), nil as String?)
    for option in options {
      let value = option.value.joined(separator: " ")
      switch option.name {
      case "--to" where value == "*": isForAll = true
      case "--to":
        if let subject = AccessEntry.subject(value) {
          nodes.append(subject)
        } else {
          guard let device = device(value, node) else { return nil }
          devices.append(device)
        }
      case "--to-group":
        guard let number = UInt16(value), privilege != .administer else { return nil }
        groups.append(NodeID(UInt64(number)))
      case "--endpoint":
        guard let number = UInt16(value) else { return nil }
        endpoints.append(number)
      case "--cluster": cluster = value
      default: return nil
      }
    }
    // Either nodes or groups.
    guard (isForAll || !nodes.isEmpty || !devices.isEmpty) != !groups.isEmpty else { return nil }
    do throws(HomeError) {
      let targets = try AccessEntry.targets(endpoints: endpoints, cluster: cluster)
      let entry = AccessEntry(
        privilege: privilege, authMode: groups.isEmpty ? .case : .group,
        subjects: isForAll ? .null : .value(nodes + groups), targets: targets)
      return (entry, isForAll ? [] : devices)
    } catch {
      report(node, expected: "a cluster (\(error.message))")
      return nil
    }
  }
}
