import MatterCrypto
public import MatterModel

extension NodeCore {
  // MARK: Looking

  /// What is known of a secured session; nil if there is none with this id.
  public func session(_ id: SessionID) -> SessionInfo? { id.isUnsecured ? nil : secured[UInt16(id.rawValue)]?.info }

  /// All secured sessions, by id.
  public var sessions: [SessionInfo] { secured.row.map(\.info).sorted { $0.id < $1.id } }

  /// Whether a session is only there to finish what was begun on it: its fabric was removed, or its certificates replaced.
  /// Its owner must take no new request on it: the fabric index that it stands for may belong to somebody else by now.
  public func isExpiring(_ id: SessionID) -> Bool {
    !id.isUnsecured && secured[UInt16(id.rawValue)]?.isExpiring == true
  }

  /// The session with a node of a fabric that was heard last.
  public func newestSession(fabric: FabricIndex, peer: NodeID) -> SessionID? {
    secured.row.lazy.filter {
      $0.info.kind == .case && $0.info.fabric == fabric && $0.info.peerNodeID == peer && !$0.isExpiring
    }.max { ($0.info.lastHeard, $0.info.id) < ($1.info.lastHeard, $1.info.id) }?.info.id
  }

  /// Ties a session made by passcode to the fabric that was added over it.
  public mutating func setFabric(_ index: FabricIndex, of session: SessionID) {
    guard !session.isUnsecured else { return }
    secured[UInt16(session.rawValue)]?.info.fabric = index
  }

  // MARK: Moving

  /// The peer of a session is somewhere else: what is sent, or sent again, goes there from now on, until the peer is heard from yet
  /// another address.
  public mutating func redirect(_ session: SessionID, to address: SocketAddress) {
    guard !session.isUnsecured else { return }
    secured[UInt16(session.rawValue)]?.info.peerAddress = address
  }

  // MARK: Closing

  /// Ends a session; nothing happens if there is none with this id.
  /// - Parameter notifyingPeer: whether to send the peer CloseSession, which nobody acknowledges. Matter Core §
  ///   4.10.1.7.
  public mutating func close(_ session: SessionID, notifyingPeer: Bool, at now: Instant) {
    guard !session.isUnsecured, secured[UInt16(session.rawValue)] != nil else { return }
    if notifyingPeer, let exchange = openExchange(on: session, at: now) {
      send(
        SecureChannelOpcode.statusReport, protocolID: .secureChannel,
        payload: StatusReport(.success, .closeSession).encoded, on: exchange, isReliable: false, then: .close, at: now)
    }
    removeSession(session, .byUs)
  }

  /// Closes the sessions of a fabric; one with an exchange under way is closed when that is done.
  public mutating func closeSessions(
    of fabric: FabricIndex, except kept: SessionID? = nil, reason: SessionCloseReason = .byUs, at now: Instant
  ) {
    for session in secured.row.map(\.info).sorted(by: { $0.id < $1.id })
    where session.fabric == fabric && session.id != kept {
      if exchanges.keys.contains(where: { $0.session == session.id && exchanges[$0]?.isClosing == false }) {
        secured[UInt16(session.id.rawValue)]?.isExpiring = true
      } else {
        removeSession(session.id, reason)
      }
    }
  }

  mutating func removeSession(_ id: SessionID, _ reason: SessionCloseReason) {
    guard let session = secured.remove(UInt16(id.rawValue)) else { return }
    failExchanges(on: id)
    emit(.sessionClosed(id, session.info, reason))
  }

  /// Ends all exchanges of a session that is gone.
  func exchangeIDs(on session: SessionID) -> [ExchangeID] { exchanges.keys.filter { $0.session == session }.sorted() }

  private mutating func failExchanges(on session: SessionID) {
    for id in exchangeIDs(on: session) {
      guard let exchange = exchanges.removeValue(forKey: id), !exchange.isClosing else { continue }
      emit(.exchangeFailed(id, .sessionClosed))
    }
  }

  // MARK: Opening

  /// A local session id that no session and no handshake uses.
  mutating func reserveSessionNumber() -> UInt16? {
    for _ in 0..<0xFFFF {
      nextSessionNumber = nextSessionNumber == .max ? 1 : nextSessionNumber + 1
      let number = nextSessionNumber
      if secured.position(of: number) == nil && !handshakes.values.contains(where: { $0.sessionNumber == number }) {
        return number
      }
    }
    return nil
  }

