import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import HearthHome

/// Attribution of reported changes to the client's own requests. See the article “The home model”, “Delegates”.
@Suite("Own requests") struct OwnRequestTests {
  private static let onOff = OnOff.onOff.path(on: 1), level = LevelControl.currentLevel.path(on: 1)

  /// A reference type around `OwnRequests`, because expectations can't mutate a struct.
  private final class Requester {
    private var requests = OwnRequests()
    func begin(_ command: CommandData, of device: String, by source: SourceID?) -> Int {
      requests.begin(command, of: device, by: source)
    }
    func begin(_ writes: [AttributeWrite], of device: String, by source: SourceID?) -> Int {
      requests.begin(writes, of: device, by: source)
    }
    func end(_ number: Int, at now: Instant) { requests.end(number, at: now) }
    @discardableResult func forget(_ number: Int) -> [OwnRequests.Change] { requests.forget(number) }
    func account(for change: OwnRequests.Change, at now: Instant) -> Bool { requests.account(for: change, at: now) }
  }

  private func second(_ number: Double) -> Instant { Instant(nanoseconds: Int64(number * 1e9)) }

  private func command<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID = 1
  ) -> CommandData { CommandData(command.path(on: endpoint), fields: fields.tlv) }

  private func change(
    _ path: ConcreteAttributePath, _ new: [UInt8]?, from old: [UInt8]? = nil, of device: String = "5",
    on node: NodeID = 5
  ) -> OwnRequests.Change { .init(device: device, node: node, path: path, old: old, new: new) }

  @Test func attributesCommandResultOnce() {
    let own = Requester()
    let number = own.begin(command(OnOff.on), of: "5", by: SourceID(5))
    // Another device, another value, another endpoint.
    #expect(!own.account(for: change(Self.onOff, true.tlv, of: "6"), at: second(0)))
    #expect(!own.account(for: change(Self.onOff, false.tlv), at: second(0)))
    #expect(!own.account(for: change(OnOff.onOff.path(on: 2), true.tlv), at: second(0)))
    // The report arrives before the response.
    #expect(own.account(for: change(Self.onOff, true.tlv), at: second(100)))
    own.end(number, at: second(100))
    // Another client switches the light off, and on again.
    #expect(!own.account(for: change(Self.onOff, false.tlv), at: second(100.5)))
    #expect(!own.account(for: change(Self.onOff, true.tlv), at: second(101)))
  }

  @Test func attributionExpiresAndIgnoresFailedRequests() {
    let own = Requester()
    own.end(own.begin(command(OnOff.on), of: "5", by: nil), at: second(10))
    own.end(own.begin(command(OnOff.off), of: "5", by: nil), at: second(11))
    #expect(!own.account(for: change(Self.onOff, true.tlv), at: second(12.1)))
    #expect(own.account(for: change(Self.onOff, false.tlv), at: second(12.9)))
    own.forget(own.begin(command(OnOff.on), of: "5", by: nil))
    #expect(!own.account(for: change(Self.onOff, true.tlv), at: second(12.9)))
  }

  @Test func returnsAttributedChangesOfFailedRequest() {
    let own = Requester()
    let number = own.begin(command(OnOff.on), of: "5", by: nil)
    let other = own.begin(command(OnOff.off), of: "6", by: nil)
    #expect(own.account(for: change(Self.onOff, true.tlv), at: second(0)))
    #expect(own.account(for: change(ColorControl.currentX.path(on: 1), [0x04, 1]), at: second(1)))
    #expect(own.account(for: change(Self.onOff, false.tlv, of: "6"), at: second(1)))
    #expect(own.forget(number).map(\.path) == [Self.onOff, ColorControl.currentX.path(on: 1)])
    #expect(own.forget(number).isEmpty)
    // After the response there is nothing to return.
    own.end(other, at: second(2))
    #expect(own.forget(other).isEmpty)
  }

  @Test func attributesConsecutiveRequests() {
    let own = Requester()
    let (first, last) = (
      own.begin(command(OnOff.on), of: "5", by: nil), own.begin(command(OnOff.off), of: "5", by: nil)
    )
    own.end(first, at: second(1))
    own.end(last, at: second(1))
    #expect(own.account(for: change(Self.onOff, true.tlv), at: second(1)))
    #expect(own.account(for: change(Self.onOff, false.tlv), at: second(1)))
    #expect(!own.account(for: change(Self.onOff, true.tlv), at: second(1)))
  }

  @Test func comparesWrittenValuesByMeaning() {
    let own = Requester()
    let path = LevelControl.onLevel.path(on: 1)
    own.end(own.begin([AttributeWrite(path, value: [0x04, 9])], of: "5", by: nil), at: second(0))
    #expect(!own.account(for: change(path, [0x04, 8]), at: second(0)))
    #expect(!own.account(for: change(path, nil), at: second(0)))
    // Other attributes of the cluster are not attributed.
    #expect(!own.account(for: change(Self.level, [0x04, 9]), at: second(0)))
    #expect(own.account(for: change(path, [0x05, 9, 0]), at: second(0)))
    #expect(!own.account(for: change(path, [0x04, 9]), at: second(0)))
    // A list that is written in parts.
    let parts = [
      AttributeWrite(AttributePath(path), .append, value: [0x04, 1]),
      AttributeWrite(AttributePath(path), .append, value: [0x04, 2]),
    ]
    own.end(own.begin(parts, of: "5", by: nil), at: second(0))
    #expect(own.account(for: change(path, [0x16, 0x04, 1, 0x04, 2, 0x18]), at: second(0)))
    #expect(!own.account(for: change(path, [0x16, 0x18]), at: second(0)))
  }

  @Test func attributesLevelsDuringTransition() {
    let own = Requester()
    let fields = LevelControl.MoveToLevelRequest(
      level: 200, transitionTime: .value(50), optionsMask: [], optionsOverride: [])
    own.end(own.begin(command(LevelControl.moveToLevelWithOnOff, fields), of: "5", by: nil), at: second(0))
    #expect(own.account(for: change(Self.onOff, true.tlv), at: second(0)))
    #expect(own.account(for: change(Self.level, [0x04, 50], from: [0x04, 1]), at: second(1)))
    #expect(own.account(for: change(Self.level, [0x04, 120], from: [0x04, 50]), at: second(3)))
    // In the opposite direction.
    #expect(!own.account(for: change(Self.level, [0x04, 110], from: [0x04, 120]), at: second(3)))
    #expect(own.account(for: change(Self.level, [0x04, 200], from: [0x04, 110]), at: second(6.9)))
    // The target level was reached: further changes are of other clients.
    #expect(!own.account(for: change(Self.level, [0x04, 190], from: [0x04, 200]), at: second(6.9)))
    #expect(!own.account(for: change(Self.level, [0x04, 200], from: [0x04, 190]), at: second(6.9)))
    let quick = LevelControl.MoveToLevelRequest(level: 5, transitionTime: .null, optionsMask: [], optionsOverride: [])
    own.end(own.begin(command(LevelControl.moveToLevel, quick), of: "5", by: nil), at: second(20))
    #expect(!own.account(for: change(Self.level, [0x04, 5], from: [0x04, 9]), at: second(22.1)))
  }

  @Test func attributesUnknownResultsOncePerAttribute() {
    let own = Requester()
    own.end(own.begin(command(OnOff.toggle), of: "5", by: nil), at: second(0))
    #expect(own.account(for: change(Self.onOff, true.tlv), at: second(1)))
    #expect(own.account(for: change(ColorControl.currentX.path(on: 1), [0x04, 1]), at: second(1)))
    // Settings change only by writes.
    #expect(!own.account(for: change(LevelControl.onLevel.path(on: 1), [0x04, 1]), at: second(1)))
    #expect(!own.account(for: change(Self.onOff, false.tlv), at: second(1)))
    #expect(!own.account(for: change(Descriptor.tagList.path(on: 1), [0x16, 0x18]), at: second(1)))
    own.end(own.begin(command(Identify.identify), of: "5", by: nil), at: second(0))
    #expect(!own.account(for: change(Self.onOff, false.tlv), at: second(1)))
    own.end(own.begin(command(ScenesManagement.recallScene), of: "5", by: nil), at: second(1))
    #expect(own.account(for: change(FanControl.fanMode.path(on: 1), [0x04, 1]), at: second(1)))
    #expect(!own.account(for: change(FanControl.fanMode.path(on: 2), [0x04, 1]), at: second(1)))
  }

  @Test func matchesByClusterOnAnotherNode() {
    let own = Requester()
    own.end(own.begin(command(OnOff.on), of: "5", by: SourceID(5)), at: second(0))
    // The device is now reached through node 7, as endpoint 3.
    #expect(!own.account(for: change(OnOff.onOff.path(on: 3), false.tlv, on: 7), at: second(0)))
    #expect(own.account(for: change(OnOff.onOff.path(on: 3), true.tlv, on: 7), at: second(0)))
  }
}
