import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Synchronization
import Testing
import WebClient

@testable import HomeControl
@testable import Hub

/// `check_node_update` and `update_node`, with an installer of the test.
struct SoftwareUpdateTests {
  private static func image(
    _ version: UInt32, product: UInt16 = 0x8001, from: UInt32? = nil, to: UInt32? = nil
  ) -> SoftwareImageHeader {
    var header = SoftwareImageHeader()
    (header.vendorID, header.productID, header.softwareVersion) = (0xFFF1, product, version)
    header.softwareVersionString = "\(version).0"
    (header.minimumApplicableVersion, header.maximumApplicableVersion) = (from, to)
    return header
  }

  /// Serves the lamp, node 5 with version 1, and connects a client.
  private static func serve(
    _ images: [SoftwareImageHeader], state: OtaSoftwareUpdateRequestor.UpdateState = .idle,
    install: @escaping SoftwareUpdates.Installer = { _, _ in }
  ) async throws -> (home: ServedHome, client: RawWebSocket) {
    let home = try await ServedHome {
      $0.loopback = .init(host: "127.0.0.1", port: 0)
      $0.updates = SoftwareUpdates(images, install: install)
    }
    try await home.make([
      .attribute(5, BasicInformation.vendorID.path(on: .root), value: VendorID(0xFFF1).tlv),
      .attribute(5, BasicInformation.productID.path(on: .root), value: UInt16(0x8001).tlv),
      .attribute(5, BasicInformation.softwareVersion.path(on: .root), value: UInt32(1).tlv),
      .attribute(5, OtaSoftwareUpdateRequestor.updateState.path(on: .root), value: state.tlv),
    ])
    let client = try await RawWebSocket(try #require(try await home.webSocketURL))
    #expect(await eventually { client.messages.count == 1 })
    return (home, client)
  }

  private static let node = #"{"node_id":5}"#

  private static func update(_ client: RawWebSocket, _ version: String) async -> JSONValue? {
    await client.result("update_node", #"{"node_id":5,"software_version":\#(version)}"#)
  }

  @Test func findsNewestApplicableImage() async throws {
    let images = [
      Self.image(1), Self.image(2), Self.image(3, from: 1, to: 1), Self.image(4, from: 2),
      Self.image(5, product: 0x8002),
    ]
    let (home, client) = try await Self.serve(images)
    #expect(
      await client.result("check_node_update", Self.node)?["result"] == [
        "vid": 0xFFF1, "pid": 0x8001, "software_version": 3, "software_version_string": "3.0",
        "firmware_information": .null, "min_applicable_software_version": 1, "max_applicable_software_version": 1,
        "release_notes_url": .null, "update_source": "local",
      ])
    try await home.make([.attribute(5, BasicInformation.softwareVersion.path(on: .root), value: UInt32(5).tlv)])
    #expect(await client.result("check_node_update", Self.node)?["result"] == .null)
    #expect(await client.result("check_node_update", #"{"node_id":6}"#)?["error_code"] == 5)
    await home.close()
  }

  @Test("a check without images, or of an unknown product, fails with error 10")
  func reportsFailedCheck() async throws {
    for images in [nil, [Self.image(2)]] {
      let home = try await ServedHome {
        $0.loopback = .init(host: "127.0.0.1", port: 0)
        $0.updates = images.map { SoftwareUpdates($0) { _, _ in } }
      }
      let client = try await RawWebSocket(try #require(try await home.webSocketURL))
      #expect(await eventually { client.messages.count == 1 })
      let result = await client.result("check_node_update", Self.node)
      #expect(result?["error_code"] == 10 && result?["result"] == nil)
      #expect(result?["details"]?.text?.contains(images == nil ? "--updates" : "version yet") == true)
      await home.close()
    }
  }

  @Test func installsRequestedVersion() async throws {
    let installed = Mutex<[UInt32]>([])
    let (home, client) = try await Self.serve([Self.image(2), Self.image(3)]) { image, node in
      #expect(node == 5)
      installed.withLock { $0.append(image.softwareVersion) }
    }
    let result = await Self.update(client, "2")?["result"]
    #expect(result?["software_version"] == 2)
    // The image has no limits.
    #expect(result?["min_applicable_software_version"] == 0)
    #expect(result?["max_applicable_software_version"] == 1)
    #expect(await Self.update(client, #""3""#)?["result"]?["software_version"] == 3)
    #expect(installed.withLock { $0 } == [2, 3])
    for (version, code) in [("1", 11), ("4", 11), (#""new""#, 8), ("-1", 8)] {
      #expect(await Self.update(client, version)?["error_code"] == .int(code))
    }
    await home.close()
  }

  @Test func reportsFailure() async throws {
    let (home, client) = try await Self.serve([Self.image(2)]) { _, _ in
      throw HomeError(.refused, "the update failed")
    }
    // The node can be updated again after a failure.
    for _ in 0..<2 {
      let result = await Self.update(client, "2")
      #expect(result?["error_code"] == 11)
      #expect(result?["details"]?.text?.contains("the update failed") == true, "\(String(describing: result))")
    }
    try await home.home.controller.process(.lost(5, .timedOut))
    #expect(await Self.update(client, "2")?["details"]?.text?.contains("not available") == true)
    await home.close()
  }

  @Test func rejectsUpdateInProgress() async throws {
    let (home, client) = try await Self.serve([Self.image(2)], state: .downloading)
    #expect(await Self.update(client, "2")?["details"]?.text?.contains("in progress") == true)
    await home.close()
  }

  @Test(.timeLimit(.minutes(5))) func endsUpdateWithHub() async throws {
    let hasStarted = Mutex(false)
    let isCancelled = Mutex(false)
    let (home, client) = try await Self.serve([Self.image(2)]) { _, _ in
      hasStarted.withLock { $0 = true }
      do { try await Task.sleep(for: .seconds(3600)) } catch {
        isCancelled.withLock { $0 = true }
        throw error
      }
    }
    async let result = Self.update(client, "2")
    #expect(await eventually { hasStarted.withLock { $0 } })
    #expect(await Self.update(client, "2")?["details"]?.text?.contains("in progress") == true)
    await home.stopHub()
    #expect(await eventually { isCancelled.withLock { $0 } })
    // The answer of either command.
    _ = await result
    await home.close()
  }
}
