import Home
import Simulation
import Synchronization

/// The cloud of a maker, as far as the protocol goes: it has devices, and does what is asked.
final class FakeCloud: CloudTransport {
  /// How it behaves.
  enum Mood: Sendable {
    case works
    case unreachable
    /// A status of HTTP, and whatever comes with it.
    case answers(Int, String, retryAfter: String? = nil)
    /// It says nothing for so long.
    case slow(Duration)
  }

  struct Inside: Sendable {
    var mood = Mood.works
    var token = "secret"
    /// SYNC's entries by id, in JSON.
    var devices: [(id: String, json: String)] = []
    /// What QUERY says of each, in JSON without its braces.
    var states: [String: String] = [:]
    /// What EXECUTE says of each; nil: SUCCESS, with the states.
    var outcomes: [String: String] = [:]
    /// What was asked: the intents, and of EXECUTE the whole.
    var intents: [String] = []
    var orders: [String] = []
    /// The last QUERY.
    var asked = ""
    var mostAtOnce = 0
    var atOnce = 0
    var world: SimulatedWorld?
  }

  private let inside = Mutex(Inside())

  func with<R: Sendable>(_ body: (inout Inside) -> R) -> R { inside.withLock { body(&$0) } }

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
  var orders: [String] { with { $0.orders } }

  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    let text = String(decoding: body, as: UTF8.self)
    let intent = ["SYNC", "QUERY", "EXECUTE"].first { text.contains("action.devices.\($0)") } ?? "?"
    let (mood, world) = with { inside in
      inside.intents.append(intent)
      inside.atOnce += 1
      inside.mostAtOnce = max(inside.mostAtOnce, inside.atOnce)
      return (inside.mood, inside.world)
    }
    defer { with { $0.atOnce -= 1 } }
    switch mood {
    case .works: break
    case .unreachable: throw CloudTransportError.unreachable("connection refused")
    case .answers(let status, let text, let retryAfter):
      return CloudReply(status: status, body: Array(text.utf8), retryAfter: retryAfter)
    case .slow(let time): try await world?.sleep(for: time)
    }
    return with { inside in
      guard token == inside.token else { return CloudReply(status: 401, body: Array("401: Unauthorized".utf8)) }
      return CloudReply(status: 200, body: Array(Self.answer(intent, text, &inside).utf8))
    }
  }

  private static func answer(_ intent: String, _ text: String, _ inside: inout Inside) -> String {
    switch intent {
    case "SYNC":
      let devices = inside.devices.map(\.json).joined(separator: ",")
      return "{\"requestId\":\"1\",\"payload\":{\"agentUserId\":\"u\",\"devices\":[\(devices)]}}"
    case "QUERY":
      inside.asked = text
      let asked = inside.devices.filter { text.contains("\"id\":\"\($0.id)\"") }
      let states = asked.map { "\"\($0.id)\":{\(inside.states[$0.id] ?? "\"online\":false")}" }
      return "{\"requestId\":\"1\",\"payload\":{\"devices\":{\(states.joined(separator: ","))}}}"
    default:
      inside.orders.append(text)
      guard let id = inside.devices.map(\.id).first(where: { text.contains("\"id\":\"\($0)\"") }) else {
        return "{\"payload\":{\"commands\":[]}}"
      }
      if let outcome = inside.outcomes[id] {
        return "{\"requestId\":\"1\",\"payload\":{\"commands\":[{\"ids\":[\"\(id)\"],\(outcome)}]}}"
      }
      for (asked, now) in [("\"on\":true", "\"on\":true"), ("\"on\":false", "\"on\":false")]
      where text.contains(asked) {
        inside.states[id] = inside.states[id]?.replacing("\"on\":true", with: now).replacing("\"on\":false", with: now)
      }
      let state = inside.states[id] ?? ""
      return """
        {"requestId":"1","payload":{"commands":[{"ids":["\(id)"],"status":"SUCCESS","states":{\(state)}}]}}
        """
    }
  }
}
