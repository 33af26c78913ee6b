internal import MatterModel
internal import MatterProtocol

/// The steps of a download that a server requested.
enum DownloadStep: Sendable {
  /// The number of bytes received, and the number of the whole file if the sender knows it.
  case progress(Int, of: Int?)
  case finished([UInt8])
  /// The number of bytes received before the failure.
  case failed(Int)
}

/// A file that is being received.
struct BulkDownload: Sendable {
  let request: BoundCommand
  var receiver: BulkReceiver
}

// Files that the device receives and sends over BDX. Matter Core § 11.22.
extension DeviceEngine {
  /// The timeout for the next message of a transfer.
  private static var timeout: Duration { .seconds(60) }
  /// The maximum length of a received file, in bytes.
  private static var maximumLength: Int { 64 << 20 }

  /// Requests a file on an open exchange.
  mutating func startDownload(_ file: [UInt8], _ request: BoundCommand, on exchange: ExchangeID) {
    let (receiver, first) = BulkReceiver.request(file: file, maximumLength: Self.maximumLength)
    interactions[exchange] = .downloading(BulkDownload(request: request, receiver: receiver))
    send([first], on: exchange)
  }

  private mutating func send(_ messages: [BulkDataMessage], on exchange: ExchangeID, isLast: Bool = false) {
    for message in messages {
      core.send(
        message.opcode, protocolID: .bulkData, payload: message.encoded, on: exchange,
        then: isLast ? .close : .expectResponse(within: Self.timeout), at: now)
    }
  }

  /// Processes a message of a transfer, or the status report that ends it.
  mutating func receiveBulkData(_ message: InboundMessage, _ state: Interaction?, _ subject: Subject) {
    let exchange = message.exchange
    guard message.protocolID == .bulkData else {
      if case .downloading(let download)? = state { failed(download) }
      return core.close(exchange, at: now)
    }
    do throws(BulkDataStatus) {
      let received = try BulkDataMessage(message.opcode, decoding: message.bytes[message.payload])
      switch state {
      case .downloading(let download)?: try proceed(download, received, on: exchange)
      case .uploading(let sender)?: try proceed(sender, received, on: exchange)
      default:
        guard message.isFirst, case .receiveInit(let proposal) = received else { throw .unexpectedMessage }
        let data = try context.file(proposal.file, for: subject)
        let (sender, messages) = try BulkSender.accept(proposal, data, modes: .receiverDrive)
        interactions[exchange] = .uploading(sender)
        send(messages, on: exchange)
      }
    } catch {
      core.send(
        SecureChannelOpcode.statusReport, protocolID: .secureChannel, payload: StatusReport(error).encoded,
        on: exchange, then: .close, at: now)
      if case .downloading(let download)? = state { failed(download) }
    }
  }

  private mutating func proceed(
    _ download: BulkDownload, _ message: BulkDataMessage, on exchange: ExchangeID
  ) throws(BulkDataStatus) {
    var download = download
    let replies = try download.receiver.receive(message)
    let (count, length) = (download.receiver.data.count, download.receiver.length)
    if hooks.update == .interrupted, count > 0, count >= (length ?? 0) / 2 { throw .transferFailed }
    let isComplete = download.receiver.isComplete
    if !isComplete { interactions[exchange] = .downloading(download) }
    send(replies, on: exchange, isLast: isComplete)
    let step: DownloadStep = isComplete ? .finished(download.receiver.data) : .progress(count, of: length)
    context.report(step, to: download.request)
  }

  private mutating func proceed(
    _ sender: BulkSender, _ message: BulkDataMessage, on exchange: ExchangeID
  ) throws(BulkDataStatus) {
    var sender = sender
    let replies = try sender.receive(message)
    if hooks.update == .interrupted, sender.offset >= sender.data.count / 2 { throw .transferFailed }
    if sender.isComplete { return core.close(exchange, at: now) }
    interactions[exchange] = .uploading(sender)
    send(replies, on: exchange)
  }

  /// Notifies the server that requested a download of its failure.
  mutating func failed(_ download: BulkDownload) {
    context.report(.failed(download.receiver.data.count), to: download.request)
  }

  /// Handles a download whose exchange failed: repeats a request that was not acknowledged over a new session.
  mutating func failed(_ download: BulkDownload, _ failure: ExchangeFailure, on session: SessionID) {
    guard download.receiver.data.isEmpty else { return failed(download) }
    failed(download.request, failure, on: session)
  }
}

extension ServerContext {
  /// Returns a file that a server provides.
  fileprivate mutating func file(_ name: [UInt8], for subject: Subject) throws(BulkDataStatus) -> [UInt8] {
    guard subject.kind == .case else { throw .fileUnknown }
    for index in node.clusters.indices {
      guard let body = node.clusters[index].server.files else { continue }
      var data: [UInt8]?
      enterQuietly(index, as: subject) { data = body(&$0, name) }
      if let data { return data }
    }
    throw .fileUnknown
  }
}
