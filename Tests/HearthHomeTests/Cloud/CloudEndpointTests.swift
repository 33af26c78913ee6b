import Foundation
import GRDB
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import HearthHome
@testable import CloudLink
@testable import HomeStore

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

  private func part(_ id: String, _ unique: String? = nil) throws -> CloudPart {
    let identity =
      unique.map { ",\"matterUniqueId\":\"\($0)\",\"matterOriginalVendorId\":\"0xfff1\"" }
      ?? ",\"matterUniqueId\":null"
    let text = """
      {"id":"\(id)","type":"action.devices.types.OUTLET","traits":["action.devices.traits.OnOff"],\
      "name":{"name":"It"}\(identity)}
      """
    return try CloudPart(CloudJSON(Array(text.utf8)))
  }

  private func keep(_ parts: CloudPart...) throws -> [NodeID: CloudNode] {
    try #require(try database.keep(parts, of: account))
  }

  @Test func mergesDevicesWithSameUniqueID() throws {
    #expect(try keep(part("a"), part("b")).count == 2)
    for _ in 0..<2 {
      let nodes = try keep(part("a", "s"), part("b", "s"))
      #expect(nodes.count == 1 && nodes.values.first?.orderedParts.map(\.part.device.id) == ["a", "b"])
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
    var parts: [EndpointID: CloudPart] = [1: try part("a"), 2: try part("b"), 3: try part("c")]
    for endpoint: EndpointID in [2, 3] { parts[endpoint]?.device.traits.append("action.devices.traits.EnergyStorage") }
    func state(_ percent: Int) throws -> CloudJSON {
      try CloudJSON(Array("{\"capacityRemaining\":[{\"rawValue\":\(percent),\"unit\":\"PERCENTAGE\"}]}".utf8))
    }
    let node = CloudNode(node: .temporaryLocal(1), parts: parts)
    let all = try #require(try node.attributes(["a": state(10), "b": state(50), "c": state(80)]))
    #expect(all.filter { $0.path.cluster == PowerSource.id }.map(\.value) == [Nullable(UInt8(100)).tlv])
  }

  @Test func roundTripsCustomData() throws {
    for data in [
      #"{"id":1234567890123456789}"#, #"{"id":-9223372036854775808}"#, #"{"a":[1,2.5,9223372036854775807]}"#,
    ] {
      #expect(try CloudJSON(Array(data.utf8)).bytes == Array(data.utf8))
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
