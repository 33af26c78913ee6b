import HearthHome
import Hub
import MatterClusters
import Synchronization
import Testing

/// A cloud device, seen through a hub. See the article “The home model”, “Connectivity and locality”.
@Suite("Cloud devices through a hub", .timeLimit(.minutes(10))) struct CloudDeviceTests {
  @Test func cloudDeviceIsRemoteThroughLocalHub() async throws {
    let cloud = OneLamp()
    let served = try await ServedHome(isEmpty: true, cloud: cloud)
    let client = try await served.client(through: [.local(served.socket)])
    try await served.home.addCloudAccount("Acme", address: "https://acme.example/", token: "t")
    let isThere = await eventually {
      try await client.devices().list().first?.sourceConnectivity == SourceConnectivity(.online, .remote)
    }
    #expect(isThere)
    let porch = try #require(try await client.devices().list().first)
    #expect(porch.name == "Porch" && !porch.isMatterDevice)
    try await porch.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.on()
    #expect(cloud.isOn)
    let isReported = await eventually {
      let now = try await client.devices().list().first
      return now?.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.attributes.onOff == true
    }
    #expect(isReported)
    #expect(try await client.cloudAccounts.map(\.name) == ["Acme"])
    await client.close()
    await served.close()
  }
}

/// A cloud with one lamp.
private final class OneLamp: CloudTransport {
  private let isSwitchedOn = Mutex(false)
  var isOn: Bool { isSwitchedOn.withLock { $0 } }

  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    let text = String(decoding: body, as: UTF8.self)
    if text.contains("EXECUTE") { isSwitchedOn.withLock { $0 = text.contains("\"on\":true") } }
    let state = "\"online\":true,\"on\":\(isOn)"
    let payload =
      if text.contains("SYNC") {
        """
        "devices":[{"id":"p","type":"action.devices.types.LIGHT","traits":["action.devices.traits.OnOff"],\
        "name":{"name":"Porch"}}]
        """
      } else if text.contains("QUERY") {
        "\"devices\":{\"p\":{\(state)}}"
      } else {
        "\"commands\":[{\"ids\":[\"p\"],\"status\":\"SUCCESS\",\"states\":{\(state)}}]"
      }
    return CloudReply(status: 200, body: Array("{\"requestId\":\"1\",\"payload\":{\(payload)}}".utf8))
  }
}
