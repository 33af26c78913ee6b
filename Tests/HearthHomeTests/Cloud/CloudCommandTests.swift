import HearthHome
import HomeControl
import HomeModel
import Logging
import MatterClusters
import MatterModel
import MatterProtocol
import Runtime
import Synchronization
import Testing
import WebClient

/// Cloud requests of a process that follows no devices, such as a single command.
@Suite("Cloud commands", .timeLimit(.minutes(10))) struct CloudCommandTests {
  private let directory = ScratchDirectory()
  private let cloud = TwoLamps()

  /// Opens a home that never polls its accounts.
  private func open() async throws -> Home {
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.logger.logLevel = .critical
    options.discovery = .off
    options.clouds.transport = cloud
    options.clouds.queryInterval = .seconds(86_400)
    options.clouds.syncInterval = .seconds(86_400)
    return try await Home(options)
  }

  /// Opens a home whose database has both lamps, before its first request.
  private func filled() async throws -> Home {
    let home = try await open()
    try await home.addCloudAccount("Acme", address: "https://acme.example/", token: "t")
    try await home.refreshCloudAccount("Acme")
    await home.close()
    cloud.with { $0.intents = [] }
    return try await open()
  }

  private func turn(_ lamp: HomeDevice, isOn: Bool) async throws {
    let trait = try #require(lamp.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait)
    if isOn { try await trait.on() } else { try await trait.off() }
  }

  @Test func sendsConcurrentCommands() async throws {
    let home = try await filled()
    let lamps = try await home.devices().list()
    #expect(lamps.count == 2)
    async let first: Void = turn(lamps[0], isOn: true)
    async let second: Void = turn(lamps[1], isOn: true)
    async let third: Void = turn(lamps[0], isOn: false)
    _ = try await (first, second, third)
    #expect(cloud.with { $0.intents } == ["EXECUTE", "EXECUTE", "EXECUTE"])
    await home.close()
  }

  @Test func reportsOfflineDeviceAsUnreachable() async throws {
    let home = try await filled()
    let controller = try home.controller
    await controller.readClouds()
    let link = try #require(await controller.clouds["Acme"])
    let node = try #require(await link.nodes.keys.min())
    let path = AttributePath(OnOff.onOff.path(on: 1))
    #expect(try await controller.read(node, [path]).attributes.count == 1)
    cloud.with { $0.isOnline = false }
    await #expect { try await controller.read(node, [path]) } throws: { HomeError($0).code == .unreachable }
    let toggle = CommandData(OnOff.toggle.path(on: 1), fields: nil)
    await #expect { _ = try await controller.invoke(node, toggle) } throws: { HomeError($0).code == .unreachable }
    #expect(cloud.with { $0.intents } == ["QUERY", "QUERY", "QUERY"])
    await home.close()
  }

  @Test func ignoresEmptyErrorCodes() async throws {
    for none in ["null", "\"\""] {
      cloud.with { $0.also = "\"errorCode\":\(none),\"debugString\":\"\"," }
      let home = try await filled()
      #expect(try await home.devices().list().count == 2)
      await home.close()
    }
  }
}

/// A cloud with two lamps that records the requests.
private final class TwoLamps: CloudTransport {
  struct State {
    var intents: [String] = []
    var isOnline = true
    var also = ""
  }

  private let recorded = Mutex(State())
  func with<R: Sendable>(_ body: (inout State) -> R) -> R { recorded.withLock { body(&$0) } }

  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    let text = String(decoding: body, as: UTF8.self)
    let intent = ["SYNC", "QUERY"].first { text.contains("devices.\($0)") } ?? "EXECUTE"
    let now = with { recorded in
      recorded.intents.append(intent)
      return recorded
    }
    let lamps = [("p", "Porch"), ("q", "Quay")]
    let payload: String
    switch intent {
    case "SYNC":
      let list = lamps.map { id, name in
        """
        {"id":"\(id)","type":"action.devices.types.LIGHT","traits":["action.devices.traits.OnOff"],\
        "name":{"name":"\(name)"}}
        """
      }
      payload = "\"devices\":[\(list.joined(separator: ","))]"
    case "QUERY":
      let list = lamps.map { id, _ in "\"\(id)\":{\"online\":\(now.isOnline),\"on\":false}" }
      payload = "\"devices\":{\(list.joined(separator: ","))}"
    default:
      payload = "\"commands\":[{\"ids\":[\"p\",\"q\"],\"status\":\"SUCCESS\"}]"
    }
    return CloudReply(status: 200, body: Array("{\"requestId\":\"1\",\"payload\":{\(now.also)\(payload)}}".utf8))
  }
}
