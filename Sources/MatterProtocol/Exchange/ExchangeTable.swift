internal import MatterModel

/// The exchanges of a node.
///
/// An exchange is read and written as a whole, because changing one in place through a dictionary allocates several
/// times.
struct ExchangeTable: Sendable {
  /// The result of a received message for its exchange.
  enum Reception: Hashable {
    /// The message is for the owner of the exchange. `displacedAck` is the counter of an earlier message whose
    /// acknowledgment must be sent now, because only one can be pending for piggybacking.
    case message(isFirst: Bool, displacedAck: UInt32?)
    /// A standalone acknowledgment. `isFinished`: it ended the exchange.
    case acknowledgment(isFinished: Bool)
    /// The message belongs to no open exchange and may not open one. `isFinished`: it ended a closing exchange.
    case unknownExchange(isFinished: Bool)
  }

  /// The maximum number of concurrent exchanges in an unsecured session. A handshake needs one.
  static let maximumUnsecuredExchanges = 4

  private var exchanges: [ExchangeID: Exchange] = [:]
  private var lastNumber: UInt16
  private let maximumInbound: Int
  /// A lower bound of all deadlines; nil if there is none.
  private(set) var earliestDeadline: Instant?

  /// - Parameters:
  ///   - maximumInbound: The maximum number of exchanges that peers open in secured sessions.
  ///   - lastNumber: The number before the first one to assign.
  init(maximumInbound: Int, lastNumber: UInt16) {
    self.maximumInbound = maximumInbound
    self.lastNumber = lastNumber
  }

  // MARK: Finding

  var count: Int { exchanges.count }
  var isEmpty: Bool { exchanges.isEmpty }

  subscript(id: ExchangeID) -> Exchange? { exchanges[id] }

  /// The position of an exchange, valid until another one is opened or removed.
  typealias Position = Dictionary<ExchangeID, Exchange>.Index

  func position(of id: ExchangeID) -> Position? { exchanges.index(forKey: id) }

  subscript(position: Position) -> Exchange { exchanges.values[position] }

  /// The sessions that have exchanges.
  var sessions: Set<SessionID> { Set(exchanges.keys.lazy.map(\.session)) }

  /// Returns the exchanges of a session, sorted.
  func ids(on session: SessionID) -> [ExchangeID] { exchanges.keys.filter { $0.session == session }.sorted() }

  /// Whether a session has any exchange, including closing ones.
  func contains(on session: SessionID) -> Bool { exchanges.keys.contains { $0.session == session } }

  /// Whether a session has an exchange that is not closing.
  func containsOpen(on session: SessionID) -> Bool {
    exchanges.contains { $0.key.session == session && !$0.value.isClosing }
  }

  // MARK: Opening and closing

  /// Returns the number for the next exchange that this node opens.
  mutating func takeNumber() -> UInt16 {
    lastNumber &+= 1
    return lastNumber
  }

  /// Opens an exchange; returns nil if the session uses all numbers.
  mutating func open(on session: SessionID) -> ExchangeID? {
    for _ in 0...UInt16.max {
      let id = ExchangeID(session: session, number: takeNumber(), isInitiator: true)
      guard exchanges[id] == nil else { continue }
      exchanges[id] = Exchange()
      return id
    }
    return nil
  }

  /// Stores the state of an exchange, or removes the exchange if it is finished.
  /// - Parameter position: The position of the exchange; nil for a new one.
  /// - Returns: Whether the exchange is finished.
  mutating func store(_ exchange: Exchange, _ id: ExchangeID, at position: Position?) -> Bool {
    guard !exchange.isFinished else {
      if let position { exchanges.remove(at: position) }
      return true
    }
    if let position { exchanges.values[position] = exchange } else { exchanges[id] = exchange }
    earliestDeadline = .earlier(earliestDeadline, exchange.deadline)
    return false
  }

  /// The same for an exchange whose position is not known.
  mutating func store(_ exchange: Exchange, _ id: ExchangeID) -> Bool { store(exchange, id, at: position(of: id)) }

  /// Closes an exchange: it is kept only until its last message is acknowledged. Returns nil if there is none.
  /// - Returns: The counter of the message to acknowledge now, and whether the exchange is finished.
  mutating func close(_ id: ExchangeID) -> (owedAck: UInt32?, isFinished: Bool)? {
    guard let position = position(of: id) else { return nil }
    var exchange = self[position]
    let owedAck = exchange.owedAck?.counter
    exchange.owedAck = nil
    exchange.responseDeadline = nil
    exchange.isClosing = true
    return (owedAck, store(exchange, id, at: position))
  }

  mutating func remove(_ id: ExchangeID) { exchanges[id] = nil }

  /// Removes the exchanges of a session.
  /// - Returns: The removed exchanges that were not closing, sorted.
  mutating func removeAll(on session: SessionID) -> [ExchangeID] {
    ids(on: session).filter { exchanges.removeValue(forKey: $0)?.isClosing == false }
  }

