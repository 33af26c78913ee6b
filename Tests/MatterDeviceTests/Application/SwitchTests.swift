import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Formats an event of the Switch cluster with its fields: "InitialPress 1", "MultiPressComplete 1 2".
private func word(_ record: EventRecord) throws -> String {
  let info = try #require(Switch.event(record.path.event))
  let members = try #require(try TLVElement(decoding: record.payload).members)
  let fields = members.compactMap { member -> String? in
    if case .unsigned(let number) = member.value { "\(number)" } else { nil }
  }
  return ([info.name] + fields).joined(separator: " ")
}

extension TLVElement {
  fileprivate var members: [TLVElement]? {
    if case .structure(let members) = value { members } else { nil }
  }
}

/// The events of each kind of switch. Application Clusters § 1.13, and the certification scripts TC-SWTCH-2.2 to 2.6.
@Suite("Switch") struct SwitchTests {
  private func node(_ kind: SwitchKind, positions: UInt8 = 2, maximum: UInt8 = 3) -> TestNode {
    TestNode([SwitchServer.make(features: kind.features, positions: positions, multiPressMax: maximum)])
  }

  /// The events so far, each with its time in milliseconds.
  private func events(_ node: TestNode) throws -> [String] {
    try node.context.node.events.records.filter { $0.path.cluster == Switch.id }.map {
      guard case .system(let milliseconds) = $0.timestamp else { return "at an unknown time " + (try word($0)) }
      return "\(milliseconds) " + (try word($0))
    }
  }

  @Test(arguments: SwitchKind.allCases) func servesMandatoryElements(_ kind: SwitchKind) throws {
    #expect(SwitchServer.make(features: kind.features).violations.isEmpty)
  }

  @Test func reportsLatchPositions() throws {
    let node = node(.latching, positions: 3)
    node.operate([.init(to: 1), .init(to: 2, after: .seconds(1)), .init(to: 0, after: .seconds(1))])
    node.wait(5000)
    #expect(try events(node) == ["0 SwitchLatched 1", "1000 SwitchLatched 2", "2000 SwitchLatched 0"])
    node.operate([.init(to: 2)])
    #expect(
      TestNode([SwitchServer.make(features: SwitchKind.latching.features)], stored: node.stored)[
        Switch.currentPosition] == 2, "the position is restored")
  }

  @Test func reportsOnlyPressesOfMomentarySwitch() throws {
    let node = node(.momentary)
    node.operate(SwitchMove.presses(2, hold: .seconds(2), gap: .milliseconds(100)))
    #expect(node[Switch.currentPosition] == 1)
    node.wait(10_000)
    #expect(node[Switch.currentPosition] == 0)
    #expect(try events(node) == ["0 InitialPress 1", "2100 InitialPress 1"])
  }

  @Test func reportsShortReleaseAfterLongHold() throws {
    let node = node(.release)
    node.operate(SwitchMove.presses(hold: .seconds(5)))
    node.wait(10_000)
    #expect(try events(node) == ["0 InitialPress 1", "5000 ShortRelease 1"])
    #expect(try node.takeReports(of: Switch.currentPosition).map(\.value) == [1, 0])
  }

  @Test func reportsLongPressAndRelease() throws {
    let node = node(.longPress)
    node.operate(SwitchMove.presses(hold: .seconds(2)))
    node.wait(3000)
    node.operate(SwitchMove.presses(hold: .milliseconds(999)))
    node.wait(3000)
    #expect(
      try events(node) == [
        "0 InitialPress 1", "1000 LongPress 1", "2000 LongRelease 1", "3000 InitialPress 1", "3999 ShortRelease 1",
      ])
  }

  @Test func countsPresses() throws {
    let node = node(.multiPress)
    node.operate(SwitchMove.presses(2, hold: .milliseconds(500), gap: .milliseconds(500)))
    node.wait(10_000)
    #expect(
      try events(node) == [
        "0 InitialPress 1", "500 ShortRelease 1", "1000 InitialPress 1", "1000 MultiPressOngoing 1 2",
        "1500 ShortRelease 1", "2200 MultiPressComplete 1 2",
      ])
  }

  @Test func reportsZeroForTooManyPresses() throws {
    let node = node(.multiPress, maximum: 2)
    node.operate(SwitchMove.presses(3, hold: .milliseconds(100), gap: .milliseconds(100)))
    node.wait(10_000)
    #expect(
      try events(node).filter { !$0.contains("Initial") && !$0.contains("Short") } == [
        "200 MultiPressOngoing 1 2", "1200 MultiPressComplete 1 0",
      ])
    node.operate(SwitchMove.presses(hold: .milliseconds(100)))
    node.wait(10_000)
    #expect(try events(node).last == "10800 MultiPressComplete 1 1", "the next sequence starts at 0")
  }

  @Test func separatesLongPressesFromSequences() throws {
    let node = node(.full)
    // Short, then long: a sequence of two presses, none of them long.
    node.operate([
      .init(to: 1), .init(to: 0, after: .milliseconds(300)), .init(to: 1, after: .milliseconds(300)),
      .init(to: 0, after: .seconds(5)),
    ])
    node.wait(20_000)
    #expect(
      try events(node) == [
        "0 InitialPress 1", "300 ShortRelease 1", "600 InitialPress 1", "600 MultiPressOngoing 1 2",
        "5600 ShortRelease 1", "6300 MultiPressComplete 1 2",
      ])
    // Long, then short: a long press and a separate sequence.
    let other = self.node(.full)
    other.operate([
      .init(to: 1), .init(to: 0, after: .seconds(2)), .init(to: 1, after: .milliseconds(100)),
      .init(to: 0, after: .milliseconds(100)),
    ])
    other.wait(20_000)
    #expect(
      try events(other) == [
        "0 InitialPress 1", "1000 LongPress 1", "2000 LongRelease 1", "2100 InitialPress 1", "2200 ShortRelease 1",
        "2900 MultiPressComplete 1 1",
      ])
  }

  @Test func reportsStartAndEndOfActionSwitch() throws {
    let node = node(.action)
    node.operate(SwitchMove.presses(2, hold: .milliseconds(500), gap: .milliseconds(500)))
    node.wait(10_000)
    #expect(try events(node) == ["0 InitialPress 1", "2200 MultiPressComplete 1 2"])
    node.operate(SwitchMove.presses(4, hold: .milliseconds(500), gap: .milliseconds(500)))
    node.wait(10_000)
    #expect(try events(node).suffix(2) == ["10000 InitialPress 1", "14200 MultiPressComplete 1 0"])
    node.operate(SwitchMove.presses(hold: .seconds(2)))
    node.wait(10_000)
    #expect(try events(node).suffix(3) == ["20000 InitialPress 1", "21000 LongPress 1", "22000 LongRelease 1"])
  }

  @Test func startsNewSequenceAtAnotherPosition() throws {
    let node = node(.multiPress, positions: 3)
    node.operate([
      .init(to: 1), .init(to: 0, after: .milliseconds(100)), .init(to: 2, after: .milliseconds(100)),
      .init(to: 0, after: .milliseconds(100)),
    ])
    node.wait(5000)
    #expect(
      try events(node) == [
        "0 InitialPress 1", "100 ShortRelease 1", "200 MultiPressComplete 1 1", "200 InitialPress 2",
        "300 ShortRelease 2", "1000 MultiPressComplete 2 1",
      ])
  }

  @Test func derivesEventsFromAttributeChanges() throws {
    let node = node(.release)
    node.act(Switch.currentPosition, 1)
    node.wait(500)
    node.act(Switch.currentPosition, 0)
    #expect(try events(node) == ["0 InitialPress 1", "500 ShortRelease 1"])
    let later = TestNode(
      [SwitchServer.make(features: SwitchKind.release.features)],
      stored: {
        node.act(Switch.currentPosition, 1)
        return node.stored
      }())
    #expect(later[Switch.currentPosition] == 0, "released after a restart")
    #expect(
      later.context.node.events.records.map(\.number) == node.context.node.events.records.map(\.number),
      "no new events")
  }
}

