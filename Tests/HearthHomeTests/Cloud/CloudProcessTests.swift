import HearthHome
import HomeControl
import HomeModel
import Logging
import MatterClusters
import Runtime
import Synchronization
import Testing
import WebClient

/// Cloud accounts of a home that several processes have open.
@Suite("Cloud accounts of several processes", .timeLimit(.minutes(10))) struct CloudProcessTests {
  /// Opens a home that never polls its accounts.
  private func open(_ directory: ScratchDirectory, _ cloud: CountingCloud) async throws -> Home {
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    // The machine may be busy with other tests.
    options.timeout = .seconds(120)
    options.logger.logLevel = .critical
    options.discovery = .off
    options.clouds.transport = cloud
    options.clouds.queryInterval = .seconds(86_400)
    options.clouds.syncInterval = .seconds(86_400)
    return try await Home(options)
  }

  @Test func appliesAccountChangesOfOtherProcesses() async throws {
    let directory = ScratchDirectory()
    let (own, others) = (CountingCloud(), CountingCloud())
    let home = try await open(directory, own)
    try await home.follow()
    let other = try await open(directory, others)
    try await other.addCloudAccount("Acme", address: "https://acme.example/", token: "t")
    let isThere = await eventually {
      let device = try? await home.devices().list().first
      return device?.sourceConnectivity == SourceConnectivity(.online, .remote)
    }
    #expect(isThere)
    // Only the owner of the home sends requests.
    #expect(others.intents.isEmpty && own.intents == ["SYNC", "QUERY"])
    await other.close()
    let third = try await open(directory, others)
    let porch = try #require(try await third.devices().list().first)
    #expect(porch.name == "Porch")
    try await porch.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.on()
    // The state is queried soon after the command.
    #expect(await eventually { own.intents == ["SYNC", "QUERY", "EXECUTE", "QUERY"] })
    #expect(others.intents.isEmpty)
    _ = try await third.removeCloudAccount("Acme")
    #expect(await eventually { (try? await home.devices().list().isEmpty) == true })
    let controller = try home.controller
    #expect(await eventually { await controller.clouds.isEmpty })
    await third.close()
    await home.close()
  }
}

/// A cloud with one lamp that records the requests.
private final class CountingCloud: CloudTransport {
  private let recorded = Mutex<[String]>([])
  var intents: [String] { recorded.withLock { $0 } }

  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    let text = String(decoding: body, as: UTF8.self)
    let intent = ["SYNC", "QUERY"].first { text.contains("devices.\($0)") } ?? "EXECUTE"
    recorded.withLock { $0.append(intent) }
    let payload =
      switch intent {
      case "SYNC":
        """
        "devices":[{"id":"p","type":"action.devices.types.LIGHT","traits":["action.devices.traits.OnOff"],\
        "name":{"name":"Porch"}}]
        """
      case "QUERY": "\"devices\":{\"p\":{\"online\":true,\"on\":false}}"
      default: "\"commands\":[{\"ids\":[\"p\"],\"status\":\"SUCCESS\"}]"
      }
    return CloudReply(status: 200, body: Array("{\"requestId\":\"1\",\"payload\":{\(payload)}}".utf8))
  }
}
