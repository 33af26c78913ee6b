internal import MatterModel
internal import MatterProtocol

// Transactions over the messaging core.
extension Transaction {
  /// The outcome of a received message.
  enum Outcome: Sendable {
    /// More messages follow.
    case waiting
    /// The first reports of a subscription are complete; its response follows.
    case primed(ReassembledReport)
    case finished(Result<Reply, ControllerError>)
  }

  /// Sends the next message.
  mutating func sendNext(over core: inout NodeCore, then: AfterSending, at now: Instant) {
    let exchange = exchange
    switch nextMessage(maximumCommands: core.session(exchange.session)?.parameters.maximumPathsPerInvoke) {
    case .timed(let request): core.send(request, on: exchange, then: then, at: now)
    case .read(let request): core.send(request, on: exchange, then: then, at: now)
    case .subscribe(let request): core.send(request, on: exchange, then: then, at: now, capacity: 1280)
    case .invoke(let request): core.send(request, on: exchange, then: then, at: now)
    case .write(let bytes): core.send(WriteRequest.opcode.rawValue, payload: bytes, on: exchange, then: then, at: now)
    case nil: break
    }
  }

  /// Handles the next message of the node and sends the response that it needs.
  /// - Parameter granted: called with the subscription id in a first report.
  mutating func receive(
    _ message: InboundMessage, over core: inout NodeCore, then: AfterSending, at now: Instant, granted: (UInt32) -> Void
  ) -> Outcome {
    do throws(InteractionError) {
      switch try handle(message, granted: granted) {
      case .send: sendNext(over: &core, then: then, at: now)
      case .sendOnNewExchange:
        core.close(exchange, at: now)
        guard let next = core.openExchange(on: exchange.session, at: now) else { throw .status(Status(.failure)) }
        self = continued(on: next)
        sendNext(over: &core, then: then, at: now)
      case .acknowledge: core.sendStatus(on: exchange, then: then, at: now)
      case .primed(let report):
        core.sendStatus(on: exchange, then: then, at: now)
        return .primed(report)
      case .finish(let reply, let acknowledges):
        if acknowledges { core.sendStatus(on: exchange, at: now) }
        return .finished(.success(reply))
      }
      return .waiting
    } catch {
      return .finished(.failure(ControllerError(error)))
    }
  }
}

extension NodeCore {
  /// Answers a report or an unexpected message.
  mutating func sendStatus(
    _ status: StatusCode = .success, on exchange: ExchangeID, then: AfterSending = .close, at now: Instant
  ) {
    send(StatusResponse(status), on: exchange, then: then, at: now, capacity: 16)
  }

  fileprivate mutating func send<Message: InteractionMessage>(
    _ message: Message, on exchange: ExchangeID, then: AfterSending, at now: Instant, capacity: Int = 128
  ) {
    send(Message.opcode.rawValue, on: exchange, then: then, at: now, capacity: capacity) { message.encode(to: &$0) }
  }
}
