internal import HearthHome
internal import HomeText
internal import MatterModel
internal import MatterProtocol
internal import VirtualDevices
internal import Yams

// Parses `do:` commands, in the syntax of the command line: `on lamp`, `bind switch to lamp`, `scene recall Evening`.
extension ScenarioReader {
  private typealias Words = [String]

  private static let forms = [
    "on": "on NAME", "off": "off NAME", "toggle": "toggle NAME", "level": "level NAME 40%",
    "color": "color NAME 2700K, or with quotation marks “color NAME #ff8800”", "pair": "pair NAME",
    "rename": "rename NAME to NAME", "remove": "remove NAME", "bind": "bind NAME to NAME",
    "unbind": "unbind NAME from NAME", "share": "share NAME, or share NAME for 5m",
    "write": "write NAME.ATTRIBUTE VALUE", "invoke": "invoke NAME.COMMAND FIELD=VALUE",
    "group": "group create GROUP, group delete GROUP, group add NAME to GROUP, group remove NAME from GROUP, "
      + "group on|off|toggle GROUP, or group invoke GROUP CLUSTER.COMMAND FIELD=VALUE",
    "room": "room add ROOM, room rename ROOM to ROOM, room remove ROOM, or room assign NAME to ROOM",
    "scene":
      "scene store SCENE of NAME, scene recall SCENE of NAME, or scene remove SCENE of NAME; "
      + "without “of NAME”: of all",
    "home": "home add HOME, home rename HOME to HOME, home remove HOME, home primary HOME, or home grace 30s",
    "acl": "acl grant NAME view|operate|manage|administer --to NAME, or --to-group NUMBER; "
      + "with --endpoint NUMBER and --cluster CLUSTER; or acl revoke NAME NUMBER",
    "fabrics": "fabrics remove NAME INDEX", "update": "update NAME from NAME",
  ]
  private static let commands = [
    "on", "off", "toggle", "level", "color", "pair", "rename", "remove", "bind", "unbind", "share", "write", "invoke",
    "group", "room", "scene", "home", "acl", "fabrics", "update",
  ]

  mutating func command(_ node: Node) -> HomeCommand? {
    let words = Self.splitWords(node.scalar?.string ?? "")
    guard let verb = words.first, let form = Self.forms[verb] else {
      let all = Self.commands.compactMap { Self.forms[$0]?.split(separator: ",").first }.joined(separator: ", ")
      report(
        at: document.mark(of: node), found: node.summary, expected: all,
        suggestions: NearestName.suggestions(for: words.first ?? "", in: Self.commands))
      return nil
    }
    // Unless a problem with the name of a device has already been reported.
    let before = problems.count
    if let command = command(verb, Array(words.dropFirst()), node) { return command }
    if problems.count == before { report(node, expected: form) }
    return nil
  }

  private mutating func command(_ verb: String, _ words: Words, _ node: Node) -> HomeCommand? {
    guard let first = words.first, let last = words.last else { return nil }
    switch verb {
    case "on", "off", "toggle":
      guard let action = SwitchAction(rawValue: verb) else { return nil }
      return targets(of: words[...], node).map { .turn($0, action) }
    case "pair": return device(of: words, node).map { .pair($0) }
    case "remove": return device(of: words, node).map { .remove($0) }
    case "level":
      guard words.count > 1, let targets = targets(of: words.dropLast(), node) else { return nil }
      return (try? WantedLevel(text: last, raw: false)).map { .level(targets, $0) }
    case "color":
      guard words.count > 1, let color = try? LightColor(text: last) else { return nil }
      return targets(of: words.dropLast(), node).map { .color($0, color) }
    case "rename": return split(words, "to", node).map { .rename($0, to: $1) }
    case "bind", "unbind":
      guard let (source, rest) = split(words, verb == "bind" ? "to" : "from", node),
        let target = device(of: [rest], node)
      else { return nil }
      return verb == "bind" ? .bind(source, to: target) : .unbind(source, from: target)
    case "update":
      guard let (name, rest) = split(words, "from", node), let provider = device(of: [rest], node) else { return nil }
      return .update(name, from: provider)
    case "share":
      guard words.count > 2, words[words.count - 2] == "for" else {
        return device(of: words, node).map { .share($0, for: .seconds(180)) }
      }
      guard let time = TimeText.duration(last), (.seconds(180)...(.seconds(900))).contains(time) else {
        report(node, expected: "a window of 3m to 15m")
        return nil
      }
      return device(of: words.dropLast(2), node).map { .share($0, for: time) }
    case "write":
      guard words.count > 1, let (device, place) = attribute(words.dropLast().joined(separator: " "), node) else {
        return nil
      }
      return encoded(.scalar(Node.Scalar(last, Tag(.implicit), .plain, node.mark)), place).map {
        .write(device, place, value: $0)
      }
    case "invoke": return invocation(words, node)
    case "group": return group(first, Array(words.dropFirst()), node).map { .group($0) }
    case "room": return room(first, Array(words.dropFirst()), node).map { .room($0) }
    case "scene": return scene(first, Array(words.dropFirst()), node).map { .scene($0) }
    case "home": return home(first, Array(words.dropFirst()), node).map { .home($0) }
    case "acl": return access(first, Array(words.dropFirst()), node).map { .access($0) }
    case "fabrics":
      guard first == "remove", words.count > 2, let index = UInt8(last) else { return nil }
      return device(of: words.dropFirst().dropLast(), node).map { .removeFabric(FabricIndex(index), from: $0) }
    default: return nil
    }
  }

