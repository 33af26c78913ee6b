internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

// The key `load` of devices that measure power.
extension DefinitionReader {
  /// Reads a power, or a behavior of it, for the attribute ActivePower.
  mutating func readLoad(
    _ node: Node, of kind: DeviceKind?, _ values: inout [InitialValue], _ behaviors: inout [BehaviorDefinition]
  ) {
    guard let kind else { return }
    guard let endpoint = DeviceAssembly.loadEndpoint(of: kind) else {
      let kinds = DeviceKind.all.filter { DeviceAssembly.loadEndpoint(of: $0) != nil }.map { "“\($0.name)”" }
      report(
        at: document.mark(of: node), found: "“load”",
        expected: "this key only in a device of the type \(Self.list(kinds))")
      return
    }
    let mark = document.mark(of: node)
    do throws(DefinitionError) {
      let attribute = try AttributeReading.attribute(
        "\(endpoint).electricalPowerMeasurement.activePower", mark: mark, catalogue: catalogue)
      if let other = (values + behaviors.map(\.attribute)).first(where: { $0.isSameAttribute(as: attribute) }) {
        report(
          at: mark, found: "“load”", expected: "only one of this key and \(other.path) in line \(other.mark.line)")
      } else if case .mapping = node {
        if let behavior = readBehavior(node, of: attribute) { behaviors.append(behavior) }
      } else {
        let text = node.scalar?.string ?? ""
        guard let watts = ValueUnit.milliwatts.measure(text),
          ElectricalPowerServer.range.contains(ValueUnit.milliwatts.encoded(watts))
        else {
          report(
            node, expected: "a power such as 60W or 1.5kW, or a behavior such as { steps: [60W for 1h, 0W for 2h] }")
          return
        }
        values.append(try AttributeReading.read(node, of: attribute, mark: mark, catalogue: catalogue))
      }
    } catch {
      add(error.problems)
    }
  }
}
