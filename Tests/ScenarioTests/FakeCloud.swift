import HearthHome
import Simulation
import Synchronization

/// A fake of a maker's cloud that lists devices and executes commands.
final class FakeCloud: CloudTransport {
  /// The response to requests.
  enum Behavior: Sendable {
    case works
    case unreachable
    /// An HTTP status with a body.
    case answers(Int, String, retryAfter: String? = nil)
    /// A response after a delay.
    case slow(Duration)
  }

  struct Contents: Sendable {
    var behavior = Behavior.works
    var token = "secret"
    /// The entries of a SYNC response by ID, in JSON.
    var devices: [(id: String, json: String)] = []
    /// The states of the devices in a QUERY response, in JSON without braces.
    var states: [String: String] = [:]
    /// The results of EXECUTE by device; nil for SUCCESS with the states.
    var outcomes: [String: String] = [:]
    /// The intents received, and the bodies of EXECUTE requests.
    var intents: [String] = []
    var commands: [String] = []
    /// The body of the last QUERY.
    var lastQuery = ""
    var maxConcurrent = 0
    var concurrent = 0
    var world: SimulatedWorld?
  }

  private let contents = Mutex(Contents())

  func with<R: Sendable>(_ body: (inout Contents) -> R) -> R { contents.withLock { body(&$0) } }

  func add(_ id: String, name: String, type: String, traits: [String], state: String, also: String = "") {
    let list = traits.map { "\"action.devices.traits.\($0)\"" }.joined(separator: ",")
    let json = """
      {"id":"\(id)","type":"action.devices.types.\(type)","traits":[\(list)],"name":{"name":"\(name)"}\(also)}
      """
    with {
      $0.devices.removeAll { $0.id == id }
      $0.devices.append((id, json))
      $0.states[id] = state
    }
  }

  func addLamp(_ id: String, name: String, isOn: Bool = false, also: String = "") {
    add(
      id, name: name, type: "LIGHT", traits: ["OnOff", "Brightness"],
      state: "\"online\":true,\"on\":\(isOn),\"brightness\":40", also: also)
  }

  var intents: [String] { with { $0.intents } }
  var commands: [String] { with { $0.commands } }

  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    let text = String(decoding: body, as: UTF8.self)
    let intent = ["SYNC", "QUERY", "EXECUTE"].first { text.contains("action.devices.\($0)") } ?? "?"
    let (behavior, world) = with { contents in
      contents.intents.append(intent)
      contents.concurrent += 1
      contents.maxConcurrent = max(contents.maxConcurrent, contents.concurrent)
      return (contents.behavior, contents.world)
    }
    defer { with { $0.concurrent -= 1 } }
    switch behavior {
    case .works: break
    case .unreachable: throw CloudTransportError.unreachable("connection refused")
    case .answers(let status, let text, let retryAfter):
      return CloudReply(status: status, body: Array(text.utf8), retryAfter: retryAfter)
    case .slow(let time): try await world?.sleep(for: time)
    }
    return with { contents in
      guard token == contents.token else { return CloudReply(status: 401, body: Array("401: Unauthorized".utf8)) }
      return CloudReply(status: 200, body: Array(Self.answer(intent, text, &contents).utf8))
    }
  }

  private static func answer(_ intent: String, _ text: String, _ contents: inout Contents) -> String {
    switch intent {
    case "SYNC":
      let devices = contents.devices.map(\.json).joined(separator: ",")
      return "{\"requestId\":\"1\",\"payload\":{\"agentUserId\":\"u\",\"devices\":[\(devices)]}}"
    case "QUERY":
      contents.lastQuery = text
      let queried = contents.devices.filter { text.contains("\"id\":\"\($0.id)\"") }
      let states = queried.map { "\"\($0.id)\":{\(contents.states[$0.id] ?? "\"online\":false")}" }
      return "{\"requestId\":\"1\",\"payload\":{\"devices\":{\(states.joined(separator: ","))}}}"
    default:
      contents.commands.append(text)
      guard let id = contents.devices.map(\.id).first(where: { text.contains("\"id\":\"\($0)\"") }) else {
        return "{\"payload\":{\"commands\":[]}}"
      }
      if let outcome = contents.outcomes[id] {
        return "{\"requestId\":\"1\",\"payload\":{\"commands\":[{\"ids\":[\"\(id)\"],\(outcome)}]}}"
      }
      for (wanted, now) in [("\"on\":true", "\"on\":true"), ("\"on\":false", "\"on\":false")]
      where text.contains(wanted) {
        contents.states[id] = contents.states[id]?.replacing("\"on\":true", with: now).replacing(
          "\"on\":false", with: now)
      }
      let state = contents.states[id] ?? ""
      return """
        {"requestId":"1","payload":{"commands":[{"ids":["\(id)"],"status":"SUCCESS","states":{\(state)}}]}}
        """
    }
  }
}
