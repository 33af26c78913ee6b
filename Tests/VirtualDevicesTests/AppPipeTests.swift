import Foundation
import Glibc
import Logging
import MatterClusters
import MatterDevice
import MatterModel
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing

@testable import VirtualDevices

/// Commands of the Matter SDK's test scripts.
@Suite("App pipe", .serialized) struct AppPipeTests {
  private func problem(_ line: String) -> String? {
    do throws(ControlError) {
      _ = try PipeCommand(line)
      return nil
    } catch {
      return error.message
    }
  }

  @Test func readsCommands() throws {
    let occupancy = try PipeCommand(#"{"Name": "SetOccupancy", "EndpointId": 3, "Occupancy": 1}"#)
    #expect(occupancy.endpoint == 3 && occupancy.node == nil)
    #expect(occupancy.action == .set(OccupancySensing.id, OccupancySensing.occupancy.id, UInt8(1).tlv))
    let moisture = try PipeCommand(#"{"Name": "SetSimulatedSoilMoisture", "SoilMoistureValue": 100, "EndpointId": 1}"#)
    #expect(
      moisture.action == .set(SoilMeasurement.id, SoilMeasurement.soilMoistureMeasuredValue.id, UInt8(100).tlv))
    let presses = try PipeCommand(
      #"""
      {"Name": "SimulateMultiPress", "EndpointId": 1, "ButtonId": 1, "MultiPressPressedTimeMillis": 500,
       "MultiPressReleasedTimeMillis": 250, "MultiPressNumPresses": 2, "FeatureMap": 30, "MultiPressMax": 3}
      """#)
    #expect(
      presses.action
        == .move([
          .init(to: 1), .init(to: 0, after: .milliseconds(500)), .init(to: 1, after: .milliseconds(250)),
          .init(to: 0, after: .milliseconds(500)),
        ]))
    let long = try PipeCommand(
      #"{"Name": "SimulateLongPress", "ButtonId": 1, "LongPressDelayMillis": 800, "LongPressDurationMillis": 2000}"#)
    #expect(long.endpoint == nil)
    #expect(long.action == .move([.init(to: 1), .init(to: 0, after: .milliseconds(2000))]))
  }

  @Test func explainsBadLines() {
    let form = "not a JSON object with single values; expected {\"Name\": …, \"EndpointId\": 1, …}"
    for line in ["", "hello", "[1]", "{", "7", #"{"Name": {}}"#, "{\"Name\": \"\u{1}"] {
      #expect(problem(line) == form)
    }
    #expect(problem("{}")?.hasPrefix("no “Name”; expected SetOccupancy, ") == true)
    #expect(problem(#"{"Name": 5}"#)?.hasPrefix("no “Name”") == true)
    #expect(problem(#"{"Name": "Fly"}"#)?.hasPrefix("unknown name “Fly”; expected SetOccupancy, ") == true)
    #expect(problem(#"{"Name": "SetOccupancy"}"#) == "no “Occupancy”")
    for endpoint in ["-1", "70000", "\"x\"", "1e99", "1.5"] {
      #expect(
        problem("{\"Name\": \"SetOccupancy\", \"Occupancy\": 1, \"EndpointId\": \(endpoint)}")
          == "“EndpointId” is missing or wrong; expected a number from 0 to 65535")
    }
    #expect(
      problem(#"{"Name": "SimulateLongPress", "LongPressDurationMillis": 5}"#)
        == "“ButtonId” is missing or wrong; expected a number from 0 to 255")
  }

  /// The messages of a logger.
  private final class Messages: Sendable { let list = Mutex<[String]>([]) }

  private struct Handler: LogHandler {
    let messages: Messages
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.error

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.list.withLock { $0.append("\(event.message)") } }
  }

  @Test(.timeLimit(.minutes(10))) func performsLinesOfPipe() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-pipe-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var options = FleetOptions(devicesDirectory: directory + "/devices", runDirectory: directory + "/run")
    options.discovery = .off
    options.appPipe = directory + "/pipe"
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let log = Messages()
    let text = """
      devices:
        - { name: Motion, room: Hall, type: occupancy sensor }
        - { name: Air, type: air quality sensor }
        - name: Bridge
          type: bridge
          devices: [{ name: Motion, room: Attic, type: occupancy sensor }]
      """
    let fleet = try await Fleet.start(
      try HomeDefinition.load(simulating: [("home.yaml", text)]), options, on: group,
      logger: Logger(label: "test") { _ in Handler(messages: log) })
    func write(_ line: String) async throws {
      // As the scripts do: open, write, close.
      try await NIOThreadPool.singleton.runIfActive {
        let file = try #require(FileHandle(forWritingAtPath: directory + "/pipe"))
        try file.write(contentsOf: Data((line + "\n").utf8))
        try file.close()
      }
    }
    func readings() async throws -> [String?] { try await fleet.status().devices.map(\.reading) }

    try await write(#"{"Name": "SetOccupancy", "EndpointId": 1, "Occupancy": 1, "Node": "Hall/Motion"}"#)
    #expect(try await eventually { try await readings()[0] == "occupied" })
    // Also a device behind a bridge, whose endpoints are numbered from 1.
    try await write(#"{"Name": "SetOccupancy", "EndpointId": 1, "Occupancy": 1, "Node": "Attic/Motion"}"#)
    #expect(try await eventually { try await fleet.status().devices[2].bridged[0].reading == "occupied" })
    try await write(#"{"Name": "PowerOnReboot", "Node": "Attic/Motion"}"#)
    // None of these ends the process or the pipe.
    try await write("nonsense")
    try await write(#"{"Name": "SetAirQuality", "NewValue": 3}"#)
    try await write(#"{"Name": "SetAirQuality", "NewValue": 3, "Node": "Nowhere"}"#)
    try await write(#"{"Name": "SetAirQuality", "NewValue": 3, "Node": "Hall/Motion"}"#)
    try await write(#"{"Name": "SetAirQuality", "NewValue": 77, "Node": "Air"}"#)
    try await write(#"{"Name": ""# + String(repeating: "x", count: 70_000) + #""}"#)
    try await write(#"{"Name": "SetAirQuality", "NewValue": 4, "Node": "Air"}"#)
    #expect(try await eventually { try await readings()[1] == "poor" })
    #expect(await eventually { log.list.withLock { $0.count } == 7 })
    let messages = log.list.withLock { $0 }
    for part in [
      "app pipe: nonsense: not a JSON object", "several devices; expected “Node”", "there is no device “Nowhere”",
      "it has no cluster airQuality", "the value is out of range; expected Unknown (0), Good (1)",
      "longer than 65536 bytes", "it restarts with its node; use “Bridge”",
    ] { #expect(messages.contains { $0.contains(part) }, "\(part): \(messages)") }

    await fleet.stop()
    try await group.shutdownGracefully()
    #expect(!FileManager.default.fileExists(atPath: directory + "/pipe"))
  }

  @Test(.timeLimit(.minutes(10))) func refusesPathThatIsNoPipe() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/hearth-pipe-" + UUID().uuidString
    try Data("text".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let error = await #expect(throws: AppPipeError.self) {
      _ = try await AppPipe.open(path, on: group.next(), logger: Logger(label: "test")) { _ in
        group.next().makeSucceededFuture(ControlReply())
      }
    }
    #expect(error?.description == "\(path): not a named pipe; choose another path with --app-pipe")
    try await group.shutdownGracefully()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
  }
}
