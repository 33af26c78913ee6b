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

  /// Parses `{ slow: 2s, data: { onOff.onOff: null } }`. Whether the device has the attributes is not checked, see
  /// ``DeviceFaults/problems(of:)``.
  /// - Parameter isBridged: whether the device is behind a bridge.
  package static func read(
    _ node: Node, in document: YAMLDocument, isBridged: Bool
  ) -> (faults: DeviceFaults, problems: [DefinitionProblem]) {
    var faults = DeviceFaults()
    var problems: [DefinitionProblem] = []
    func report(_ node: Node, _ found: String, _ expected: String, _ suggestions: [String] = []) {
      problems.append(
        DefinitionProblem(at: document.mark(of: node), found: found, expected: expected, suggestions: suggestions))
    }
    guard case .mapping(let mapping) = node else {
      report(node, node.summary, "faults such as { slow: 2s }")
      return (faults, problems)
    }
    for (keyNode, value) in mapping {
      guard let key = Key(rawValue: keyNode.scalar?.string ?? "") else {
        let names = Key.allCases.map(\.rawValue)
        let suggestions = NearestName.suggestions(for: keyNode.scalar?.string ?? "", in: names)
        report(
          keyNode, "key \(keyNode.summary)", suggestions.isEmpty ? DefinitionReader.list(names) : "a fault",
          suggestions)
        continue
      }
      switch (key, value) {
      case (.data, .mapping(let attributes)):
        for (path, violation) in attributes {
          do throws(DefinitionError) {
            var fault = try read(
              path.scalar?.string ?? path.summary, at: document.mark(of: path),
              violation.isNull ? "null" : violation.scalar?.string ?? violation.summary,
              at: document.mark(of: violation))
            fault.mark = document.mark(of: path)
            if faults.data.contains(where: { $0.isSameAttribute(as: fault) }) {
              report(path, "attribute \(path.summary) again", "each attribute once")
            } else {
              faults.data.append(fault)
            }
          } catch {
            problems += error.problems
          }
        }
      case (.data, _): report(value, value.summary, "attributes such as { onOff.onOff: null }")
      case (.full, .sequence(let sequence)):
        for entry in sequence {
          if let expected = set(key, to: entry.scalar?.string ?? "", in: &faults) {
            report(entry, entry.summary, expected)
          }
        }
      default:
        let text = value.scalar?.string ?? ""
        if let expected = set(key, to: text, in: &faults) { report(value, value.summary, expected) }
      }
    }
    if isBridged, faults.areOfNode {
      report(node, node.summary, "only the fault “data” here; the others belong to the whole node")
    }
    return (faults, problems)
  }

  /// Sets a fault other than those of attributes; tables are added.
  /// - Returns: the expected values if the text is none of them.
  package static func set(_ key: Key, to text: String, in faults: inout DeviceFaults) -> String? {
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
      faults.update = UpdateFault(rawValue: text)
      return faults.update == nil ? words(UpdateFault.self) : nil
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
    catalogue.globals = GlobalAttributes.all
    let attribute = try AttributeReading.attribute(path, mark: mark, catalogue: catalogue)
    let hasEndpoint = path.split(separator: ".").count == 3
    let possible = ModelViolation.allCases.filter { $0.isPossible(for: attribute.target?.schema ?? .any) }
    guard let target = attribute.target, let violation = ModelViolation(rawValue: violation),
      possible.contains(violation)
    else {
      throw DefinitionError(problems: [
        DefinitionProblem(
          at: valueMark, found: "“\(violation)”",
          expected: "a violation of \(attribute.cluster).\(attribute.attribute): "
            + DefinitionReader.list(possible.map(\.rawValue)))
      ])
    }
    return DeviceFaults.DataFault(
      endpoint: hasEndpoint ? attribute.endpoint.rawValue : nil, cluster: target.cluster, attribute: target.attribute,
      violation: violation,
      name: (hasEndpoint ? "\(attribute.endpoint)." : "") + "\(attribute.cluster).\(attribute.attribute)")
  }
}

extension DeviceFaults {
  /// Returns the problems of faults of attributes that a device doesn't have.
  package func problems(of device: DeviceDefinition) -> [DefinitionProblem] {
    data.compactMap { fault in
      guard let mark = fault.mark, !DeviceAssembly.mayHave(fault, device) else { return nil }
      return DefinitionProblem(at: mark, found: "“\(fault.name)”", expected: "an attribute that the device has")
    }
  }
}

extension DeviceAssembly {
  /// Returns whether a device may have the attribute. The clusters of the root are checked at its start.
  fileprivate static func mayHave(_ fault: DeviceFaults.DataFault, _ device: DeviceDefinition) -> Bool {
    guard fault.endpoint != 0 else { return true }
    let isGlobal = GlobalAttributes.all.contains { $0.id == fault.attribute }
    let units = units(of: device)
    let positions = fault.endpoint.map { [Int($0) - 1] } ?? Array(units.indices)
    let served = positions.filter(units.indices.contains)
    let servers = served.flatMap { units[$0].servers }.filter { $0.id == fault.cluster }
    guard servers.isEmpty else { return isGlobal || servers.contains { $0.serves(fault.attribute) } }
    let common = [Descriptor.id, FixedLabel.id, UserLabel.id, BridgedDeviceBasicInformation.id, PowerSource.id]
    return fault.endpoint == nil || (!served.isEmpty && common.contains(fault.cluster))
  }
}
