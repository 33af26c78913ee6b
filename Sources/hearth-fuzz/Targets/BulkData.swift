import MatterModel
import MatterProtocol

extension FuzzTarget {
  /// Bulk data transfers and software images: the decoders, then both ends of a transfer with an arbitrary peer.
  static let bulkData = FuzzTarget(name: "bulk-data", seeds: bulkDataSeeds) { input in
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind % 4 {
    case 0: image(bytes)
    case 1:
      let name = String(decoding: bytes, as: UTF8.self)
      if let uri = BulkDataURI(name), BulkDataURI("\(uri)") != uri { finding("\(uri) can't be read again") }
    case 2:
      let (receiver, _) = BulkReceiver.request(file: [1], maximumLength: 4096)
      transfer(bytes, receiver: receiver, sender: nil)
    default:
      let (sender, _) = BulkSender.propose(Array(repeating: 7, count: 3000), file: [1])
      transfer(bytes, receiver: nil, sender: sender)
    }
  }

  private static func image(_ bytes: [UInt8]) {
    guard let image = try? SoftwareImage(decoding: bytes) else { return }
    try? image.verify()
    // A header without its mandatory fields gets longer, and may exceed the limit.
    if let again = try? SoftwareImage(decoding: image.encoded), again != image {
      finding("an image changes when it is written again")
    }
  }

  /// Sends messages, each preceded by its type and its length, to one end of a transfer. A proposal starts the transfer again.
  private static func transfer(_ bytes: [UInt8], receiver: BulkReceiver?, sender: BulkSender?) {
    var (receiver, sender, rest) = (receiver, sender, bytes[...])
    while let opcode = rest.popFirst(), let count = rest.popFirst() {
      let payload = rest.prefix(Int(count))
      rest = rest.dropFirst(Int(count))
      guard let message = try? BulkDataMessage(opcode, decoding: payload) else { continue }
      guard let again = try? BulkDataMessage(opcode, decoding: message.encoded), again == message else {
        finding("a message changes when it is written again: \(message)")
      }
      switch message {
      case .sendInit(let proposal):
        if let accepted = try? BulkReceiver.accept(proposal, maximumLength: 4096) {
          (receiver, sender) = (accepted.0, nil)
        }
      case .receiveInit(let proposal):
        let data = [UInt8](repeating: 7, count: 3000)
        if let accepted = try? BulkSender.accept(proposal, data) { (receiver, sender) = (nil, accepted.0) }
      default:
        _ = try? receiver?.receive(message)
        _ = try? sender?.receive(message)
      }
      if (receiver?.data.count ?? 0) > 4096 { finding("a receiver exceeds its limit") }
    }
  }

  @Sendable private static func bulkDataSeeds() -> [[UInt8]] {
    var header = SoftwareImageHeader()
    (header.vendorID, header.productID, header.softwareVersion) = (0xFFF1, 0x8001, 2)
    header.softwareVersionString = "2.0"
    let messages: [[BulkDataMessage]] = [
      [
        .receiveAccept(BulkTransferAcceptance(mode: .receiverDrive, maximumBlockSize: 64)), .block(0, [1, 2]),
        .blockEOF(1, [3]),
      ],
      [
        .sendAccept(BulkTransferAcceptance(mode: .receiverDrive, maximumBlockSize: 1024)), .blockQuery(0),
        .blockQueryWithSkip(1, bytes: 100), .blockAckEOF(1),
      ],
      [
        .receiveInit(BulkTransferProposal(modes: .receiverDrive, maximumBlockSize: 1024, file: [0x61])), .blockQuery(0),
      ],
      [.sendInit(BulkTransferProposal(modes: .senderDrive, maximumBlockSize: 64, file: [0x61])), .block(0, [1])],
    ]
    let transfers = messages.enumerated().map { index, messages in
      [UInt8(2 + index % 2)]
        + messages.flatMap { [$0.opcode, UInt8(clamping: $0.encoded.count)] + $0.encoded }
    }
    return [
      [0] + SoftwareImage(header, payload: [1, 2, 3]).encoded, [1] + Array("bdx://0000000000000012/lamp.ota".utf8),
    ]
      + transfers
  }
}
