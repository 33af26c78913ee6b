internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

// The key `tariff` of utility meters.
extension DefinitionReader {
  private static let decimals = 100_000.0

  /// Reads the tariff of a utility meter, and reports it at other devices.
  mutating func readTariff(_ node: Node, of kind: DeviceKind?) -> EnergyTariff? {
    let keys = ["prices", "day", "weekend", "name", "provider", "currency", "carbon", "limit"]
    guard isPlaced(node, "tariff", kind, in: [.utilityMeter]),
      let fields = fields(of: node, known: keys, what: "a tariff")
    else { return nil }
    var tariff = EnergyTariff()
    tariff.name = text(fields["name"])?.value
    tariff.provider = text(fields["provider"])?.value
    if let node = fields["currency"] { tariff.currency.currency = readCurrency(node) ?? tariff.currency.currency }
    if let node = fields["carbon"] { tariff.carbon = readCarbon(node) ?? tariff.carbon }
    tariff.limit = measure(fields["limit"], .milliwatts, in: 1...1_000_000, "a power up to 1000kW, such as 14kW")
    readPrices(fields, of: &tariff, at: node)
    return tariff
  }

  private mutating func readCurrency(_ node: Node) -> UInt16? {
    let text = node.scalar?.string ?? ""
    if let number = CurrencyStruct.numbers[text.uppercased()] { return number }
    if let number = ScalarReading.integer(text), 1...999 ~= number { return UInt16(number) }
    report(node, expected: "a currency such as EUR, or its number of ISO 4217")
    return nil
  }

  // MARK: Prices

  private mutating func readPrices(_ fields: [String: Node], of tariff: inout EnergyTariff, at node: Node) {
    if let node = fields["prices"] {
      guard let prices = readPrices(node) else { return }
      tariff.prices = prices
      guard fields["day"] != nil || prices.count == 1 else {
        report(
          at: document.mark(of: node), found: "several prices without “day”",
          expected: "“day: [\(prices[0].name), \(prices[1].name) from 6:00]”")
        return
      }
      tariff.course = DailyCourse([.init(prices[0])])
    }
    let prices = tariff.prices
    func price(_ name: String) -> EnergyTariff.Price? {
      prices.first { NearestName.normalized($0.name) == NearestName.normalized(name) }
    }
    let expected = "a price of the tariff with its time: \(Self.list(prices.map { "“\($0.name) from 6:00”" }))"
    let before = problems.count
    let day = fields["day"].flatMap { readCourse($0, expected: expected, value: price) } ?? tariff.course.weekday
    let weekend = fields["weekend"].flatMap { readCourse($0, expected: expected, value: price) }
    let used = Set((day + (weekend ?? [])).map(\.value))
    if problems.count == before, let unused = prices.first(where: { !used.contains($0) }) {
      report(
        at: document.mark(of: fields["prices"] ?? node), found: "price “\(unused.name)” without a time",
        expected: "“day” or “weekend” with each price")
    }
    tariff.course = DailyCourse(day, weekend: weekend)
  }

  private mutating func readPrices(_ node: Node) -> [EnergyTariff.Price]? {
    guard case .mapping(let mapping) = node, (1...EnergyTariff.entryLimit).contains(mapping.count) else {
      report(
        node,
        expected: "the prices of a kWh by name such as { Peak: 0.38, Off-peak: 0.24 }, at most "
          + "\(EnergyTariff.entryLimit)")
      return nil
    }
    var prices: [EnergyTariff.Price] = []
    for (key, value) in mapping {
      guard let name = text(key)?.value else { return nil }
      let text = value.scalar?.string ?? ""
      guard let amount = ScalarReading.real(text), abs(amount) <= 1_000_000 else {
        report(value, expected: "the price of a kWh such as 0.24")
        return nil
      }
      guard !prices.contains(where: { NearestName.normalized($0.name) == NearestName.normalized(name) }) else {
        report(at: document.mark(of: key), found: "price “\(name)” again", expected: "each price once")
        return nil
      }
      prices.append(.init(name, Int64((amount * Self.decimals).rounded())))
    }
    return prices
  }

  private mutating func readCarbon(_ node: Node) -> DailyCourse<Int16>? {
    readCourse(node, expected: "grams of CO2 per kWh with their time, such as “180 from 10:00”") { text in
      ScalarReading.integer(text).flatMap { 0...10_000 ~= $0 ? Int16($0) : nil }
    }
    .map { DailyCourse($0) }
  }

  // MARK: Times of the day

  /// Reads a list of values with the times from which they apply: `[320, 180 from 10:00]`. The first one begins at
  /// midnight.
  private mutating func readCourse<Value>(
    _ node: Node, expected: String, value: (String) -> Value?
  ) -> [DailyCourse<Value>.Entry]? {
    guard case .sequence(let sequence) = node, (1...EnergyTariff.entryLimit).contains(sequence.count) else {
      report(node, expected: "a list of at most \(EnergyTariff.entryLimit) entries, each \(expected)")
      return nil
    }
    var entries: [DailyCourse<Value>.Entry] = []
    for (index, entry) in sequence.enumerated() {
      let parts = (entry.scalar?.string ?? "").split(separator: " ")
      let hasTime = parts.count > 2 && parts[parts.count - 2] == "from"
      let name = parts.dropLast(hasTime ? 2 : 0).joined(separator: " ")
      guard let value = value(name), let minute = hasTime ? Self.minute(parts[parts.count - 1]) : index == 0 ? 0 : nil
      else {
        report(entry, expected: expected)
        return nil
      }
      guard index == 0 ? minute == 0 : minute > entries[index - 1].minute else {
        report(entry, expected: index == 0 ? "midnight as the first time" : "a later time than in the entry before")
        return nil
      }
      entries.append(.init(value, from: minute))
    }
    return entries
  }

  /// Parses a time of the day such as 6:00 or 22:30, in minutes.
  private static func minute(_ text: Substring) -> UInt16? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let hour = UInt16(parts[0]), let minute = UInt16(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}
