internal import MatterCertificates
internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
package import Yams

/// Parses faults of devices, in definition files, scenarios and on the command line.
package enum FaultReading {
  /// The keys of faults.
  package enum Key: String, CaseIterable, Sendable {
    case busy, slow, silent, dropSessions, refuseResumption, attestation, full, update, data
  }

  /// Sets a fault other than those of attributes; tables are added.
  /// - Parameter kind: the kind of the device; nil if it is unknown.
  /// - Returns: the expected values if the text is none of them.
  package static func set(
    _ key: Key, to text: String, of kind: DeviceKind? = nil, in faults: inout DeviceFaults
  ) -> String? {
    switch key {
    case .busy: return set(&faults.isBusy, to: text)
    case .silent: return set(&faults.isSilent, to: text)
    case .refuseResumption: return set(&faults.refusesResumption, to: text)
    case .slow: return set(&faults.delay, to: text, from: .milliseconds(1), example: "2s")
    case .dropSessions: return set(&faults.sessionDropInterval, to: text, from: .seconds(1), example: "5m")
    case .attestation:
      faults.attestation = TestAttestation.Flaw(rawValue: text)
      return faults.attestation == nil ? words(TestAttestation.Flaw.self) : nil
    case .full:
      let tables = text == "all" ? DeviceTable.allCases : DeviceTable(rawValue: text).map { [$0] } ?? []
      faults.fullTables = Set(faults.fullTables + tables).sorted { $0.rawValue < $1.rawValue }
      return tables.isEmpty ? words(DeviceTable.self) + ", or all" : nil
    case .update:
      let possible = UpdateFault.allCases.filter { fault in kind.map { fault.isPossible(for: $0) } ?? true }
      faults.update = possible.first { $0.rawValue == text }
      return faults.update == nil ? DefinitionReader.list(possible.map(\.rawValue)) : nil
    case .data: return "attributes such as { onOff.onOff: null }"
    }
  }

  private static func set(_ fault: inout Bool, to text: String) -> String? {
    guard let value = ScalarReading.boolean(text) else { return "true or false" }
    fault = value
    return nil
  }

  private static func set(
    _ time: inout Duration?, to text: String, from shortest: Duration, example: String
  ) -> String? {
    guard let duration = TimeText.duration(text), duration >= shortest, duration <= .seconds(86_400) else {
      return "a time from \(TimeText.text(shortest)) to a day, such as \(example)"
    }
    time = duration
    return nil
  }

  private static func words<Choice: CaseIterable & RawRepresentable<String>>(_: Choice.Type) -> String {
    DefinitionReader.list(Choice.allCases.map(\.rawValue))
  }

  /// Parses a violation of an attribute: `onOff.onOff` or `0.basicInformation.vendorName`, and `null`.
  package static func read(
    _ path: String, at mark: SourceMark, _ violation: String, at valueMark: SourceMark
  ) throws(DefinitionError) -> DeviceFaults.DataFault {
    var catalogue = AttributeCatalogue.all
    catalogue.hasGlobals = true
    var attribute = try AttributeReading.attribute(path, mark: mark, catalogue: catalogue)
    if attribute.target?.attribute == GlobalAttribute.featureMap { attribute.target?.schema = .features }
    let hasEndpoint = path.split(separator: ".").count == 3
    let possible = ModelViolation.allCases.filter { $0.isPossible(for: attribute.target?.schema ?? .any) }
    guard let target = attribute.target, let violation = ModelViolation(rawValue: violation),
      possible.contains(violation)
    else {
      throw DefinitionError(
        at: valueMark, found: "“\(violation)”",
        expected: "a violation of \(attribute.cluster).\(attribute.attribute): "
          + DefinitionReader.list(possible.map(\.rawValue)))
    }
    return DeviceFaults.DataFault(
      endpoint: hasEndpoint ? attribute.endpoint.rawValue : nil, cluster: target.cluster, attribute: target.attribute,
      violation: violation,
      name: (hasEndpoint ? "\(attribute.endpoint)." : "") + "\(attribute.cluster).\(attribute.attribute)")
  }
}

