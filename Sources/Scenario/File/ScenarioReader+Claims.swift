internal import HearthHome
internal import HomeText
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol
internal import VirtualDevices
internal import Yams

// Parses expectations: `lamp.onOff: true`, `lamp.connectivity: online`, `actual lamp.onOff: true`, `messages: < 50`.
extension ScenarioReader {
  mutating func expectation(_ node: Node, _ within: Node?) -> [(ScenarioStep.Action, String)] {
    guard case .mapping(let mapping) = node else {
      report(node, expected: "a mapping such as {lamp.onOff: true, within: 2s}")
      return []
    }
    let before = problems.count
    var limit = within.flatMap { duration($0) } ?? .zero
    var claims: [Claim] = []
    for (key, value) in mapping {
      if key.scalar?.string == "within" {
        limit = duration(value) ?? .zero
      } else if let claim = claim(key, value) {
        claims.append(claim)
      }
    }
    if claims.isEmpty, problems.count == before {
      report(node, expected: "what has to hold, such as {lamp.onOff: true}")
    }
    let text = claims.map(\.text).joined(separator: ", ")
    return [
      (.expect(claims, within: limit), "expect \(text)\(limit == .zero ? "" : " within \(TimeText.text(limit))")")
    ]
  }

  mutating func claims(listed node: Node) -> [Claim] {
    let mappings: [Node]
    switch node {
    case .sequence(let sequence): mappings = Array(sequence)
    case .mapping: mappings = [node]
    default:
      report(node, expected: "a mapping such as {lamp.connectivity: online}, or a list of them")
      return []
    }
    let expected = "what has to hold, such as {lamp.connectivity: online}"
    if mappings.isEmpty { report(node, expected: expected) }
    var claims: [Claim] = []
    for node in mappings {
      guard case .mapping(let mapping) = node else {
        report(node, expected: "a mapping such as {lamp.connectivity: online}")
        continue
      }
      if mapping.isEmpty { report(node, expected: expected) }
      for (key, value) in mapping { if let claim = claim(key, value) { claims.append(claim) } }
    }
    return claims
  }

  private mutating func claim(_ key: Node, _ value: Node) -> Claim? {
    guard let subject = subject(key, value) else { return nil }
    var text = value.words
    if case .mapping = value { text = "{" + Self.words(value).dropFirst(2) + "}" }
    return Claim(subject: subject, mark: document.mark(of: key), name: key.scalar?.string ?? "", value: text)
  }

  private mutating func subject(_ key: Node, _ value: Node) -> Claim.Subject? {
    let name = key.scalar?.string ?? ""
    if name.hasPrefix("event ") { return event(String(name.dropFirst("event ".count)), key, value) }
    let isActual = name.hasPrefix("actual ")
    let path = isActual ? String(name.dropFirst("actual ".count)) : name
    let last = path.split(separator: ".").last.map(String.init) ?? ""
    let front = String(path.dropLast(last.count + 1))
    if isActual, ["messages", "connectivity", "locality"].contains(last) {
      report(
        at: document.mark(of: key), found: "“\(name)”",
        expected: "“\(path)”, or an attribute: “actual” is for what a device itself holds")
      return nil
    }
    switch last {
    case "messages":
      guard let comparison = comparison(value) else { return nil }
      if path == last { return .messages(of: nil, comparison) }
      return machine(front, key).map { .messages(of: $0, comparison) }
    case "connectivity":
      let states = ConnectivityState.allCases.map(\.rawValue)
      guard let device = device(front, key), let state = one(of: states, value) else { return nil }
      return .connectivity(device: device, is: state)
    case "locality":
      let states = DataSourceLocality.allCases.map(\.rawValue)
      guard let device = device(front, key), let state = one(of: states, value) else { return nil }
      return .locality(device: device, is: state)
    default:
      guard let (device, found) = attribute(path, key) else { return nil }
      var place = found
      // The home compares a percentage with the one that it shows, whatever levels the device has.
      if !isActual { place.levels = .standard }
      guard let encoded = encoded(value, place) else { return nil }
      if isActual { return .actual(device: device, place, is: encoded) }
      let hasUnit = Int(value.words) == nil && AttributeUnits.text(place.path, encoded) != nil
      return .attribute(device: device, place, is: encoded, hasUnit: hasUnit)
    }
  }

  /// Parses an event claim: `event bell.switch.longPress: true`, or
  /// `event remote.switch.multiPressComplete: { button: On, totalNumberOfPressesCounted: 2 }`.
  private mutating func event(_ path: String, _ key: Node, _ value: Node) -> Claim.Subject? {
    guard let element = element(path, key) else { return nil }
    let found = names.events(of: element)
    guard let (cluster, info) = found.first, found.count == 1 else {
      report(
        element, .event, key, others: found.isEmpty ? nil : "has such an event",
        suggestions: names.eventNames(of: element.device))
      return nil
    }
    var condition = Claim.EventCondition(cluster: cluster, event: info.id)
    condition.endpoint = element.endpoint
    guard readFields(value, of: info, element.device, into: &condition) else { return nil }
    return .event(device: element.device.path, condition)
  }

