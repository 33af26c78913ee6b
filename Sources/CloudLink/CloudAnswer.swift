package import HomeModel

/// What went wrong between the home and a cloud.
package enum CloudFailure: Error, Hashable, Sendable {
  /// Nobody answers at its address.
  case unreachable(String)
  case timedOut
  /// The token is none, or is none any more.
  case refused(Int)
  /// A status of HTTP that says that it did not work, and for how long it wants not to be asked, if it says so.
  case status(Int, after: Duration? = nil)
  /// The answer is larger than anybody's home.
  case tooLarge
  /// The answer is not what was asked for.
  case unreadable(String)
  /// It says so itself, of the whole request.
  case error(String)
  /// Too much waits to be asked.
  case busy
  /// Nobody follows the account any more.
  case ended

  /// What the devices of the account are away for.
  package var reason: OfflineReason {
    switch self {
    case .refused, .error("authExpired"), .error("authFailure"), .error("relinkRequired"): .cloudRefused
    default: .cloudUnreachable
    }
  }

  /// Whether the cloud may have done what it was asked for all the same.
  var isAfterSending: Bool { self != .busy && self != .ended }

  /// What went wrong, for people: goes behind “the cloud account “X””.
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
    case .ended: "is no longer in the home"
    }
  }

  /// The same as whoever wanted something has it.
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

/// The three questions of a cloud-to-cloud fulfilment, and what is read of the answers.
/// https://developers.home.google.com/cloud-to-cloud/intents
package enum CloudIntent {
  /// So many devices are taken in of one account.
  static let mostDevices = 1000

  /// A request with one intent.
  package static func request(_ intent: String, _ payload: CloudJSON? = nil, id: String) -> CloudJSON {
    var input: [String: CloudJSON] = ["intent": .text("action.devices.\(intent)")]
    input["payload"] = payload
    return ["requestId": .text(id), "inputs": .array([.object(input)])]
  }

  /// What devices there are, and how the others that are left out are called, with why.
  package static func devices(_ answer: CloudJSON) throws(CloudFailure) -> (parts: [CloudPart], problems: [String]) {
    guard let devices = try payload(answer)["devices"]?.array else { throw .unreadable("it lists no devices") }
    var parts: [CloudPart] = []
    var problems: [String] = []
    var ids: Set<String> = []
    for device in devices.prefix(mostDevices) {
      do throws(CloudDeviceProblem) {
        let part = try CloudPart(device)
        // Two of one name can't be told apart.
        guard ids.insert(part.device.id).inserted else {
          throw CloudDeviceProblem(device: part.device.id, "another one has its id")
        }
        parts.append(part)
      } catch {
        problems.append("\(error)")
      }
    }
    if devices.count > mostDevices {
      problems.append("\(devices.count - mostDevices) more than \(mostDevices) devices")
    }
    return (parts, problems)
  }

  /// The states of devices, by their ids.
  package static func states(_ answer: CloudJSON) throws(CloudFailure) -> [String: CloudJSON] {
    guard let devices = try payload(answer)["devices"]?.object else { throw .unreadable("it has no device states") }
    return devices
  }

  /// What came of a command for one device.
  package static func outcome(_ answer: CloudJSON, of id: String) throws(CloudFailure) -> CloudJSON {
    let outcomes = (try payload(answer)["commands"]?.array ?? []).filter { $0["ids"]?.texts?.contains(id) == true }
    // Where it is told twice, what went wrong counts.
    guard let outcome = outcomes.first(where: { $0["status"]?.text != "SUCCESS" }) ?? outcomes.first else {
      throw .unreadable("it has no outcome of the command")
    }
    return outcome
  }

  private static func payload(_ answer: CloudJSON) throws(CloudFailure) -> CloudJSON {
    // Some tell what is wrong beside the payload.
    for code in [answer["payload"]?["errorCode"], answer["errorCode"]] {
      // Some write each field that there is, whether it says something or not.
      if let code, code != .null, code.text != "" { throw .error(Self.word(code)) }
    }
    guard let payload = answer["payload"] else { throw .unreadable("it has no payload") }
    return payload
  }

  /// Whether a cloud reaches a device, by its state.
  package static func isOnline(_ state: CloudJSON) -> Bool {
    switch state["status"]?.text {
    case "OFFLINE", "ERROR": false
    default: state["online"]?.isTrue ?? true
    }
  }

  /// What is said of a device that its cloud does not reach.
  package static func away(_ account: String) -> HomeError {
    HomeError(.unreachable, "the cloud account “\(account)” can't reach the device")
  }

  /// What a command came to.
  package static func check(_ outcome: CloudJSON, account: String) throws(HomeError) {
    // Some say that it worked, and beside it that the device is not there.
    let isOffline = outcome["states"]?["online"]?.isTrue == false
    switch outcome["status"]?.text {
    case let status where isOffline || status == "OFFLINE":
      throw away(account)
    case "SUCCESS", "PENDING": return
    // It was done, and there is something to be said about it; where nothing is said of the device, it was not.
    case "EXCEPTIONS" where outcome["states"] != nil: return
    case let status:
      let code = Self.word(outcome["errorCode"] ?? .text(status ?? "no status"))
      // It is as it was to be.
      if code.hasPrefix("already") || code == "targetAlreadyReached" { return }
      throw HomeError(Self.code(code), "the cloud account “\(account)” refused: \(code)")
    }
  }

  /// A word of the cloud's, to be shown to people.
  private static func word(_ json: CloudJSON) -> String {
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
