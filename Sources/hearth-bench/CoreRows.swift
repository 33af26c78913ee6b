import MatterProtocol

/// Measures messages between two cores, without sockets.
func coreRows(_ report: inout Report, _ options: Options, _ sizes: DatagramSizes) throws {
  var pair = try CorePair()
  let session = try pair.establishCASE()
  let batches = options.scaled(300)
  report.add(
    "core: a message sealed, received and opened",
    try measureBatches(batches, of: 200) { try pair.sendOne(on: session) })
  report.add(
    "core: request, response, acknowledgment (3 messages)",
    try measureBatches(batches, of: 200) { try pair.exchangeOne(on: session) })
  guard pair.client.drops.total == 0, pair.server.drops.total == 0 else {
    throw BenchError("messages were dropped: \(pair.client.drops.all) \(pair.server.drops.all)")
  }
}

func handshakeRows(_ report: inout Report, _ options: Options) throws {
  let count = options.scaled(100)
  var pair = try CorePair()
  report.add(
    "core: PASE handshake, both sides, 1,000 rounds of PBKDF2",
    try measureEach(count) { pair.close(try pair.establishPASE()) })
  // The first handshake stores resumption records, so each full one needs new cores.
  let fresh = try CorePair()
  report.add(
    "core: CASE handshake, both sides",
    try measureEach(count) {
      var pair = fresh
      keep(try pair.establishCASE())
    })
  pair.close(try pair.establishCASE())
  report.add(
    "core: CASE resumption, both sides",
    try measureEach(count) { pair.close(try pair.establishCASE()) })
}

extension CorePair {
  /// Sends one unreliable message.
  mutating func sendOne(on session: SessionID) throws {
    now += .microseconds(10)
    guard let exchange = client.openExchange(on: session, at: now) else { throw BenchError("no exchange") }
    client.send(
      InteractionOpcode.invokeRequest.rawValue, payload: Invoke.request, on: exchange, isReliable: false, then: .close,
      at: now)
    guard let message = deliverToServer() else { throw BenchError("no message arrived") }
    server.close(message.exchange, at: now)
  }

  /// Runs the exchange of an invoke, with reliable messages.
  mutating func exchangeOne(on session: SessionID) throws {
    now += .microseconds(10)
    guard let exchange = client.openExchange(on: session, at: now) else { throw BenchError("no exchange") }
    client.send(
      InteractionOpcode.invokeRequest.rawValue, payload: Invoke.request, on: exchange,
      then: .expectResponse(within: .seconds(10)), at: now)
    guard let request = deliverToServer() else { throw BenchError("no request arrived") }
    server.send(
      InteractionOpcode.invokeResponse.rawValue, payload: Invoke.response, on: request.exchange, then: .close, at: now)
    guard let response = deliverToClient() else { throw BenchError("no response arrived") }
    client.close(response.exchange, at: now)
    _ = deliverToServer()
  }

  private mutating func deliverToServer() -> InboundMessage? {
    while let output = client.nextOutput() {
      if case .send(let bytes, _) = output { server.receive(bytes, from: Self.clientAddress, at: now) }
    }
    if case .message(let message)? = server.nextOutput() {
      _ = server.nextOutput()
      return message
    }
    return nil
  }

  private mutating func deliverToClient() -> InboundMessage? {
    while let output = server.nextOutput() {
      if case .send(let bytes, _) = output { client.receive(bytes, from: Self.serverAddress, at: now) }
    }
    if case .message(let message)? = client.nextOutput() {
      _ = client.nextOutput()
      return message
    }
    return nil
  }
}
