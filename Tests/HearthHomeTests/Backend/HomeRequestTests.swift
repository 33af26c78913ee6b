import Foundation
import HomeAutomation
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import CloudLink
@testable import HearthHome
@testable import HomeControl
@testable import MatterController

/// The encoding of requests, and the roles that they need.
@Suite("Requests") struct HomeRequestTests {
  private static let toggle = CommandData(CommandPath(endpoint: 1, cluster: OnOff.id, command: OnOff.toggle.id))
  private static let write = AttributeWrite(
    AttributePath(endpoint: 1, cluster: LevelControl.id, attribute: LevelControl.onLevel.id), .item(3),
    dataVersion: .max,
    value: [0x04, 9])
  private static let window = CommandPath(
    endpoint: 0, cluster: AdministratorCommissioning.id, command: AdministratorCommissioning.openCommissioningWindow.id)

  private static var pairing: CommissioningRequest {
    var request = CommissioningRequest(
      passcode: 20_240_001,
      target: .addresses([
        SocketAddress(.v6(high: 0xFE80 << 48, low: 7, scope: 2), port: 5540), SocketAddress(.loopback4, port: 1),
      ]))
    request.product = .init(vendorID: 0xFFF1, productID: 0x8000)
    (request.flow, request.nodeID, request.tags) = (.userIntent, NodeID(0xFFFF_FFEF_FFFF_FFFF), [0x1_0002])
    (request.attestationPolicy, request.regulatoryLocation) = (.proceedAnyway, .outdoor)
    request.failSafe = .milliseconds(1500)
    return request
  }

  private static var subscription: SubscriptionRequest {
    var request = SubscriptionRequest(
      paths: [AttributePath()], events: [EventPath(isUrgent: true)], minInterval: .seconds(1), keepsOthers: false)
    (request.eventMin, request.knownVersions) = (.max, [ClusterPath(1, 6): 7])
    return request
  }

  /// Each request, and the least role that permits it.
  private static var all: [(HomeRequest, HomeRole)] {
    devices + fabric + stored
  }

  private static let devices: [(HomeRequest, HomeRole)] = [
    (.edit(edits: [.addRoom(name: "Den", structureID: nil), .moveDevice(id: "5", roomID: "r")]), .owner),
    (.read(node: NodeID(.max), paths: [AttributePath()], isFabricFiltered: true, timeout: .milliseconds(1500)), .guest),
    (.write(node: 5, writes: [write], isTimed: true), .member),
    (.invoke(node: 5, command: toggle, isTimed: false), .member),
    (.invoke(node: 5, command: CommandData(window), isTimed: true), .owner),
    (.subscribe(node: 5, request: subscription), .member),
    (
      .writeDevice(device: "7/3", source: SourceID(7, 3), writes: [write], isTimed: false, timeout: .seconds(1)),
      .member
    ),
    (.invokeDevice(device: "5", source: nil, command: toggle, isTimed: false, timeout: nil), .member),
    (.openWindow(node: 5, duration: .seconds(180), isEnhanced: true), .owner),
    (.anchor, .guest),
    (.samples(after: Anchor("h1f-12"), filter: SampleFilter(.event, devices: ["5"]), limit: 3), .guest),
  ]

  private static let fabric: [(HomeRequest, HomeRole)] = [
    (.fabric, .guest), (.pair(request: pairing, name: "Sun", room: nil, trust: nil), .owner),
    (.remove(node: 5, isForced: true), .owner), (.attestation(node: 5), .guest),
    (.discover(query: .commissionable(.vendor(0xFFF1)), time: .seconds(2)), .owner),
    (.discover(query: .operational(compressedFabricID: .max, nodeID: nil), time: nil), .owner),
    (.groups, .guest), (.createGroup(id: 7, name: "Den"), .owner), (.deleteGroup(id: 7), .owner),
    (.addMember(group: 7, node: 5, endpoint: 1), .owner), (.removeMember(group: 7, node: 5, endpoint: 1), .owner),
    (.invokeGroup(group: 7, cluster: OnOff.id, command: OnOff.toggle.id, fields: [0x15, 0x18]), .member),
    (.invokeGroup(group: 7, cluster: window.cluster, command: window.command, fields: nil), .owner),
  ]

  private static let stored: [(HomeRequest, HomeRole)] = [
    (.cloudAccounts, .owner), (.addCloudAccount(name: "Acme", address: "https://a.example", token: "t"), .owner),
    (.refreshCloudAccount(name: "Acme"), .owner), (.removeCloudAccount(name: "Acme"), .owner),
    (.settings, .owner), (.changeSettings(changes: .init(graceTime: .seconds(30), interfaces: ["lo"])), .owner),
    (.deliveries, .owner),
    (.addDelivery(filter: .all, frequency: .every(.seconds(60)), target: .command(["true"]), after: nil), .owner),
    (
      .addDelivery(
        filter: SampleFilter(.event), frequency: .immediate, target: .webhook("http://[::1]/"), after: Anchor("h1-2"),
        program: "clock"),
      .owner
    ),
    (.resumeDelivery(id: 1), .owner), (.removeDelivery(id: 1), .owner),
    (.clients, .owner), (.invite(name: "Ada", role: .member), .owner), (.revoke(name: "Ada"), .owner),
    (.status, .owner), (.certify(request: Data([0x30, 0])), .guest), (.simulatedDevices, .owner),
    (.simulate(process: 1, request: #"{"status":{}}"#), .owner),
  ]

  @Test(arguments: all) func permitsRequestsByRole(_ request: HomeRequest, least: HomeRole) {
    for role in HomeRole.allCases {
      #expect(request.isAllowed(to: role) == (role >= least))
      let error = failure { () throws(HomeError) in try request.check(role) }
      #expect(error?.code == (role >= least ? nil : .accessDenied))
    }
  }

  private static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func again<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(try text(value).utf8))
  }