  /// Parses `invoke lamp.identify.identify identifyTime=5`; the cluster is optional if the command's name is unique.
  private mutating func invocation(_ words: Words, _ node: Node) -> HomeCommand? {
    let end = words.firstIndex { $0.contains("=") || $0.hasPrefix("{") } ?? words.endIndex
    guard let element = element(words[..<end].joined(separator: " "), node) else { return nil }
    let found = names.commands(of: element)
    guard let place = found.first, found.count == 1 else {
      report(
        element, .command, node, others: found.isEmpty ? nil : "has such a command",
        suggestions: names.commandNames(of: element.device))
      return nil
    }
    do throws(HomeError) {
      let fields = try CommandFields.encode(
        Array(words[end...]), place.command, of: place.cluster, levels: element.device.levels)
      return .invoke(
        element.device.path, place.cluster, place.command.id, on: element.endpoint, fields: fields,
        isTimed: place.command.quality.contains(.timed))
    } catch {
      report(node, expected: error.message)
      return nil
    }
  }

  private mutating func group(_ verb: String, _ words: Words, _ node: Node) -> HomeCommand.GroupAction? {
    guard !words.isEmpty else { return nil }
    let name = words.joined(separator: " ")
    switch verb {
    case "create":
      guard name.utf8.count <= 16 else {
        report(node, expected: "a group's name of at most 16 bytes")
        return nil
      }
      return .create(name)
    case "delete": return .delete(name)
    case "add": return splitTargets(words, "to", node).map { .add($0, to: $1) }
    case "remove": return splitTargets(words, "from", node).map { .remove($0, from: $1) }
    case "on", "off", "toggle": return groupCommand("onOff.\(verb)", [], to: name, node)
    case "invoke":
      let end = words.firstIndex { $0.contains("=") || $0.hasPrefix("{") } ?? words.endIndex
      guard end > 1 else { return nil }
      let name = words[..<(end - 1)].joined(separator: " ")
      return groupCommand(words[end - 1], Array(words[end...]), to: name, node)
    default: return nil
    }
  }

  private mutating func groupCommand(
    _ command: String, _ fields: [String], to group: String, _ node: Node
  ) -> HomeCommand.GroupAction? {
    do throws(HomeError) {
      let parsed = try CommandFields.groupCommand(command, fields)
      return .invoke(group, parsed.cluster, parsed.command, fields: parsed.fields)
    } catch {
      report(node, expected: "a command to a group (\(error.message))")
      return nil
    }
  }

  private mutating func room(_ verb: String, _ words: Words, _ node: Node) -> HomeCommand.RoomAction? {
    guard !words.isEmpty else { return nil }
    let name = words.joined(separator: " ")
    switch verb {
    case "add":
      names.addRoom(name)
      return .add(name)
    case "remove": return .remove(name)
    case "assign": return splitTargets(words, "to", node).map { .assign($0, to: $1) }
    case "rename":
      guard let (old, new) = split(words) else { return nil }
      names.addRoom(new)
      return .rename(old, to: new)
    default: return nil
    }
  }

  private mutating func scene(_ verb: String, _ words: Words, _ node: Node) -> HomeCommand.SceneAction? {
    var (scene, targets): (Words, [TargetName]) = (words, [])
    if let of = words.lastIndex(of: "of"), of > 0, of + 1 < words.count {
      guard let found = self.targets(of: words[(of + 1)...], node) else { return nil }
      (scene, targets) = (Array(words[..<of]), found)
    }
    let name = scene.joined(separator: " ")
    guard !name.isEmpty else { return nil }
    switch verb {
    case "store":
      guard name.utf8.count <= Home.sceneNameLimit else {
        report(node, expected: "a scene's name of at most \(Home.sceneNameLimit) bytes")
        return nil
      }
      return .store(name, of: targets)
    case "recall": return .recall(name, of: targets)
    case "remove": return .remove(name, of: targets)
    default: return nil
    }
  }

  // MARK: Parts

  mutating func device(of words: some Sequence<String>, _ node: Node) -> String? {
    device(words.joined(separator: " "), node)
  }

  /// Splits words at the first “to”.
  func split(_ words: [String]) -> (old: String, new: String)? {
    guard let to = words.firstIndex(of: "to"), to > 0, to + 1 < words.count else { return nil }
    return (words[..<to].joined(separator: " "), words[(to + 1)...].joined(separator: " "))
  }

  /// Splits words at a separator so that the words before it name a device; names may contain the separator.
  private mutating func split(_ words: Words, _ separator: String, _ node: Node) -> (device: String, rest: String)? {
    let parts = split(words, separator, node) { (try? $0.names.find($1.joined(separator: " ")).get()) != nil }
    guard let parts, let device = device(of: parts.front, node) else { return nil }
    return (device, parts.rest)
  }

  /// Splits words at a separator so that the words before it name targets.
  private mutating func splitTargets(
    _ words: Words, _ separator: String, _ node: Node
  ) -> (targets: [TargetName], rest: String)? {
    let parts = split(words, separator, node) { !$0.readings(of: $1).readings.isEmpty }
    guard let parts, let targets = targets(of: parts.front, node) else { return nil }
    return (targets, parts.rest)
  }

  private mutating func split(
    _ words: Words, _ separator: String, _ node: Node, _ isName: (Self, ArraySlice<String>) -> Bool
  ) -> (front: ArraySlice<String>, rest: String)? {
    let all = words.indices.filter { words[$0] == separator && $0 > 0 && $0 + 1 < words.count }
    let right = all.filter { isName(self, words[..<$0]) }
    if right.count > 1 {
      let fronts = right.map { words[..<$0].joined(separator: " ") }.joined(separator: " or ")
      report(node, expected: "the name of one device, not of \(fronts)")
      return nil
    }
    guard let at = right.first ?? all.first else { return nil }
    return (words[..<at], words[(at + 1)...].joined(separator: " "))
  }
}
