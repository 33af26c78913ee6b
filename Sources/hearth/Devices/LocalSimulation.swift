import Foundation
import HearthHome
import MatterModel
import VirtualDevices

/// The virtual devices that run on this machine with a state directory.
struct LocalSimulation: SimulationControl {
  /// The run directory.
  var directory: String

  func devices(on fabric: FabricID) -> [SimulatedNode] {
    FleetStatus.running(in: directory).flatMap { fleet in
      fleet.devices.map { device in
        let entry = device.fabrics.first { UInt64($0.fabricID, radix: 16) == fabric.rawValue }
        let node = entry.flatMap { UInt64($0.nodeID, radix: 16) }.map { NodeID($0) }
        return SimulatedNode(process: fleet.process, path: device.path, node: node)
      }
    }
  }

  func send(_ request: String, to process: Int32) throws(HomeError) -> String {
    try Self.encode(send(Self.withoutFiles(Self.decode(request)), to: process))
  }

  func send(_ request: ControlRequest, to process: Int32) throws(HomeError) -> ControlReply {
    do throws(ControlError) { return try ControlClient.send(request, toProcess: process, in: directory) } catch {
      let code: HomeError.Code =
        switch error.code {
        case .notRunning: .notRunning
        case .noAnswer: .timedOut
        case .badRequest: .badArguments
        case .notFound: .notFound
        case .refused, .noPower: .refused
        case .failed: .internalError
        }
      throw HomeError(code, error.message, cause: error)
    }
  }

  /// Checks a request of another machine, because the definition of a device may name files of this one.
  private static func withoutFiles(_ request: ControlRequest) throws(HomeError) -> ControlRequest {
    guard case .add(let bridge, let entry) = request else { return request }
    let fields: [String: String] = try decode(entry)
    guard Set(fields.keys).isSubset(of: ["name", "room", "type"]) else {
      throw HomeError(.badArguments, "a device that is added through a hub can have a name, a room and a type only")
    }
    return .add(device: bridge, entry: try encode(fields))
  }

  static func encode(_ value: some Encodable) throws(HomeError) -> String {
    do { return String(decoding: try JSONEncoder().encode(value), as: UTF8.self) } catch { throw HomeError(error) }
  }

  static func decode<Value: Decodable>(_ text: String) throws(HomeError) -> Value {
    do { return try JSONDecoder().decode(Value.self, from: Data(text.utf8)) } catch {
      throw HomeError(.badArguments, "unknown request or reply, perhaps of another version of hearth", cause: error)
    }
  }
}