extension DocumentReader {
  /// Parses `{ slow: 2s, data: { onOff.onOff: null } }`. Whether the device has the attributes is not checked, see
  /// ``DeviceFaults/problems(of:in:)``.
  /// - Parameters:
  ///   - kind: the kind of the device; nil if it is unknown.
  ///   - isBridged: whether the device is behind a bridge.
  package mutating func readFaults(_ node: Node, of kind: DeviceKind?, isBridged: Bool) -> DeviceFaults {
    var faults = DeviceFaults()
    guard case .mapping = node else {
      report(node, expected: "faults such as { slow: 2s }")
      return faults
    }
    let fields = fields(of: node, known: FaultReading.Key.allCases.map(\.rawValue), what: "the faults") ?? [:]
    for key in FaultReading.Key.allCases {
      switch (key, fields[key.rawValue]) {
      case (_, nil): break
      case (.data, .mapping(let attributes)?): faults.data = readDataFaults(attributes)
      case (.full, .sequence(let sequence)?):
        for entry in sequence { set(key, entry, of: kind, in: &faults) }
      case (_, let value?): set(key, value, of: kind, in: &faults)
      }
    }
    if isBridged, faults.areOfNode {
      report(node, expected: "only the fault “data” here; the others belong to the whole node")
    }
    return faults
  }

  private mutating func set(
    _ key: FaultReading.Key, _ node: Node, of kind: DeviceKind?, in faults: inout DeviceFaults
  ) {
    if let expected = FaultReading.set(key, to: node.scalar?.string ?? "", of: kind, in: &faults) {
      report(node, expected: expected)
    }
  }

  private mutating func readDataFaults(_ attributes: Node.Mapping) -> [DeviceFaults.DataFault] {
    var faults: [DeviceFaults.DataFault] = []
    for (path, violation) in attributes {
      do throws(DefinitionError) {
        var fault = try FaultReading.read(
          path.scalar?.string ?? path.summary, at: document.mark(of: path),
          violation.isNull ? "null" : violation.scalar?.string ?? violation.summary, at: document.mark(of: violation))
        fault.mark = document.mark(of: path)
        if faults.contains(where: { $0.isSameAttribute(as: fault) }) {
          report(at: document.mark(of: path), found: "attribute \(path.summary) again", expected: "each attribute once")
        } else {
          faults.append(fault)
        }
      } catch {
        problems += error.problems
      }
    }
    return faults
  }
}

extension DeviceFaults {
  /// Returns the problems of faults of attributes that a device doesn't have.
  /// - Parameter whole: the bridge in front of the device, or the device that it is a part of; nil for a node.
  package func problems(of device: DeviceDefinition, in whole: DeviceDefinition?) -> [DefinitionProblem] {
    guard data.contains(where: { $0.mark != nil }) else { return [] }
    let servers = DeviceAssembly.servers(of: device, in: whole)
    let composed = whole.flatMap { $0.kind == .bridge ? nil : $0 }
    return data.compactMap { fault in
      guard let mark = fault.mark else { return nil }
      let isKnown = fault.endpoint.map { servers.indices.contains(Int($0)) } ?? true
      let searched = fault.endpoint.map { servers.dropFirst(Int($0)).prefix(1) } ?? servers[...]
      if searched.joined().contains(where: { $0.has(fault) }) { return nil }
      let expected =
        if !isKnown {
          "an attribute that the device has; \(EndpointList.clause(servers.indices))"
        } else if let composed {
          "an attribute that the part has; those of the node belong to “\(composed.path)”"
        } else {
          "an attribute that the device has"
        }
      return DefinitionProblem(at: mark, found: "“\(fault.name)”", expected: expected)
    }
  }
}

extension ClusterServer {
  fileprivate func has(_ fault: DeviceFaults.DataFault) -> Bool {
    id == fault.cluster
      && (serves(fault.attribute) || cluster.globalAttributes.contains { $0.id == fault.attribute })
  }
}

extension UpdateFault {
  /// Whether a device of this kind can fail so: providers and requestors of updates have different failures.
  package func isPossible(for kind: DeviceKind) -> Bool {
    switch self {
    case .interrupted, .digest: true
    case .busy, .unavailable, .refused, .delayed: kind == .otaProvider
    case .rollback: kind != .otaProvider
    }
  }
}
