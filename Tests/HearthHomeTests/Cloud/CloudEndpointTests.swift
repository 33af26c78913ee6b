import Foundation
import GRDB
import HearthHome
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import CloudLink

/// Assignment of node ids and endpoints to the devices of an account, which must not change.
@Suite("Cloud endpoints") struct CloudEndpointTests {
  private let scratch: TestDatabase
  private let database: HomeDatabase
  private let account: StoredCloudAccount

  init() throws {
    scratch = try TestDatabase()
    database = try scratch.open()
    _ = try database.addCloudAccount("Acme", address: "https://a.example", token: "t")
    account = try #require(try database.storedCloudAccounts().first)
  }

  private func part(_ id: String, _ unique: String? = nil, hasBattery: Bool = false) throws -> CloudDevice {
    let identity =
      unique.map { ",\"matterUniqueId\":\"\($0)\",\"matterOriginalVendorId\":\"0xfff1\"" }
      ?? ",\"matterUniqueId\":null"
    let battery = hasBattery ? ",\"action.devices.traits.EnergyStorage\"" : ""
    let text = """
      {"id":"\(id)","type":"action.devices.types.OUTLET","traits":["action.devices.traits.OnOff"\(battery)],\
      "name":{"name":"It"}\(identity)}
      """
    return try CloudDevice(JSONParser.parse(Array(text.utf8)))
  }

  private func keep(_ parts: CloudDevice...) throws -> [NodeID: CloudNode] {
    try #require(try database.keep(parts, of: account))
  }

  @Test func mergesDevicesWithSameUniqueID() throws {
    #expect(try keep(part("a"), part("b")).count == 2)
    for _ in 0..<2 {
      let nodes = try keep(part("a", "s"), part("b", "s"))
      #expect(nodes.count == 1 && nodes.values.first?.orderedParts.map(\.value.id) == ["a", "b"])
      #expect(try database.cloudNodes() == ["Acme": nodes])
    }
    // A unique id that is missing for a while does not split them.
    #expect(try keep(part("a"), part("b")).values.map(\.parts.count) == [2])
    #expect(try keep(part("c", "t"), part("a")).count == 2)
  }

  @Test func keepsNodesWithUnreadableDescription() throws {
    let nodes = try keep(part("a"), part("b"))
    try database.write { try $0.execute(sql: "UPDATE cloud_device SET description = '{}' WHERE device = 'b'") }
    // The node still belongs to the account.
    #expect(try Set(database.cloudNodes()["Acme"]?.keys ?? [:].keys) == Set(nodes.keys))
    #expect(try keep(part("a"), part("b")) == nodes)
    #expect(try database.cloudNodes() == ["Acme": nodes])
  }

  @Test func reportsBatteryOfOnePart() throws {
    let parts: [EndpointID: CloudDevice] = [
      1: try part("a"), 2: try part("b", hasBattery: true), 3: try part("c", hasBattery: true),
    ]
    func state(_ percent: Int) throws -> JSONValue {
      ["capacityRemaining": [["rawValue": .int(percent), "unit": "PERCENTAGE"]]]
    }
    let node = CloudNode(node: .temporaryLocal(1), parts: parts)
    let all = try #require(try node.attributes(["a": state(10), "b": state(50), "c": state(80)]))
    #expect(all.filter { $0.path.cluster == PowerSource.id }.map(\.value) == [Nullable(UInt8(100)).tlv])
  }

  @Test func roundTripsCustomData() throws {
    for data in [
      #"{"id":1234567890123456789}"#, #"{"id":-9223372036854775808}"#, #"{"a":[1,2.5,9223372036854775807]}"#,
    ] {
      #expect(try JSONParser.parse(Array(data.utf8)).description == data)
    }
  }

  @Test func limitsDevicesOfAccount() throws {
    let most = CloudIntent.mostDevices
    #expect(try #require(try database.keep((0..<most).map { try part("\($0)") }, of: account)).count == most)
    #expect(try keep(part("new"), part("0")).count == most)
    #expect(try keep(part("0", "s"), part("1", "s")).count == most - 1)
  }

  @Test func limitsPartsOfNode() throws {
    let parts = try (0...Int(CloudNode.mostParts)).map { try part("\($0)", "s") }
    let nodes = try #require(try database.keep(parts, of: account))
    #expect(nodes.values.map(\.parts.count) == [Int(CloudNode.mostParts)])
  }
}
