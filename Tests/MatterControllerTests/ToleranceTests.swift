import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Testing

/// Unusual reports of third-party devices.
@Suite struct ToleranceTests {
  private let labels = FixedLabel.labelList.path(on: 1)
  private let unknown = ConcreteAttributePath(1, 0xFFF1_FC00, 0x0007)

  private func data(
    _ path: ConcreteAttributePath, _ value: [UInt8], _ operation: ListOperation = .replaceAll, version: UInt32 = 3
  ) -> AttributeReport {
    .data(AttributeData(path, operation, dataVersion: version, value: value))
  }

  private func label(_ text: String) -> LabelStruct { .init(label: text, value: "v") }

  private func read(_ reports: [[AttributeReport]]) throws -> (World, ReassembledReport) {
    var world = try World()
    try world.addDevice()
    try world.commissionAll()
    world.devices[0].scriptedReports = reports.indices.map {
      ReportData(
        attributeReports: reports[$0], moreChunkedMessages: $0 < reports.count - 1,
        suppressResponse: $0 == reports.count - 1)
    }
    let id = world.controller.read(1, [AttributePath()], at: world.now)
    guard case .report(let report)? = try world.result(of: id)?.get() else { throw ControllerError.notFound }
    return (world, report)
  }

  private func read(labels reports: [[AttributeReport]]) throws -> [String] {
    let (_, report) = try read(reports)
    return try report.value(of: FixedLabel.labelList, on: 1).map(\.label)
  }

  @Test func assemblesListsFromParts() throws {
    // Starts empty, with its entries between other attributes.
    #expect(
      try read(labels: [
        [data(labels, [0x16, 0x18]), data(labels, label("a").tlv, .append)],
        [data(lampOnOff, true.tlv), data(labels, label("b").tlv, .append)],
        [data(unknown, true.tlv)], [data(labels, label("c").tlv, .append)],
      ]) == ["a", "b", "c"])
    // Starts with entries, and the whole list is reported again later.
    #expect(
      try read(labels: [
        [data(labels, [label("x")].tlv)], [data(labels, label("y").tlv, .append)],
        [data(labels, [label("p"), label("q")].tlv)],
      ]) == ["p", "q"])
    // Without a start.
    #expect(
      try read(labels: [[data(labels, label("a").tlv, .append)], [data(labels, label("b").tlv, .append)]]) == [
        "a", "b",
      ])
    // An entry replaced in place.
    #expect(
      try read(labels: [[data(labels, [label("a"), label("b")].tlv)], [data(labels, label("z").tlv, .item(0))]])
        == ["z", "b"])
    // One message per entry, and an empty last message.
    #expect(
      try read(
        labels: [[data(labels, [0x16, 0x18])]] + (0..<30).map { [data(labels, label("\($0)").tlv, .append)] } + [[]])
        == (0..<30).map { "\($0)" })
  }

  @Test func keepsUnknownAttributesUnchanged() throws {
    let odd: [UInt8] = [0x15, 0x24, 0x01, 0x05, 0x2C, 0x02, 0x02, 0x68, 0x69, 0x18]
    let (world, report) = try read([
      [data(unknown, odd), data(ConcreteAttributePath(1, OnOff.id, 0xFFF1_0001), [0x14])],
      [data(ConcreteAttributePath(77, 0x7FFF, 1), 5.tlv), data(lampOnOff, true.tlv)],
    ])
    #expect(report.attributes.count == 4)
    #expect(report[unknown]?.value == odd)
    #expect(world.controller.cachedValue(unknown, of: 1)?.value == odd)
    #expect(try report.value(of: OnOff.onOff, on: 1))
  }

  @Test func readsNullValues() throws {
    let level = LevelControl.currentLevel.path(on: 1)
    let (world, report) = try read([
      [data(level, [0x14]), data(lampOnOff, [0x14]), data(BasicInformation.vendorName.path(on: 0), [0x14])]
    ])
    #expect(try report.value(of: LevelControl.currentLevel, on: 1) == .null)
    // Null in a non-nullable attribute: only that attribute cannot be decoded.
    #expect(throws: ControllerError.self) { try report.value(of: OnOff.onOff, on: 1) }
    #expect(world.controller.cachedValue(lampOnOff, of: 1)?.value == [0x14])
  }

  /// An unknown member in a known structure.
  @Test func readsStructuresWithUnknownMembers() throws {
    let entry: [UInt8] = [0x15, 0x2C, 0x00, 0x01, 0x61, 0x2C, 0x01, 0x01, 0x62, 0x24, 0x63, 0x09, 0x18]
    #expect(try read(labels: [[data(labels, [0x16] + entry + [0x18])]]) == ["a"])
  }

  /// Commissioning depends only on the vendor and product id of the device information.
  @Test func commissionsDeviceWithInvalidInformation() throws {
    var world = try World()
    try world.addDevice()
    for path in [
      BasicInformation.vendorName.path(on: 0), BasicInformation.productName.path(on: 0),
      GeneralCommissioning.locationCapability.path(on: 0), GeneralCommissioning.basicCommissioningInfo.path(on: 0),
      Descriptor.deviceTypeList.path(on: 1), Descriptor.partsList.path(on: 0),
    ] {
      world.devices[0].attributes[path] = [0x14]
    }
    world.devices[0].attributes[ConcreteAttributePath(0, GeneralCommissioning.id, 0xFFF1_0000)] = [0x14]
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address])), at: world.now)
    _ = try #require(try world.result(of: id)?.get())
  }
}