@Suite("Bridged devices and labels") struct BridgedDeviceTests {
  private func bridged() -> TestNode {
    var facts = BridgedDeviceFacts(
      vendorName: "Elm Works", vendorID: 0xFFF1, productName: "Lamp", productID: 0x8001, nodeLabel: "Desk",
      serialNumber: "S-1", uniqueID: "0123456789")
    facts.servesProvisional = true
    return TestNode([
      BridgedDeviceServer.make(facts),
      FixedLabelServer.make([.init(label: "floor", value: "ground")]), UserLabelServer.make(),
    ])
  }

  private func reached(_ node: TestNode) throws -> [String] {
    try node.context.node.events.records.filter { $0.path.cluster == BridgedDeviceBasicInformation.id }.map { record in
      switch record.path.event {
      case BridgedDeviceBasicInformation.reachableChanged.id:
        "reachable \(try BridgedDeviceBasicInformation.ReachableChangedEvent(tlv: record.payload).reachableNewValue)"
      case BridgedDeviceBasicInformation.startUp.id:
        "start \(try BridgedDeviceBasicInformation.StartUpEvent(tlv: record.payload).softwareVersion)"
      default: "event \(record.path.event)"
      }
    }
  }

  @Test func reportsReachabilityChanges() throws {
    let node = bridged()
    #expect(node[BridgedDeviceBasicInformation.reachable])
    #expect(try reached(node).isEmpty)
    node.act(BridgedDeviceBasicInformation.reachable, false)
    node.act(BridgedDeviceBasicInformation.reachable, false)
    node.power(true)
    node.power(true)
    #expect(try reached(node) == ["reachable false", "reachable true", "start 1"])
  }

  @Test func storesNodeLabelAndConfigurationVersion() throws {
    let node = bridged()
    try node.write(BridgedDeviceBasicInformation.nodeLabel, "Reading corner")
    node.act(BridgedDeviceBasicInformation.configurationVersion, 2)
    #expect(throws: StatusError(.constraintError)) {
      try node.write(BridgedDeviceBasicInformation.nodeLabel, String(repeating: "x", count: 33))
    }
    let keys = node.stored.keys.filter { $0.hasPrefix("attribute/1/39/") }.sorted()
    #expect(keys == ["attribute/1/39/18", "attribute/1/39/5"])
  }

  @Test func validatesAndStoresUserLabels() throws {
    let node = bridged()
    let labels = [LabelStruct(label: "roomName", value: "master bedroom 1"), .init(label: "", value: "")]
    try node.write(UserLabel.labelList, labels)
    #expect(throws: StatusError(.constraintError)) {
      try node.write(UserLabel.labelList, [.init(label: "room", value: "17_bytesIsTooLong")])
    }
    #expect(throws: StatusError(.constraintError)) {
      try node.write(UserLabel.labelList, [.init(label: "17_bytesIsTooLong", value: "x")])
    }
    #expect(throws: StatusError(.resourceExhausted)) {
      try node.write(UserLabel.labelList, Array(repeating: .init(label: "a", value: "b"), count: 17))
    }
    #expect(node[UserLabel.labelList] == labels)
    #expect(node.stored["attribute/1/41/0"] != nil)
    #expect(FixedLabel.labelList.details.write == nil)
    #expect(node[FixedLabel.labelList].map(\.value) == ["ground"])
  }
}
