package import HomeModel
internal import MatterProtocol
package import WebClient

/// A failure of a request to a cloud.
package enum CloudFailure: Error, Hashable, Sendable {
  /// The address does not answer.
  case unreachable(String)
  case timedOut
  /// The cloud rejected the token, with this status.
  case refused(Int)
  /// A status that is not success, and the duration of its Retry-After field.
  case status(Int, after: Duration? = nil)
  /// The answer exceeds the size limit.
  case tooLarge
  /// The answer is not of the expected form.
  case unreadable(String)
  /// The error code of an answer for the whole request.
  case error(String)
  /// The request queue is full, or the request waited for too long.
  case busy
  /// The account was removed, or its address or token changed.
  case ended

  /// The offline reason for the devices of the account.
  package var reason: OfflineReason {
    switch self {
    case .refused, .error("authExpired"), .error("authFailure"), .error("relinkRequired"): .cloudRefused
    default: .cloudUnreachable
    }
  }

  /// Whether the cloud may have executed the request in spite of the failure.
  var isAfterSending: Bool { self != .busy && self != .ended }

  /// The failure as text for users, which follows “the cloud account “X””.
  package var text: String {
    switch self {
    case .unreachable(let detail): "does not answer: \(detail)"
    case .timedOut: "did not answer in time"
    case .refused(let status): "refuses the token (\(status)); give it a new one with `hearth home cloud add`"
    case .status(let status, nil): "answered with \(status)"
    case .status(let status, let pause?): "answered with \(status), and requests a pause of \(TimeText.text(pause))"
    case .tooLarge: "answered with too much data"
    case .unreadable(let detail): "gave an unreadable answer: \(detail)"
    case .error(let code): "answered with the error \(code)"
    case .busy: "has too many pending requests; try again"
    case .ended: "was removed or changed"
    }
  }

  /// The corresponding error for a caller.
  package func homeError(of account: String) -> HomeError {
    let code: HomeError.Code =
      switch self {
      case .unreachable: .unreachable
      case .timedOut: .timedOut
      case .refused: .accessDenied
      case .error: reason == .cloudRefused ? .accessDenied : .refused
      case .status, .tooLarge, .unreadable, .busy: .refused
      case .ended: .notFound
      }
    return HomeError(code, "the cloud account “\(account)” \(text)", cause: self)
  }
}

/// The requests of the cloud-to-cloud fulfillment, and the decoding of their answers.
/// https://developers.home.google.com/cloud-to-cloud/intents
package enum CloudIntent {
  /// The maximum number of devices of an account.
  static let mostDevices = 1000

  /// A request with one intent.
  package static func request(_ intent: String, _ payload: JSONValue? = nil, id: String) -> JSONValue {
    let input: JSONValue = .present(["intent": .string("action.devices.\(intent)"), "payload": payload])
    return ["requestId": .string(id), "inputs": [input]]
  }

  /// Returns the devices of a SYNC response, and descriptions of the ignored ones.
  package static func devices(_ answer: JSONValue) throws(CloudFailure) -> (devices: [CloudDevice], problems: [String])
  {
    guard let listed = try payload(answer)["devices"]?.array else { throw .unreadable("it lists no devices") }
    var devices: [CloudDevice] = []
    var problems: [String] = []
    var ids: Set<String> = []
    for description in listed.prefix(mostDevices) {
      do throws(CloudDeviceProblem) {
        let device = try CloudDevice(description)
        guard ids.insert(device.id).inserted else {
          throw CloudDeviceProblem(device: device.id, reason: "another one has its id")
        }
        devices.append(device)
      } catch {
        problems.append("\(error)")
      }
    }
    if listed.count > mostDevices { problems.append("\(listed.count - mostDevices) more than \(mostDevices) devices") }
    return (devices, problems)
  }

  /// The states of devices, by their ids.
  package static func states(_ answer: JSONValue) throws(CloudFailure) -> [String: JSONValue] {
    guard let devices = try payload(answer)["devices"]?.members else { throw .unreadable("it has no device states") }
    return Dictionary(devices.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  /// Returns the result of a command for a device.
  package static func outcome(_ answer: JSONValue, of id: String) throws(CloudFailure) -> JSONValue {
    let outcomes = (try payload(answer)["commands"]?.array ?? []).filter { $0["ids"]?.texts?.contains(id) == true }
    // If there are several, a failure takes precedence.
    guard let outcome = outcomes.first(where: { $0["status"]?.text != "SUCCESS" }) ?? outcomes.first else {
      throw .unreadable("it has no outcome of the command")
    }
    return outcome
  }

  private static func payload(_ answer: JSONValue) throws(CloudFailure) -> JSONValue {
    // Some clouds report the error beside the payload.
    for code in [answer["payload"]?["errorCode"], answer["errorCode"]] {
      // Some clouds include the field with an empty value.
      if let code, code != .null, code.text != "" { throw .error(Self.displayText(code)) }
    }
    guard let payload = answer["payload"] else { throw .unreadable("it has no payload") }
    return payload
  }

  /// Whether the state of a device says that its cloud reaches it.
  package static func isOnline(_ state: JSONValue) -> Bool {
    switch state["status"]?.text {
    case "OFFLINE", "ERROR": false
    default: state["online"]?.bool ?? true
    }
  }

  /// The error for a device that its cloud does not reach.
  package static func away(_ account: String) -> HomeError {
    HomeError(.unreachable, "the cloud account “\(account)” can't reach the device")
  }

  /// Throws if the result of a command is a failure.
  package static func check(_ outcome: JSONValue, account: String) throws(HomeError) {
    // Some clouds report success for an offline device.
    let isOffline = outcome["states"]?["online"]?.bool == false
    switch outcome["status"]?.text {
    case let status where isOffline || status == "OFFLINE":
      throw away(account)
    case "SUCCESS", "PENDING": return
    // The command succeeded with an exception; without a state of the device, it failed.
    case "EXCEPTIONS" where outcome["states"] != nil: return
    case let status:
      let code = Self.displayText(outcome["errorCode"] ?? .string(status ?? "no status"))
      // The device already is in the requested state.
      if code.hasPrefix("already") || code == "targetAlreadyReached" { return }
      throw HomeError(Self.code(code), "the cloud account “\(account)” refused: \(code)")
    }
  }

  /// A text of the cloud, without characters other than letters, digits and spaces.
  private static func displayText(_ json: JSONValue) -> String {
    let letters = (json.text ?? "").unicodeScalars.filter {
      $0 == " " || $0.properties.isAlphabetic || (48...57) ~= $0.value
    }
    return letters.isEmpty ? "unknownError" : String(String.UnicodeScalarView(letters.prefix(64)))
  }

  /// https://developers.home.google.com/cloud-to-cloud/primer/errors
  private static func code(_ error: String) -> HomeError.Code {
    switch error {
    case "deviceOffline", "deviceTurnedOff", "turnedOff", "unreachable", "offline": .unreachable
    case "timeout", "transientError": .timedOut
    case "deviceNotFound": .notFound
    case "authExpired", "authFailure", "challengeNeeded", "pinIncorrect", "pinNeeded": .accessDenied
    default: .refused
    }
  }
}