  private mutating func readFields(
    _ value: Node, of info: EventInfo, _ device: DeviceDefinition, into condition: inout Claim.EventCondition
  ) -> Bool {
    guard case .structure(let members) = info.payload else { return false }
    let known = ["button"] + members.map { NormalizedName.camelCase($0.name) }
    let expected = "true, or fields of the event such as {\(known.dropFirst().first ?? "button"): …}"
    guard case .mapping(let mapping) = value else {
      if value.scalar.flatMap({ ScalarReading.boolean($0.string) }) == true { return true }
      report(value, expected: expected)
      return false
    }
    guard !mapping.isEmpty, let fields = fields(of: value, known: known, what: "an event") else {
      if mapping.isEmpty { report(value, expected: expected) }
      return false
    }
    for (name, node) in fields.sorted(by: { $0.key < $1.key }) {
      if name == "button" {
        guard let button = button(node, of: device.path) else { return false }
        condition.button = button
      } else if let member = members.first(where: { NormalizedName.camelCase($0.name) == name }) {
        do throws(ValueTextError) {
          condition.fields[member.id] = try member.schema.parse(text: node.words)
        } catch {
          report(node, expected: "a value of \(name) (\(error))")
          return false
        }
      }
    }
    return true
  }

  mutating func one(of all: [String], _ node: Node) -> String? { choice(node, all.map { ($0, $0) }) }

  private mutating func comparison(_ node: Node) -> Claim.Comparison? {
    guard let text = scalar(node) else { return nil }
    let blank = text.filter { !$0.isWhitespace }
    for relation in Claim.Comparison.Relation.allCases where blank.hasPrefix(relation.rawValue) {
      if let number = Int(blank.dropFirst(relation.rawValue.count)) { return .init(relation: relation, number: number) }
    }
    if let number = Int(blank) { return .init(relation: .equal, number: number) }
    report(node, expected: "a number, or one such as “< 50”")
    return nil
  }

  // MARK: Devices and their attributes

  /// The name of the machine that runs the home.
  static let hub = "hub"

  /// Reports devices named like the machine that runs the home, as the name would be ambiguous.
  mutating func refuseHubs() { problems += names.hubs }

  mutating func device(_ node: Node, orHub: Bool = false) -> String? {
    device(node.scalar?.string ?? "", node, orHub: orHub)
  }

  mutating func device(_ name: String, _ node: Node, orHub: Bool = false) -> String? {
    if orHub, name.lowercased() == Self.hub { return Self.hub }
    switch names.find(name) {
    case .success(let device): return device.path
    case .failure(let miss):
      report(
        at: document.mark(of: node), found: "device “\(name)”",
        expected: miss.candidates.isEmpty
          ? "a device of the home" : "one of \(miss.candidates.joined(separator: ", "))",
        suggestions: miss.candidates.isEmpty ? names.suggestions(for: name) : [])
      return nil
    }
  }

  mutating func machine(_ node: Node) -> String? { machine(node.scalar?.string ?? "", node) }

  /// Returns a device with a machine of its own, or the hub. A fault on a bridged device would affect the whole bridge, one on
  /// a part the whole device.
  mutating func machine(_ name: String, _ node: Node) -> String? {
    guard let device = device(name, node, orHub: true) else { return nil }
    guard let bridge = names.bridge(of: device) else { return device }
    report(
      at: document.mark(of: node), found: "device “\(name)”",
      expected: "a device on a machine of its own, such as “\(bridge)”, which it belongs to")
    return nil
  }

  mutating func attribute(_ node: Node) -> (device: String, AttributePlace)? {
    attribute(node.scalar?.string ?? "", node)
  }

  /// Parses `lamp.onOff`, or `lamp.onOff.onOff` if the cluster is needed.
  mutating func attribute(_ path: String, _ node: Node) -> (device: String, AttributePlace)? {
    guard let element = element(path, node) else { return nil }
    let places = names.attributes(of: element)
    if let place = places.first, places.count == 1 { return (element.device.path, place) }
    report(
      element, .attribute, node, others: places.isEmpty ? nil : "has such an attribute",
      or: ", or connectivity or locality", suggestions: names.attributeNames(of: element.device))
    return nil
  }