  @Test(arguments: all.map(\.0)) func roundTripsRequests(_ request: HomeRequest) throws {
    #expect(try Self.text(Self.again(request)) == Self.text(request))
  }

  @Test func encodesNumbersOctetsAndDurations() throws {
    let read = HomeRequest.read(
      node: NodeID(.max), paths: [AttributePath(endpoint: 1)], isFabricFiltered: true, timeout: .milliseconds(1500))
    #expect(
      try Self.text(read)
        == #"{"read":{"isFabricFiltered":true,"node":18446744073709551615,"paths":[{"endpoint":1}],"timeout":1500}}"#)
    #expect(
      try Self.text(HomeRequest.write(node: 5, writes: [Self.write], isTimed: false)).contains(#""value":"BAk=""#))
    #expect(try Self.text(HomeRequest.anchor) == #"{"anchor":{}}"#)
    #expect(try Self.text([NodeID(5): "a"]) == #"{"5":"a"}"#)
    #expect(try Self.text(SourceID(7, 3)) == #""7/3""#)
  }

  @Test func decodesNoInvalidValues() {
    func decode<Value: Decodable>(_: Value.Type, _ text: String) -> Value? {
      try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
    for octets in ["BAk", "B=k=", "====", "BA\\u00e9=", "[4,9]"] {
      #expect(
        decode(CommandData.self, #"{"path":{"cluster":6,"command":1},"fields":"\#(octets)"}"#) == nil, "\(octets)")
    }
    for octets in [[], [1], [1, 2], [1, 2, 3], [0xFF, 0xFE, 0xFD, 0xFC]] as [[UInt8]] {
      #expect(Base64.encode(octets) == Data(octets).base64EncodedString())
      #expect(Base64.decode(Base64.encode(octets)) == octets)
    }
    #expect(decode(NodeID.self, "-1") == nil && decode(EndpointID.self, "65536") == nil)
    #expect(decode(SourceID.self, #""7/x""#) == nil && decode(IPAddress.self, #""1.2.3""#) == nil)
    #expect(decode(HomeRequest.self, #"{"nothing":{}}"#) == nil)
  }

  @Test func roundTripsErrors() throws {
    var error = HomeError(Status(.busy, clusterCode: 2), of: OnOff.id)
    (error.device, error.candidates, error.answer) = ("Lamp", ["a", "b"], Self.toggle)
    let again = try Self.again(error)
    #expect(again.code == error.code && again.message == error.message && again.status == error.status)
    #expect(again.device == error.device && again.candidates == error.candidates && again.answer == error.answer)
  }

  @Test func roundTripsRepliesAndProgress() throws {
    let anchor = try #require(Anchor("h1-2"))
    var state = HomeState()
    state.apply(.structureAdded(Structure(id: "home", name: "Home")))
    let client = InvitedClient(name: "Ada", role: .member, created: 7, tokenHash: [1, 2, 3])
    let replies: [HomeReply] = [
      .done, .edited(results: [.init(wasCut: true)]), .written(statuses: []), .invoked(response: Self.toggle),
      .invoked(response: nil), .anchor(anchor: anchor),
      .samples(result: .samples([], next: anchor, isComplete: true)),
      .samples(result: .reset(StoredHome(state: state, contacts: [5: Contact(last: 1)], anchor: anchor))),
      .window(window: CommissioningWindow(kind: .enhanced(passcode: 1, discriminator: 2), duration: .seconds(180))),
      .fabric(fabric: HomeFabric(id: 1, compressedID: .max, nodeID: 3, rootPublicKey: [4, 5])),
      .paired(device: DeviceEntry(id: "5", name: "Lamp", structureID: "home"), room: "Den", result: Self.result),
      .removed(removal: .notMember),
      .attestation(attestation: .test), .attestation(attestation: nil), .groups(groups: [], deleted: []),
      .groupDeleted(pending: [5]), .cloudAccounts(accounts: [CloudAccount(name: "Acme", address: "https://a.example")]),
      .settings(settings: HomeSettings(graceTime: .seconds(1), trustsTestDevices: true, interfaces: ["lo"])),
      .deliveries(deliveries: [BackgroundDelivery(.all, .every(.seconds(2)), to: .command(["true"]), after: anchor)]),
      .deliveryResumed(hadFailed: true), .clients(clients: [client]), .invited(client: client, token: "t"),
      .status(
        status: HubStatus(process: 1, isFollowing: true, since: 2, devices: 3, devicesOnline: 4, drops: ["a": 5])),
    ]
    for reply in replies {
      let text = try Self.text(reply)
      #expect(try Self.text(Self.again(reply)) == text)
      #expect(!text.contains("tokenHash"))
    }
    let news: [HomeProgress] = [
      .commissioning(step: .discover, progress: .started),
      .commissioning(step: .complete, progress: .finished(.milliseconds(12))),
      .discovery(
        news: .found(
          MatterService(kind: .commissionable(instance: .max), hostName: "A", port: 1, addresses: [.loopback6]))),
      .subscription(news: .attribute(ConcreteAttributePath(1, 6, 0), value: [9])),
      .subscription(news: .lost(HomeError(.unreachable, "gone"), retryingIn: .seconds(3))),
    ]
    for progress in news { #expect(try Self.text(Self.again(progress)) == Self.text(progress)) }
    #expect(try Self.text(news[3]).contains(#""value":"CQ==""#) && Self.text(news[4]).contains(#""retryingIn":3000"#))
  }

  private static let result = CommissioningResult(
    nodeID: 5, fabricIndex: 1, information: DeviceInformation(), attestation: .production,
    address: SocketAddress(.loopback6, port: 5540), duration: .seconds(2))
}