  /// Puts a finished handshake's session in the table.
  mutating func addSession(
    _ keys: EstablishedKeys, number: UInt16, kind: SessionKind, isInitiator: Bool, peer: SocketAddress, at now: Instant
  ) throws(CryptoError) -> SessionID {
    if secured.count >= configuration.maximumSessions { evictSession() }
    let id = SessionID(local: number)
    let info = SessionInfo(
      id: id, kind: kind, isInitiator: isInitiator, fabric: keys.fabric,
      localNodeID: kind == .case ? fabricsByIndex[keys.fabric]?.nodeID ?? .unspecified : .unspecified,
      peerNodeID: keys.peerNodeID, tags: keys.tags, attestationChallenge: keys.attestationChallenge,
      peerAddress: peer, parameters: keys.parameters, establishedAt: now, lastHeard: now, lastUsed: now)
    secured[number] = try SecureSession(info: info, keys: keys, counter: Self.initialCounter(&random))
    if let record = keys.resumption {
      resumption.removeAll { $0.fabric == record.fabric && $0.peer == record.peer }
      if resumption.count >= configuration.maximumResumptionRecords { resumption.removeFirst() }
      resumption.append(record)
      emit(.resumptionChanged(record))
    }
    return id
  }

  /// Makes room by closing the session that was unused for longest, one without exchanges if there is any.
  ///
  /// A fabric that has its share already gives first, so that nobody can push the others out by opening sessions.
  private mutating func evictSession() {
    let busy = Set(exchanges.keys.map(\.session))
    let counts = Dictionary(grouping: secured.row, by: \.info.fabric).mapValues(\.count)
    let share = max(3, configuration.maximumSessions / max(1, counts.count))
    let isUnfair = configuration.defect == .evictsAnybody
    let order = { (info: SessionInfo) in
      ((counts[info.fabric] ?? 0) >= share || isUnfair ? 0 : 1, busy.contains(info.id) ? 1 : 0, info.lastUsed, info.id)
    }
    let oldest = secured.row.map(\.info).min { order($0) < order($1) }
    if let oldest { removeSession(oldest.id, .evicted) }
  }

  /// The context of a peer's handshake messages, made if it is new and the message may open one.
  mutating func unsecuredSession(
    for header: MessageHeader, from address: SocketAddress, at now: Instant
  ) -> SessionID? {
    if let source = header.source {
      if let known = inboundContexts[source] { return known }
      return addUnsecured(ephemeralID: source, isInitiator: false, peer: address, parameters: .init(), at: now)
    }
    guard case .node(let destination) = header.destination else { return nil }
    return unsecured.values.first { $0.isInitiator && $0.ephemeralID == destination }?.id
  }

  mutating func addUnsecured(
    ephemeralID: NodeID, isInitiator: Bool, peer: SocketAddress, parameters: SessionParameters, at now: Instant
  ) -> SessionID {
    if unsecured.count >= configuration.maximumUnsecuredSessions {
      if let oldest = oldestUnsecured() {
        for exchange in exchangeIDs(on: oldest.id) {
          exchanges[exchange] = nil
          failHandshake(exchange, .noResources)
        }
        removeUnsecured(oldest.id)
      }
    }
    nextUnsecuredNumber = (nextUnsecuredNumber + 1) & 0x7FFF_FFFF
    let id = SessionID(0x1_0000 + nextUnsecuredNumber)
    unsecured[id] = UnsecuredSession(
      id: id, ephemeralID: ephemeralID, isInitiator: isInitiator, peerAddress: peer, parameters: parameters,
      lastUsed: now)
    if !isInitiator { inboundContexts[ephemeralID] = id }
    return id
  }

  /// The context unused for longest, one without a handshake if there is any. In a flood this is what is done most, so it
  /// is a plain loop.
  private func oldestUnsecured() -> UnsecuredSession? {
    var oldest: UnsecuredSession?
    for context in unsecured.values {
      guard let other = oldest else {
        oldest = context
        continue
      }
      let isOlder = (context.lastUsed, context.id) < (other.lastUsed, other.id)
      if context.hasHandshake == other.hasHandshake ? isOlder : other.hasHandshake { oldest = context }
    }
    return oldest
  }

  mutating func removeUnsecured(_ id: SessionID) {
    guard let context = unsecured.removeValue(forKey: id) else { return }
    if !context.isInitiator { inboundContexts[context.ephemeralID] = nil }
  }
}