  /// Splits `lamp.onOff`, `lamp.onOff.onOff` or with an endpoint `lamp.2.onOff.onOff`, and reports an unknown device.
  mutating func element(_ path: String, _ node: Node) -> DeviceNames.Element? {
    for count in [2, 1] {
      guard let parts = DottedPath(path, names: count, isDevice: { names.isDevice($0) }),
        let name = parts.names.last, count == 1 || parts.names.first.flatMap({ UInt16($0) }) == nil,
        case .success(let device) = names.find(parts.device)
      else { continue }
      return DeviceNames.Element(
        device: device, endpoint: parts.endpoint, cluster: count == 2 ? parts.names.first : nil, name: name)
    }
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let name = parts.dropLast(parts.count > 2 ? 2 : 1).joined(separator: ".")
    // A device without an element, or with too many parts.
    guard let first = parts.first, names.isDevice(first) else {
      _ = device(parts.first ?? "", node)
      return nil
    }
    report(
      at: document.mark(of: node), found: parts.count == 1 ? "“\(path)”" : "device “\(name)”",
      expected: "a path such as \(first).onOff, \(first).onOff.onOff or \(first).2.onOff.onOff")
    return nil
  }

  /// Reports an element that the device does not have, or that several of its clusters have.
  mutating func report(
    _ element: DeviceNames.Element, _ kind: DeviceNames.ElementKind, _ node: Node, others: String?,
    or more: String = "",
    suggestions: [String]
  ) {
    let article = kind == .command ? "a" : "an"
    var found = "\(kind) “\(element.text)”"
    var expected = "\(article) \(kind) of a \(element.device.kind.name)\(more)"
    if let others {
      expected = "also its cluster: more than one \(others)"
    } else if let number = element.endpoint {
      found += " of “\(element.device.path)”"
      let endpoints = names.endpoints(of: element.device)
      let serving = endpoints.filter { names.has(element.on($0), kind) }
      if !endpoints.contains(number) {
        expected = "one of its endpoints: \(EndpointList.text(endpoints, last: "and"))"
      } else if !serving.isEmpty {
        expected = "endpoint \(EndpointList.text(serving)), which has it"
      }
    }
    report(
      at: document.mark(of: node), found: found, expected: expected,
      suggestions: NearestName.suggestions(for: element.name, in: suggestions))
  }

  /// Parses `dishwasher.door` or `refrigerator.3.door`, and reports a part that another endpoint of the device has.
  /// - Returns: nil if the path is not that of a part.
  mutating func part(_ node: Node) -> PartPath? {
    guard
      let path = DottedPath(node.scalar?.string ?? "", names: 1, isDevice: { names.isDevice($0) }),
      let wanted = path.names.last, case .success(let device) = names.find(path.device)
    else { return nil }
    func part(on endpoint: UInt16?) -> PartPath.Part? {
      // The node of a bridged device is its first endpoint, and so is that of a part of a device.
      let isFirst = endpoint == 0 && names.bridge(of: device.path) != nil
      return SimulatedDevice.parts(of: device, on: isFirst ? 1 : endpoint).first {
        NormalizedName($0.name) == NormalizedName(wanted)
      }
    }
    if let part = part(on: path.endpoint) { return PartPath(device: device.path, endpoint: path.endpoint, part: part) }
    guard let number = path.endpoint, part(on: nil) != nil else { return nil }
    let serving = names.endpoints(of: device).filter { part(on: $0) != nil }
    report(
      at: document.mark(of: node), found: "part “\(number).\(wanted)” of “\(device.path)”",
      expected: "endpoint \(EndpointList.text(serving)), which has it")
    return PartPath(device: device.path, endpoint: number, part: nil)
  }

  /// A part of a device that no attribute describes, such as a door.
  struct PartPath {
    typealias Part = (name: String, states: [String])

    var device: String
    /// The number of the endpoint within the device; nil: the first one with the part.
    var endpoint: UInt16?
    /// Nil if the endpoint has no such part.
    var part: Part?
  }

  /// Encodes the value of an attribute; an explicit YAML null is Matter's null.
  mutating func encoded(_ node: Node, _ place: AttributePlace) -> [UInt8]? {
    if node.isWrittenNull, !place.isNullable {
      report(node, expected: "a value of the attribute: \(place.name) can't be null")
      return nil
    }
    guard let text = node.isWrittenNull ? node.words : text(node, "a value of the attribute") else { return nil }
    do throws(HomeError) {
      return try AttributeUnits.parse(
        text, cluster: place.cluster, attribute: place.attribute, raw: false, named: "the value",
        levels: place.levels)
    } catch {
      report(at: document.mark(of: node), found: "“\(text)”", expected: "a value of the attribute (\(error.message))")
      return nil
    }
  }
}

extension AttributePlace {
  /// Whether the attribute may be null; true for an unknown attribute.
  fileprivate var isNullable: Bool {
    switch ElementNames.info(attribute, of: cluster)?.schema ?? .any {
    case .nullable, .any: true
    default: false
    }
  }
}

extension Node {
  /// The value as shown in reports.
  var words: String { isWrittenNull ? "null" : scalar?.string ?? "" }
}
