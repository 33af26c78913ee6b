internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

// The key `tank` of water heaters.
extension DefinitionReader {
  private static let heaters: [(name: String, type: WaterHeaterManagement.WaterHeaterHeatSource)] = [
    ("heatPump", .heatPump), ("boiler", .boiler), ("other", .other), ("immersionElement1", .immersionElement1),
    ("immersionElement2", .immersionElement2),
  ]

  /// Reads the tank of a water heater with its heat sources and the water that is drawn, and reports it at other
  /// devices.
  mutating func readTank(_ node: Node, of kind: DeviceKind?, _ climate: inout ClimateDefinition) {
    guard isPlaced(node, "tank", kind, in: [.waterHeater]),
      let fields = self.fields(
        of: node, known: ["volume", "cold", "loss", "heaters", "performance", "draw"], what: "a tank")
    else { return }
    if let volume = amount(fields["volume"], unit: "l", in: 1...10_000) { climate.water.tank.volume = volume }
    if let cold = amount(fields["cold"], unit: "C", in: 0...40) { climate.water.tank.cold = cold }
    if let loss = amount(fields["loss"], unit: "W/K", in: 0...100) { climate.water.tank.loss = loss }
    let performance = performance(fields["performance"])
    if let node = fields["heaters"] { readHeaters(node, performance, &climate) }
    if let node = fields["performance"], !climate.water.sources.contains(where: { $0.type == .heatPump }) {
      report(
        at: document.mark(of: node), found: "“performance”", expected: "this key only beside a heater “heatPump”")
    }
    if let node = fields["draw"] { climate.draw = readDraw(node) }
  }

  /// Reads the heat for each unit of electrical energy.
  mutating func performance(_ node: Node?) -> Double? { amount(node, unit: "", in: 1...10) }

  private mutating func readHeaters(_ node: Node, _ performance: Double?, _ climate: inout ClimateDefinition) {
    guard let fields = self.fields(of: node, known: Self.heaters.map(\.name), what: "the heaters") else { return }
    let sources = Self.heaters.compactMap { name, type -> WaterHeaterSource? in
      let expected = "a power from 1W to 100kW, such as 3kW"
      guard let power = measure(fields[name], .milliwatts, in: 1...100_000, expected) else { return nil }
      return WaterHeaterSource(type, power: Int(power / 1000), performance: type == .heatPump ? performance : nil)
    }
    if fields.isEmpty { report(node, expected: "the powers of the heaters, such as { heatPump: 1500W }") }
    if !sources.isEmpty { climate.water.sources = sources }
  }

  /// Reads the water that is drawn, in liters per minute: a number or a behavior.
  private mutating func readDraw(_ node: Node) -> Behavior.Course? {
    let mark = document.mark(of: node)
    if node.scalar != nil {
      let text = node.scalar?.string ?? ""
      let flow = ScalarReading.real(text) ?? ScalarReading.integer(text).map(Double.init)
      guard let flow, (0...WaterHeaterServer.flowLimit).contains(flow) else {
        report(
          node, expected: "a number from 0 to \(Int(WaterHeaterServer.flowLimit)) in liters per minute, or a behavior")
        return nil
      }
      return .steps([.init(.real(flow), at: .zero)])
    }
    // No attribute describes it, so that it has the numbers of one.
    var flow = InitialValue(
      endpoint: 1, cluster: "tank", attribute: "draw", value: .null, mark: mark, text: "", valueMark: mark)
    flow.target = .init(cluster: ClusterID(.max), attribute: 0, schema: .double, constraint: .none)
    guard let behavior = readBehavior(node, of: flow) else { return nil }
    for value in behavior.values where value.value.flow.map({ (0...WaterHeaterServer.flowLimit).contains($0) }) != true
    {
      report(
        at: value.valueMark, found: value.text,
        expected: "a number from 0 to \(Int(WaterHeaterServer.flowLimit)) in liters per minute")
    }
    return behavior.course
  }
}

extension InitialValue.Value {
  /// The number as a flow in liters per minute; nil for another value.
  var flow: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}