  // MARK: Receiving

  /// Whether the limits permit the exchange that a message would open. To be checked before the message counter is
  /// recorded, so that a retransmission can succeed later; otherwise it would be a duplicate.
  ///
  /// Unsecured exchanges have a limit of their own, so that unauthenticated peers can't block authenticated ones.
  /// - Parameter secured: The secured sessions, which determine the share of a fabric.
  func hasCapacity(for payload: PayloadHeader, on session: SessionID, among secured: SessionTable) -> Bool {
    guard payload.isFromInitiator else { return true }
    if !session.isUnsecured && exchanges.count < maximumInbound / 2 { return true }
    guard exchanges[ExchangeID(session: session, number: payload.exchange, isInitiator: false)] == nil else {
      return true
    }
    if session.isUnsecured {
      return exchanges.keys.count { $0.session == session } < Self.maximumUnsecuredExchanges
    }
    let isInbound = { (id: ExchangeID) in !id.isInitiator && !id.session.isUnsecured }
    let count = exchanges.keys.count(where: isInbound)
    guard count < maximumInbound else { return false }
    // Beyond half of the limit, a fabric gets no more than its share, so that it can't block the others.
    guard count >= maximumInbound / 2 else { return true }
    let fabric = secured.fabric(of: session)
    if secured.row.allSatisfy({ $0.info.fabric == fabric }) { return true }
    let share = maximumInbound / Set(secured.row.map(\.info.fabric)).count
    return exchanges.keys.count { isInbound($0) && secured.fabric(of: $0.session) == fabric } < share
  }

  /// Records a message that is not a duplicate: the acknowledgment that it carries and the one that it requests. Opens
  /// the exchange of a first message. Matter Core § 4.10.5.2 and § 4.12.5.
  /// - Parameters:
  ///   - counter: The counter of the message.
  ///   - isExpiring: Whether the session accepts no new exchanges.
  mutating func receive(
    _ payload: PayloadHeader, counter: UInt32, on id: ExchangeID, isExpiring: Bool, at now: Instant
  ) -> Reception {
    let position = position(of: id)
    let isFirst = position == nil
    var exchange = position.map { self[$0] } ?? Exchange()
    var isFinished = false
    if let acknowledged = payload.acknowledged, exchange.unacknowledged?.counter == acknowledged {
      exchange.unacknowledged = nil
      // Other exchanges are stored below.
      if payload.isStandaloneAck || exchange.isClosing {
        isFinished = store(exchange, id, at: position)
      }
    }
    if payload.isStandaloneAck {
      return isFirst ? .unknownExchange(isFinished: false) : .acknowledgment(isFinished: isFinished)
    }
    let isAccepted =
      isFirst
      ? payload.isFromInitiator && !isExpiring && payload.mayOpenExchange(isUnsecured: id.session.isUnsecured)
      : !exchange.isClosing
    guard isAccepted else { return .unknownExchange(isFinished: isFinished) }
    var displacedAck: UInt32?
    if payload.needsAck {
      displacedAck = exchange.owedAck?.counter
      exchange.owedAck = (counter, now + Retransmission.standaloneAckDelay)
    }
    exchange.responseDeadline = nil
    _ = store(exchange, id, at: position)
    return .message(isFirst: isFirst, displacedAck: displacedAck)
  }

  // MARK: Time

  /// Returns the exchanges with a deadline that has passed, sorted.
  func due(at now: Instant) -> [ExchangeID] {
    exchanges.compactMap { id, exchange in (exchange.deadline.map { $0 <= now } ?? false) ? id : nil }.sorted()
  }

  /// Sets ``earliestDeadline`` to the earliest of all deadlines.
  mutating func updateEarliestDeadline() {
    earliestDeadline = nil
    for exchange in exchanges.values { earliestDeadline = .earlier(earliestDeadline, exchange.deadline) }
  }
}

extension PayloadHeader {
  /// Creates the header of a standalone acknowledgment.
  init(acknowledging counter: UInt32, on id: ExchangeID) {
    self.init(
      isFromInitiator: id.isInitiator, needsAck: false, opcode: SecureChannelOpcode.standaloneAck, exchange: id.number,
      protocolID: .secureChannel, acknowledged: counter)
  }

  var isStandaloneAck: Bool { protocolID == .secureChannel && opcode == SecureChannelOpcode.standaloneAck }

  /// Whether a message may open an exchange. Other messages belong to exchanges that no longer exist.
  fileprivate func mayOpenExchange(isUnsecured: Bool) -> Bool {
    if isUnsecured {
      return protocolID == .secureChannel
        && (opcode == SecureChannelOpcode.pbkdfParamRequest || opcode == SecureChannelOpcode.sigma1)
    }
    return protocolID != .secureChannel || opcode == SecureChannelOpcode.statusReport
  }
}
