internal import HomeModel
internal import WebClient

// Network credentials, which are stored for clients and not used: devices join their networks by other means.
extension HubServer {
  func setWiFi(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let id = try credentialID(arguments, settings.wifi)
    let ssid = try arguments.text("ssid")
    var secret = try arguments.text("credentials")
    if secret.isEmpty {
      guard let known = settings.wifi[id], known.ssid == ssid else { throw arguments.invalid("credentials are empty") }
      secret = known.secret
    }
    guard (1...32).contains(ssid.utf8.count), secret.utf8.count <= 64 else {
      throw arguments.invalid("the SSID or the credentials are too long or empty")
    }
    settings.wifi[id] = MatterServerSettings.WiFi(ssid: ssid, secret: secret)
    return credentialsChanged()
  }

  func setThread(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let id = try credentialID(arguments, settings.thread)
    let dataset = try arguments.text("dataset")
    guard !dataset.isEmpty, dataset.utf8.count.isMultiple(of: 2), dataset.utf8.count <= 508,
      dataset.allSatisfy(\.isHexDigit)
    else { throw arguments.invalid("dataset is not an operational dataset in hexadecimal") }
    settings.thread[id] = dataset
    return credentialsChanged()
  }

  func removeCredentials<Value>(
    from entries: WritableKeyPath<MatterServerSettings, [String: Value]>, _ arguments: CommandArguments
  ) throws(MatterServerError) -> JSONValue {
    settings[keyPath: entries][try credentialID(arguments, settings[keyPath: entries])] = nil
    return credentialsChanged()
  }

  private func credentialsChanged() -> JSONValue {
    storeSettings()
    let info = serverInfo
    broadcast("server_info_updated") { _ in info }
    return [:]
  }

  /// Checks that the named credentials of a commissioning exist.
  func checkCredentials(_ arguments: CommandArguments) throws(MatterServerError) {
    if let id = try arguments.optionalText("wifi_credentials_id"),
      MatterServerSettings.known(id, in: settings.wifi) == nil
    {
      throw arguments.invalid("unknown wifi_credentials_id \(id)")
    }
    if let id = try arguments.optionalText("thread_dataset_id"),
      MatterServerSettings.known(id, in: settings.thread) == nil
    {
      throw arguments.invalid("unknown thread_dataset_id \(id)")
    }
  }

  var allCredentials: JSONValue {
    var wifi = settings.wifi.sorted { $0.key < $1.key }.map { id, entry -> JSONValue in
      ["id": .string(id), "ssid": .string(entry.ssid)]
    }
    if settings.wifi[MatterServerSettings.defaultID] == nil {
      wifi.insert(["id": .string(MatterServerSettings.defaultID), "ssid": ""], at: 0)
    }
    let ids = Set(settings.thread.keys).union([MatterServerSettings.defaultID]).sorted()
    let thread = ids.map { id -> JSONValue in
      let dataset = settings.thread[id].flatMap { ThreadDataset(hexadecimal: $0) }
      return .present([
        "id": .string(id), "networkName": dataset?.networkName.map { .string($0) },
        "extPanId": dataset?.extendedPANID.map { .string($0.hexadecimal) },
      ])
    }
    return ["wifi": .array(wifi), "thread": .array(thread)]
  }

  private func credentialID<Value>(
    _ arguments: CommandArguments, _ entries: [String: Value]
  ) throws(MatterServerError) -> String {
    let text = try arguments.optionalText("id") ?? MatterServerSettings.defaultID
    let id = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    guard !id.isEmpty, id.utf8.count <= 64, id.lowercased() != "delete" else {
      throw arguments.invalid("“\(id)” is not an id")
    }
    if id.lowercased() == MatterServerSettings.defaultID { return MatterServerSettings.defaultID }
    guard entries.count < 64 || entries[id] != nil else { throw arguments.invalid("too many credentials") }
    if let known = MatterServerSettings.known(id, in: entries), known != id {
      throw arguments.invalid("the id “\(id)” differs from “\(known)” only in case")
    }
    return id
  }
}
